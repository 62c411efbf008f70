//! `nibble watch FILE`

use std::fs;

use crate::support::{Nibble, mock};

/// The scripted GPU, on which `k.cu` comes to that.
fn script(verdict: &str) -> String {
    format!(
        "name = \"Scripted GPU\"\narch = \"sm_100a\"\n\
         [[solution]]\nverdict = \"{verdict}\"\nmessage = \"as it is\"\ntime_us = 1.0\n"
    )
}

/// An editor that writes beside the file and renames.
fn save(nibble: &Nibble, verdict: &str, text: &str) {
    let folder = nibble.path();
    fs::write(folder.join("gpu.toml"), script(verdict)).expect("the script");
    fs::write(folder.join(".k.cu.swp"), text).expect("a file beside it");
    fs::rename(folder.join(".k.cu.swp"), folder.join("k.cu")).expect("renamed");
}

#[test]
fn an_hour_of_edits() {
    let nibble =
        mock(["watch", "k.cu"]).file("k.cu", "// 1\n").file("gpu.toml", script("accepted"));
    let mut live = nibble.start();
    let first = live.until("✓ accepted");
    assert!(first.contains("watching k.cu; Ctrl-C ends it"), "{first}");
    assert!(first.contains("uniform"), "the first screen is that of check: {first}");

    save(&nibble, "wrong_answer", "// 2\n");
    let wrong = live.until("✗ wrong answer  36 of 36");
    assert!(wrong.contains("32x32 uniform") && wrong.contains("as it is"), "{wrong}");

    save(&nibble, "wrong_answer", "// 3, still wrong\n");
    let still = live.until("✗ wrong answer  36 of 36");
    assert!(!still.contains("32x32") && !still.contains("as it is"), "that was known: {still}");

    save(&nibble, "compile_error", "// 4\n");
    assert!(live.until("✗ compile error").contains("as it is"));

    // A file that is not there for a while, then half of it, then the whole.
    fs::remove_file(nibble.path().join("k.cu")).expect("removed");
    fs::write(nibble.path().join("k.cu"), "").expect("half written");
    fs::write(nibble.path().join("gpu.toml"), script("accepted")).expect("the script");
    fs::write(nibble.path().join("k.cu"), "// 5\n").expect("written");
    live.until("✓ accepted");

    save(&nibble, "wrong_answer", "//! problm = 1\n");
    live.until("did you mean `problem`?");
    save(&nibble, "accepted", "// 6\n");
    live.until("✓ accepted");
    assert_eq!(live.interrupt(), Some(0), "to leave is no error");
}

/// What a file includes is part of it.
#[test]
fn a_header_is_saved() {
    let nibble = mock(["watch", "k.cu", "--json"])
        .file("gpu.toml", script("accepted"))
        .file("k.cu", "#include \"common.cuh\"\n")
        .file("common.cuh", "// 1\n");
    let mut live = nibble.start();
    live.until("\"verdict\":\"accepted\"");
    fs::write(nibble.path().join("gpu.toml"), script("runtime_error")).expect("the script");
    fs::write(nibble.path().join("common.cuh"), "// 2\n").expect("saved");
    live.until("\"verdict\":\"runtime_error\"");
    assert_eq!(live.interrupt(), Some(0), "to leave is no error");
}

/// On the emulator, while a check that would never end is running: the save ends it.
#[test]
fn a_save_overtakes_the_check() {
    let nibble = Nibble::new(["watch", "mxfp4_quantize/k.cu", "--device", "emulator"])
        .file("mxfp4_quantize/k.cu", crate::support::program("sleeps.cu"));
    let mut live = nibble.start();
    live.until("watching");
    live.until_it_runs("__worker");
    fs::write(nibble.path().join("mxfp4_quantize/k.cu"), "int x = ;\n").expect("saved");
    let screen = live.until("✗ compile error");
    assert!(!screen.contains("time limit"), "{screen}");
    assert_eq!(live.interrupt(), Some(0), "to leave is no error");
}

#[test]
fn nothing_to_watch() {
    Nibble::new(["watch", "gone.cu"]).run().code(2).stderr_contains("there is no file gone.cu");
    Nibble::new(["watch", "."]).run().code(2).stderr_contains("is a folder, not a solution");
}

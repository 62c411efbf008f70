//! `nibble check FILE…`

use crate::support::Nibble;
use crate::support::mock;

#[test]
fn an_accepted_solution() {
    let run = mock(["check", "fast.cu"]).run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn each_verdict_has_its_screen() {
    for file in ["wrong.cu", "crash.cu", "broken.cu"] {
        let run = mock(["check", file]).run().code(1).stderr_is_empty().fits();
        insta::assert_snapshot!(file, run.screen());
    }
}

/// The code is the worst of all files', and the summary names each.
#[test]
fn several_files() {
    let run = mock(["check", "fast.cu", "wrong.cu", "slow.cu"]).run().code(1).stderr_is_empty();
    let summary = run.stdout.rsplit("\n\n").next().expect("a last paragraph");
    insta::assert_snapshot!(summary);
}

#[test]
fn one_object_for_each_file() {
    let run = mock(["check", "--json", "fast.cu", "wrong.cu"]).run().code(1).stderr_is_empty();
    let objects = run.json();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["verdict"], "accepted");
    assert_eq!(objects[0]["bench"].as_array().expect("an array").len(), 0);
    assert_eq!(objects[1]["file"], "wrong.cu");
    assert_eq!(objects[1]["verdict"], "wrong_answer");
}

/// Colours come when they are asked for, and say nothing that the words do not.
#[test]
fn colour_is_a_choice() {
    let plain = mock(["check", "fast.cu"]).run().stdout;
    let coloured = mock(["check", "fast.cu", "--color", "always"]).run().stdout;
    let never = mock(["check", "fast.cu", "--color", "never"]).run().stdout;
    assert!(!plain.contains('\u{1b}') && !never.contains('\u{1b}'));
    assert!(coloured.contains("\u{1b}[32m"));
    let forced = mock(["check", "fast.cu"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").run();
    assert!(!forced.stdout.contains('\u{1b}'), "NO_COLOR is the stronger wish");
}

/// Where stderr is no terminal there is nobody to entertain.
#[test]
fn no_progress_in_a_pipe() {
    mock(["check", "fast.cu"]).run().stderr_is_empty();
}

#[test]
fn the_sanitizer_is_the_emulators() {
    Nibble::new(["check", "--sanitize", "--device", "cuda", "s.cu", "--problem", "mxfp4_quantize"])
        .file("s.cu", "// never compiled\n")
        .run()
        .code(2)
        .stderr_contains("the sanitizer and the random schedule are the emulator's");
}

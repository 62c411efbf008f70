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

/// A kernel that rounds ties away from zero is wrong on `ties`, and the command that is suggested
/// shows the same failure again.
#[test]
fn a_failure_is_repeated_by_its_case_and_seed() {
    let away = include_str!("../solutions/mxfp4_quantize/rejected/ties_away.cu");
    let nibble = Nibble::new(["check", "k.cu", "--problem", "mxfp4_quantize", "--json"])
        .args(["--device", "emulator", "--case", "ties", "--case", "32x32/uniform"])
        .file("k.cu", away);
    let first = &nibble.run().code(1).json()[0];
    let cases = first["cases"].as_array().expect("cases");
    assert!(cases.iter().all(|case| case["family"] == "ties" || case["name"] == "32x32 uniform"));
    assert!(first["warnings"][0].as_str().expect("a warning").contains("this is no proof"));
    let wrong = cases.iter().find(|case| case["verdict"] == "wrong_answer").expect("a wrong one");
    let seed = wrong["data_seed"].to_string();
    let case = wrong["name"].as_str().expect("a name").replace(' ', "/");
    let again = Nibble::new(["check", "k.cu", "--problem", "mxfp4_quantize", "--json"])
        .args(["--device", "emulator", "--case", &case, "--data-seed", &seed])
        .file("k.cu", include_str!("../solutions/mxfp4_quantize/rejected/ties_away.cu"));
    let again = &again.run().code(1).json()[0]["cases"][0];
    assert_eq!(again["mismatches"], wrong["mismatches"]);
    assert_eq!(again["explanation"], wrong["explanation"]);
}

#[test]
fn quick_takes_the_smallest_case_of_each_family() {
    let run = mock(["check", "fast.cu", "--quick", "--json"]).run().code(0);
    let object = &run.json()[0];
    let cases = object["cases"].as_array().expect("cases");
    let families: std::collections::BTreeSet<_> =
        cases.iter().map(|case| case["family"].to_string()).collect();
    assert_eq!(families.len(), cases.len());
}

/// Checked by the beginning of its id, an attempt is the problem's and architecture's that it was.
#[test]
fn an_attempt_is_checked_by_its_id() {
    let nibble = mock(["check", "--json"]);
    let attempt = crate::support::Made::accepted("fast.cu", 4.4).record(&nibble.path());
    let object = &nibble.args([attempt.id.as_str()]).run().code(0).json()[0];
    assert_eq!(object["file"], "solutions/mxfp4_quantize/fast.cu");
    assert_eq!(object["verdict"], "accepted");
}

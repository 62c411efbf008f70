//! Many files: `-j`, `--skip-known`, batches that are killed and begun again, `nibble queue`.

use std::{collections::HashSet, fs, thread, time::Duration};

use leaderboard::{RunId, Store};

use crate::support::{Nibble, ON_MOCK, mock};

/// A scripted GPU that any file runs on, and as many files as asked for: `k0.cu`, `k1.cu` …
fn many(verb: &str, count: usize, head: &str) -> Nibble {
    let script = format!(
        "name = \"Scripted GPU\"\narch = \"sm_100a\"\nseed = 7\n{head}[[solution]]\ntime_us = 90.0\n"
    );
    let mut nibble = Nibble::new([verb]).args(ON_MOCK).file("gpu.toml", script);
    for index in 0..count {
        nibble = nibble.file(&format!("k{index}.cu"), format!("// kernel {index}\n"));
    }
    nibble.args((0..count).map(|index| format!("k{index}.cu")))
}

fn attempts(nibble: &Nibble) -> Vec<leaderboard::Summary> {
    Store::at(nibble.path().join("leaderboard")).read(None).expect("a leaderboard").attempts
}

/// Whatever finishes first.
#[test]
fn results_come_in_the_order_of_the_files() {
    for jobs in ["1", "4"] {
        let run = many("check", 12, "").args(["-j", jobs, "--json"]).run().code(0);
        let files: Vec<String> =
            run.json().iter().map(|one| one["file"].as_str().expect("a name").to_owned()).collect();
        let expected: Vec<String> = (0..12).map(|index| format!("k{index}.cu")).collect();
        assert_eq!(files, expected);
    }
}

#[test]
fn one_line_for_each_file_at_the_end() {
    let run = mock(["check", "fast.cu", "wrong.cu", "broken.cu", "-j", "2"]).run().code(1).fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn a_batch_has_a_name_and_its_attempts_have_places_in_it() {
    let nibble = many("submit", 3, "");
    nibble.run().code(0);
    let members: Vec<_> =
        attempts(&nibble).into_iter().map(|attempt| attempt.batch.expect("a batch")).collect();
    let runs: HashSet<&RunId> = members.iter().map(|member| &member.run).collect();
    let places: HashSet<u32> = members.iter().map(|member| member.index).collect();
    assert_eq!((runs.len(), places), (1, HashSet::from([0, 1, 2])));
    // Over, and so nothing is left of it; the same again is another batch.
    assert_eq!(runs_left(&nibble), 0);
    nibble.run().code(0);
    assert_eq!(attempts(&nibble).len(), 6);
    let alone = mock(["submit", "fast.cu"]);
    alone.run().code(0);
    assert_eq!(attempts(&alone)[0].batch, None);
}

fn runs_left(nibble: &Nibble) -> usize {
    let folder = nibble.path().join("leaderboard/attempts/.runs");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count()
}

/// Killed again and again at other moments, and begun again with the same command: every file has
/// one attempt, and none has two. `just killed` does it with a thousand.
#[test]
fn killed_at_any_moment_and_begun_again() {
    killed_and_begun_again(60, 8);
}

#[test]
#[ignore = "takes minutes: just killed"]
fn a_thousand_killed_and_begun_again() {
    killed_and_begun_again(1000, 20);
}

fn killed_and_begun_again(count: usize, kills: u64) {
    let nibble = many("submit", count, "").args(["-j", "2", "--quiet", "--json"]);
    let mut killed = 0;
    for round in 0..kills {
        let live = nibble.start();
        // Of a run of some seconds: another part of it each time.
        thread::sleep(Duration::from_micros(20_000 + round * 7919 % 130_000));
        live.kill();
        killed += usize::from(runs_left(&nibble) > 0);
    }
    assert!(killed > 0, "none was killed in its midst, so nothing is proved");
    let run = nibble.run().code(0);
    assert_eq!(run.json().len(), count, "a line for each file, done before or now");
    let attempts = attempts(&nibble);
    let places: HashSet<_> = attempts.iter().map(|attempt| attempt.batch.clone()).collect();
    let files: HashSet<_> = attempts.iter().map(|attempt| attempt.file.clone()).collect();
    assert_eq!((attempts.len(), places.len(), files.len()), (count, count, count));
    nibble.beside(&["leaderboard", "repair"]).code(0);
}

#[test]
fn what_is_known_is_not_done_again() {
    let nibble = many("submit", 3, "").args(["-j", "1"]);
    nibble.run().code(0);
    let again = nibble.file("k1.cu", "// another\n").args(["--skip-known"]);
    let run = again.run().code(0).fits();
    insta::assert_snapshot!(run.screen());
    assert_eq!(attempts(&again).len(), 4);
    let again = again.args(["--json"]);
    let objects = again.run().code(0).json();
    assert_eq!(objects[0]["skipped"], "known");
    assert_eq!(objects[0]["verdict"], "accepted");
    assert!(objects[0]["attempt"].is_string());
    // Another device is another question.
    let other = again
        .file("other.toml", "name = \"Other\"\narch = \"sm_100a\"\n[[solution]]\ntime_us = 90.0\n");
    let other =
        other.again(["submit", "k0.cu", "k1.cu", "--skip-known", "--device", "mock:other.toml"]);
    other.args(["--problem", "mxfp4_quantize"]).run().code(0);
}

/// Somebody else has the card for as long as the test wants.
#[test]
fn whoever_times_waits_for_the_card_and_others_see_it() {
    let uuid = format!("GPU-batch-{}", std::process::id());
    let turn = judge::card::Turn::take(&uuid, &judge::Interrupt::default(), &mut || ());
    let turn = turn.expect("a lock").expect("nobody has it");
    let nibble = many("submit", 3, &format!("uuid = \"{uuid}\"\n")).args(["-j", "2"]);
    let live = nibble.start();
    let mut screen = String::new();
    for _ in 0..600 {
        screen = nibble.beside(&["queue"]).code(0).fits().screen();
        if screen.contains("2 waiting for a GPU") {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let screen = screen.replace(&run_tail(&nibble), "xxxxxx");
    insta::assert_snapshot!(screen);
    drop(turn);
    live.wait(0);
    nibble.beside(&["queue"]).code(0).stderr_contains("no batch is under way");
    assert_eq!(attempts(&nibble).len(), 3);
}

fn run_tail(nibble: &Nibble) -> String {
    let objects = nibble.beside(&["queue", "--json"]).json();
    objects[0]["run"].as_str().expect("a run")[16..].to_owned()
}

#[test]
fn two_at_once_are_refused_and_the_stopped_one_is_named() {
    let uuid = format!("GPU-twice-{}", std::process::id());
    let turn = judge::card::Turn::take(&uuid, &judge::Interrupt::default(), &mut || ());
    let turn = turn.expect("a lock").expect("nobody has it");
    let nibble = many("submit", 2, &format!("uuid = \"{uuid}\"\n"));
    let live = nibble.start();
    while runs_left(&nibble) == 0 {
        thread::sleep(Duration::from_millis(10));
    }
    nibble.run().code(2).stderr_contains("this is under way already, as run");
    live.kill();
    drop(turn);
    let queue = nibble.beside(&["queue"]).code(0);
    queue.stdout_contains("stopped; the same command goes on with it");
}

#[test]
fn bad_input() {
    let run = |arguments: &[&str]| mock(["check", "fast.cu"]).args(arguments).run().code(2);
    run(&["-j", "0"]).stderr_contains("invalid value '0' for '--jobs <N>'");
    run(&["-j", "many"]).stderr_contains("invalid value 'many' for '--jobs <N>'");
    run(&["missing.cu", "-j", "2"]).stderr_contains("there is no file missing.cu");
}

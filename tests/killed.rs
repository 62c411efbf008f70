//! Judge, device and worker, each killed at some moment: no process of theirs stays, and the judge that lives
//! says what happened.

use std::{
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::support::{Nibble, PATIENCE, family};

/// The verbs of those who are killed in turn; the judge has none that is hidden.
const VICTIMS: [&str; 3] = ["check", "__device", "__worker"];

const HONEST: &str = include_str!("exploits/honest.cuh");
const SOLUTION: &str = include_str!("exploits/controls/plain.cu");

/// Moments from 0 to 2 s, each once in a while (Weyl's sequence, so that a failure comes again).
fn moment(index: u32) -> Duration {
    Duration::from_millis(u64::from(index.wrapping_mul(2_654_435_769) % 2000))
}

fn kill(process: u32) {
    let sent = Command::new("kill").args(["-KILL", &process.to_string()]).output();
    assert!(sent.is_ok(), "there is a kill");
}

fn comes_true(what: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while !what() {
        if started.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Kills one of a check's processes at moment `index`.
fn one_is_killed(nibble: &Nibble, index: u32) {
    let victim = VICTIMS[index as usize % VICTIMS.len()];
    let live = nibble.start();
    thread::sleep(moment(index));
    let others = family(live.id());
    let judge = (live.id(), "check".to_owned());
    let all: Vec<_> = others.iter().chain([&judge]).collect();
    for (process, _) in all.iter().filter(|(_, line)| line.contains(victim)) {
        kill(*process);
    }
    let printed = live.printed().join("\n");
    if victim != "check" {
        let report = printed.lines().find(|line| line.starts_with('{'));
        let verdict = report.and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let verdict =
            verdict.unwrap_or_else(|| panic!("{index}, {victim}: no report in {printed}"));
        let verdict = verdict["verdict"].as_str().unwrap_or_default();
        assert!(matches!(verdict, "accepted" | "runtime_error"), "{index}, {victim}: {printed}");
    }
    for (process, line) in &others {
        let there = Path::new("/proc").join(process.to_string());
        assert!(comes_true(|| !there.exists()), "{index}, {victim}: `{line}` lives on");
    }
    // A judge that is killed between two workers has nobody to clear its folder: one that is killed while a
    // worker runs has the warden (`a_judge_killed_leaves_nothing`).
    let scratch = nibble.path().join("tmp");
    if victim != "check" {
        let left: Vec<_> = fs::read_dir(&scratch).expect("a folder").flatten().collect();
        assert!(left.is_empty(), "{index}, {victim}: {left:?}");
    }
    fs::remove_dir_all(&scratch).expect("a folder");
    fs::create_dir(&scratch).expect("a folder");
}

fn each_is_killed(times: u32) {
    let nibble = Nibble::new(["check", "--json", "--device", "emulator", "mxfp4_quantize/k.cu"])
        .file("mxfp4_quantize/k.cu", SOLUTION)
        .file("mxfp4_quantize/honest.cuh", HONEST)
        .file("tmp/x", "");
    fs::remove_file(nibble.path().join("tmp/x")).expect("a file");
    let tmp = nibble.path().join("tmp");
    let nibble = nibble.env("TMPDIR", tmp);
    // Compiled once; what is killed is the check.
    nibble.run().code(0);
    (0..times).for_each(|index| one_is_killed(&nibble, index));
}

#[test]
fn nothing_stays_of_who_is_killed() {
    each_is_killed(6);
}

/// `just kills`
#[test]
#[ignore = "minutes"]
fn nothing_stays_of_two_hundred() {
    each_is_killed(200);
}

//! `--on local` and `--on slurm`: a batch in chunks.

use std::{collections::HashSet, fs, process::Command};

use leaderboard::Store;

use crate::support::{Nibble, ON_MOCK};

fn many(count: usize) -> Nibble {
    let script =
        "name = \"Scripted GPU\"\narch = \"sm_100a\"\nseed = 7\n[[solution]]\ntime_us = 90.0\n";
    let mut nibble = Nibble::new(["submit"]).args(ON_MOCK).file("gpu.toml", script);
    for index in 0..count {
        nibble = nibble.file(&format!("k{index}.cu"), format!("// kernel {index}\n"));
    }
    nibble.args((0..count).map(|index| format!("k{index}.cu")))
}

#[track_caller]
fn all_once(nibble: &Nibble, count: usize) {
    let store = Store::at(nibble.path().join("leaderboard"));
    let attempts = store.read(None).expect("a leaderboard").attempts;
    let places: HashSet<_> = attempts.iter().map(|attempt| attempt.batch.clone()).collect();
    assert_eq!((attempts.len(), places.len()), (count, count));
    assert_eq!(store.verify().expect("verified").findings, []);
    let runs = fs::read_dir(nibble.path().join("leaderboard/attempts/.runs")).expect("a folder");
    let left = runs.flatten().filter(|one| !one.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0, "the batch is over");
}

#[test]
fn chunks_on_this_machine() {
    let nibble = many(12).args(["--on", "local", "--chunk", "5", "-j", "2"]);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    run.stdout_contains("12 of 12 files accepted");
    all_once(&nibble, 12);
    let objects = nibble.args(["--json"]).run().code(0).json();
    let files: Vec<&str> = objects.iter().filter_map(|one| one["file"].as_str()).collect();
    assert_eq!(files.len(), 12);
    assert_eq!(files[..2], ["k0.cu", "k1.cu"]);
    assert!(objects.iter().all(|one| one["verdict"] == "accepted" && one["attempt"].is_string()));
}

/// No verdict can be reached about a file whose directive is wrong; the others have theirs.
#[test]
fn a_file_without_a_verdict_is_named() {
    let nibble = many(3).file("k1.cu", "//! colour = 1\n").args(["--on", "local"]);
    let run = nibble.run().code(2).fits();
    run.stdout_contains("2 of 2 files accepted").stderr_contains("k1.cu has no result");
    all_once(&nibble, 2);
}

/// The message is the chunk's own.
#[test]
fn what_the_machine_lacks_ends_it() {
    let nibble = Nibble::new(["submit", "k0.cu", "k1.cu", "--problem", "mxfp4_quantize"])
        .args(["--device", "cuda:63", "--on", "local"])
        .file("k0.cu", "// 0\n")
        .file("k1.cu", "// 1\n");
    let run = nibble.run().code(3).fits();
    run.stderr_contains("next: run it on the emulator").stderr_contains("0 of 2 are recorded");
}

#[test]
fn a_sweep_in_chunks() {
    let nibble = many(0).again(["sweep", "k.cu", "-D", "A=1..6", "--on", "local", "--chunk", "2"]);
    let nibble = nibble.args(ON_MOCK).file("k.cu", "int a = A;\n");
    nibble.run().code(0).stderr_is_empty().fits().stdout_contains("6 of 6 variants accepted");
    all_once(&nibble, 6);
}

#[test]
fn bad_input() {
    let run = |arguments: &[&str]| many(2).args(arguments).run().code(2).stdout_is_empty();
    run(&["--on", "pbs"]).stderr_contains("invalid value 'pbs' for '--on <ENGINE>'");
    run(&["--chunk", "3"]).stderr_contains("--on <ENGINE>");
    run(&["--on", "local", "--", "--partition=h100"]).stderr_contains("goes to sbatch");
    let sweep = many(0).again(["sweep", "k.cu", "-D", "A=1", "--on", "local", "--submit", "none"]);
    sweep.file("k.cu", "int a = A;\n").run().code(2).stderr_contains("comes back as attempts");
}

#[test]
fn no_slurm() {
    let nibble = many(2).env("PATH", "/nonexistent").args(["--on", "slurm"]);
    let run = nibble.run().code(3).fits();
    run.stderr_contains("there is no Slurm here").stderr_contains("sudo scripts/slurm up");
}

fn slurm_is_there() -> bool {
    let ping = Command::new("scontrol").arg("ping").output();
    ping.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(" UP"))
}

/// Real daemons; `scripts/slurm up 2` starts some.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#[test]
fn chunks_with_slurm() {
    if !slurm_is_there() {
        eprintln!("skipped: no Slurm answers here; scripts/slurm up 2 starts one");
        return;
    }
    let nibble = many(12).args(["--on", "slurm", "--chunk", "4"]);
    nibble.run().code(0).stderr_is_empty().stdout_contains("12 of 12 files accepted");
    all_once(&nibble, 12);
    let nowhere = nibble.args(["--", "--partition=nowhere"]).run().code(2);
    nowhere.stderr_contains("Slurm refuses it").stderr_contains("partition");
}

//! `tests/suite/<theme>/NN_name.cu`: CUDA programs as people write them, each in its author's style.
//! Each computes what it wants on the CPU too, compares, prints one line and returns 0; a wrong
//! element is named and the exit code is not 0. `nibble run` must agree with all of them.
//!
//! The compiler takes a hundred times as long as the emulator, so in an ordinary run each program is
//! tried on one architecture, in turn; `just suite` tries all. A first line `// archs: sm_90a sm_120a`
//! restricts them; `// idiom: …` marks what looks like a race or an error and is none.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::support::{Nibble, wants};

const ARCHS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];

/// A compiler each.
const AT_ONCE: usize = 2;

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).expect("a folder");
    let mut entries: Vec<_> = read.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    entries(&root).iter().flat_map(|theme| entries(theme)).collect()
}

/// Where it runs at all.
fn archs(program: &Path) -> Vec<&'static str> {
    ARCHS.into_iter().filter(|arch| wants(program, arch).unwrap_or(true)).collect()
}

/// What is wrong with it, if anything.
fn complaint(program: &Path, arch: &str) -> Option<String> {
    let run = Nibble::new(["run", "--quiet", "--arch", arch]).args([program]).run();
    let right = run.code == Some(0) && run.stdout.lines().count() == 1 && run.stderr.is_empty();
    (!right).then(|| format!("{} on {arch}: {}", program.display(), run.screen()))
}

fn all_are_right(runs: &[(PathBuf, &str)]) {
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = || runs.get(next.fetch_add(1, Ordering::Relaxed));
        let complaints = std::iter::from_fn(taken).filter_map(|(path, arch)| complaint(path, arch));
        complaints.collect::<Vec<_>>()
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

#[test]
fn programs_are_right_on_one_architecture_each() {
    let turn = |(index, program): (usize, PathBuf)| {
        let archs = archs(&program);
        (program, archs[index % archs.len()])
    };
    all_are_right(&programs().into_iter().enumerate().map(turn).collect::<Vec<_>>());
}

#[test]
#[ignore = "compiles every program up to four times: `just suite`"]
fn programs_are_right_on_every_architecture() {
    let everywhere =
        |program: PathBuf| archs(&program).into_iter().map(move |arch| (program.clone(), arch));
    all_are_right(&programs().into_iter().flat_map(everywhere).collect::<Vec<_>>());
}

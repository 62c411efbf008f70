//! Two people record into clones of one leaderboard; git merges them by itself.

use std::path::Path;
use std::process::Command;

use leaderboard::Store;

use crate::sample::{later, submission};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(["-c", "core.autocrlf=true", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {text}{error}");
    text
}

#[test]
fn clones_merge_without_conflicts() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    std::fs::create_dir(&ours).unwrap();
    git(&ours, &["init", "-q"]);
    git(&ours, &["commit", "-q", "--allow-empty", "-m", "begin"]);
    git(folder.path(), &["clone", "-q", "ours", "theirs"]);

    for (at, clone) in [&ours, &theirs].into_iter().enumerate() {
        let store = Store::at(clone);
        for second in 0..3 {
            let mut one = submission();
            one.created = later(second);
            // Line ends that a well-meaning git would alter, and with them the hash.
            one.source = format!("// {at}\r\nextern\n").into();
            store.record(one).unwrap();
        }
        store.read(None).unwrap();
        git(clone, &["add", "-A"]);
        git(clone, &["commit", "-q", "-m", "three attempts"]);
    }
    git(&ours, &["pull", "-q", "--no-rebase", "--no-edit", "../theirs", "main"]);

    let store = Store::at(&ours);
    assert_eq!(store.read(None).unwrap().attempts.len(), 6);
    assert_eq!(store.verify().unwrap().findings, []);
    let tracked = git(&ours, &["ls-files"]);
    assert!(!tracked.contains(".index") && !tracked.contains(".incoming"), "{tracked}");
}

//! A disk that is full and a folder that is read-only: named, with what to do, and nothing broken.
//!
//! Both need a file system of one's own, which an unprivileged user gets in a mount namespace: the
//! test runs itself again under `unshare`. Where that is forbidden it says so and passes.

use std::env;
use std::path::Path;
use std::process::Command;

use leaderboard::{Error, Store};

use crate::sample::{later, submission};

const VARIABLE: &str = "LEADERBOARD_TEST_MOUNTED";

/// Runs `test` of this executable with `mount` done before it in a new namespace, `$1` being a
/// folder. False where the machine does not allow it.
fn inside(test: &str, folder: &Path, mount: &str) -> bool {
    let allowed = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &format!("{mount} >&2"), "sh"])
        .arg(folder)
        .output()
        .is_ok_and(|output| output.status.success());
    if !allowed {
        return false;
    }
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .arg(format!("{mount} && exec \"$2\" --exact {test} --nocapture"))
        .arg("sh")
        .arg(folder)
        .arg(env::current_exe().unwrap())
        .env(VARIABLE, folder)
        .status()
        .unwrap();
    assert!(status.success(), "{test} failed inside the namespace");
    true
}

#[test]
fn a_full_disk_says_so_and_loses_nothing() {
    let name = "refused::a_full_disk_says_so_and_loses_nothing";
    let Some(folder) = env::var_os(VARIABLE) else {
        let folder = tempfile::tempdir().unwrap();
        if !inside(name, folder.path(), "mount -t tmpfs -o size=128k none \"$1\"") {
            skipped(name);
        }
        return;
    };
    let store = Store::at(Path::new(&folder).join("leaderboard"));
    let mut recorded = Vec::new();
    let error = loop {
        let mut one = submission();
        one.created = later(recorded.len() as i64);
        match store.record(one) {
            Ok(attempt) => recorded.push(attempt.id),
            Err(error) => break error,
        }
        assert!(recorded.len() < 1000, "128 KiB held a thousand attempts");
    };
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("free some"), "{error}");
    let read = store.read(None).unwrap();
    assert_eq!(read.unreadable, []);
    assert_eq!(read.attempts.into_iter().map(|one| one.id).collect::<Vec<_>>(), recorded);
    assert_eq!(store.verify().unwrap().findings, []);
}

#[test]
fn a_read_only_folder_says_so_and_is_read() {
    let name = "refused::a_read_only_folder_says_so_and_is_read";
    let Some(folder) = env::var_os(VARIABLE) else {
        let folder = tempfile::tempdir().unwrap();
        Store::at(folder.path()).record(submission()).unwrap();
        let mount = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
        if !inside(name, folder.path(), mount) {
            skipped(name);
        }
        return;
    };
    let store = Store::at(folder);
    let error = store.record(submission()).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("--leaderboard DIR"), "{error}");
    for _ in 0..2 {
        let read = store.read(None).unwrap();
        assert_eq!(read.attempts.len(), 1);
        assert_eq!(read.reading.parsed, 1, "an index appeared in a read-only folder");
    }
    assert_eq!(store.verify().unwrap().findings, []);
    store.repair().unwrap();
}

#[expect(clippy::print_stderr, reason = "a test that proves nothing here must say so")]
fn skipped(test: &str) {
    eprintln!("{test}: skipped, this machine allows no mount namespaces");
}

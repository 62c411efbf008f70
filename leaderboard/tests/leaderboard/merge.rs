//! Two people record into leaderboards of their own, which become one: by git, and by nibble.

use std::path::Path;
use std::process::Command;

use leaderboard::{Flaw, Store};

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

#[test]
fn what_is_new_and_sound_is_taken_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Store::at(folder.path().join("a")), Store::at(folder.path().join("b")));
    let mine = ours.record(submission()).unwrap();
    let new: Vec<_> = (1..5)
        .map(|second| {
            let mut one = submission();
            one.created = later(second);
            theirs.record(one).unwrap().id
        })
        .collect();
    // Edited afterwards, and a time nobody took.
    let edited = theirs.folder(&new[0]).unwrap().join("solution.cu");
    std::fs::write(edited, "// faster").unwrap();
    let merged = ours.merge(&theirs).unwrap();
    assert_eq!(merged.taken["mxfp4_quantize"], new[1..]);
    assert_eq!(merged.left.len(), 1);
    assert_eq!(merged.left[0].flaw, Flaw::SourceChanged);
    assert_eq!(ours.read(None).unwrap().attempts.len(), 4);
    assert_eq!(ours.verify().unwrap().findings, []);
    assert_eq!(ours.source(&new[1]).unwrap(), theirs.source(&new[1]).unwrap());

    let again = ours.merge(&theirs).unwrap();
    assert_eq!((again.count(), again.known, again.left.len()), (0, 3, 1));

    // An id that means something else there: neither is changed.
    let copy = theirs.root().join("attempts/mxfp4_quantize").join(mine.id.as_str());
    std::fs::create_dir(&copy).unwrap();
    for file in ["attempt.toml", "solution.cu", "samples.json"] {
        let text = std::fs::read_to_string(ours.folder(&mine.id).unwrap().join(file)).unwrap();
        std::fs::write(copy.join(file), text.replace("author = \"Ada\"", "author = \"Eve\""))
            .unwrap();
    }
    let third = ours.merge(&theirs).unwrap();
    assert!(third.left.iter().any(|finding| finding.flaw == Flaw::Taken), "{third:?}");
    assert_eq!(ours.attempt(&mine.id).unwrap(), mine);
}

#[test]
fn a_folder_that_is_no_leaderboard_has_nothing_to_take() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Store::at(folder.path().join("a"));
    let merged = ours.merge(&Store::at(folder.path().join("nowhere"))).unwrap();
    assert_eq!((merged.count(), merged.known), (0, 0));
    assert!(!ours.root().exists());
}

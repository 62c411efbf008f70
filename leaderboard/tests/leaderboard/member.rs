//! Places in a batch: made twice, recorded once. And records from before there were batches.

use std::collections::HashSet;
use std::fs;
use std::thread;

use leaderboard::{AttemptId, Defect, Member, RunId, Store, Submission};

use crate::sample::{later, submission};

fn at(run: &str, index: u32) -> Submission {
    let mut one = submission();
    one.created = later(60 + i64::from(index));
    one.batch = Some(Member { run: run.parse().unwrap(), index });
    one
}

const RUN: &str = "20260812-142800-s00001";

#[test]
fn one_place_is_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let first = store.record(at(RUN, 3)).unwrap();
    let mut again = at(RUN, 3);
    again.author = "somebody on another machine".into();
    assert_eq!(store.record(again).unwrap(), first);
    assert_eq!(store.read(None).unwrap().attempts.len(), 1);
    assert!(first.id.as_str().starts_with("20260812-142800-"), "{}", first.id);
    assert_eq!(store.attempt(&first.id).unwrap().batch, first.batch);
    let others = [at(RUN, 4), at("20260812-142800-s00002", 3)];
    let ids: HashSet<AttemptId> =
        others.map(|other| store.record(other).unwrap().id).into_iter().chain([first.id]).collect();
    assert_eq!(ids.len(), 3);
}

/// Two leaderboards, as two machines have them: the place has one id on both.
#[test]
fn a_place_has_one_id_everywhere() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ids = [&here, &there].map(|folder| Store::at(folder.path()).record(at(RUN, 7)).unwrap().id);
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn two_at_once_record_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for index in 0..20 {
                    store.record(at(RUN, index)).unwrap();
                }
            });
        }
    });
    assert_eq!(store.read(None).unwrap().attempts.len(), 20);
    assert_eq!(store.verify().unwrap().findings, []);
}

#[test]
fn a_new_run_has_a_name_of_its_own() {
    let names: HashSet<RunId> = (0..100).map(|_| RunId::new(later(0))).collect();
    assert_eq!(names.len(), 100);
}

/// As the first nibble wrote it.
#[test]
fn records_of_the_first_format_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let mut plain = submission();
    plain.values.clear();
    let attempt = store.record(plain).unwrap();
    let files = store.folder(&attempt.id).unwrap();
    for file in ["attempt.toml", "samples.json"] {
        let text = fs::read_to_string(files.join(file)).unwrap();
        let text = text.replace("format = 2", "format = 1").replace("\"format\":2", "\"format\":1");
        fs::write(files.join(file), text).unwrap();
    }
    assert_eq!(store.attempt(&attempt.id).unwrap(), attempt);
    assert_eq!(store.verify().unwrap().findings, []);

    // It had no batches, so a batch in it was put there.
    let file = files.join("attempt.toml");
    let text = fs::read_to_string(&file).unwrap();
    let text = text
        .replace("[device]", "[batch]\nrun = \"20260812-142800-s00001\"\nindex = 1\n\n[device]");
    fs::write(&file, text).unwrap();
    let read = store.read(None).unwrap();
    assert_eq!(
        read.unreadable[0].defect,
        Defect::Damaged("`batch`, `confirms` and `values` are of format 2".into())
    );
}

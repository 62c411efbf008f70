//! Ranking.

use leaderboard::attempt::{DeviceKind, Time, Verdict};
use leaderboard::board::{boards, standing};
use leaderboard::{House, Manifest, Store, Summary, Trust};

use crate::sample::{device, later, submission, summary};

fn timed(author: &str, file: &str, seconds: i64, us: f64) -> Summary {
    summary(|one| {
        one.author = author.into();
        one.file = file.into();
        one.created = later(seconds);
        one.source = format!("{author} {file} {seconds}").into();
        one.outcome.geomean = Some(Time::exact(us));
    })
}

fn failed(author: &str, file: &str, seconds: i64) -> Summary {
    summary(|one| {
        one.author = author.into();
        one.file = file.into();
        one.created = later(seconds);
        one.outcome.verdict = Verdict::WrongAnswer;
        one.outcome.geomean = None;
    })
}

#[test]
fn the_best_of_each_solution_and_author_in_order() {
    let attempts = [
        timed("Ada", "a/k.cu", 0, 30.0),
        timed("Ada", "b/k.cu", 1, 20.0),
        timed("Ada", "k.cu", 2, 25.0),
        timed("Ada", "other.cu", 3, 40.0),
        timed("Bob", "k.cu", 4, 20.0),
        timed("Cyd", "k.cu", 5, 21.0),
        failed("Cyd", "k.cu", 6),
        failed("Dan", "k.cu", 7),
    ];
    let boards = boards(&attempts, &Manifest::default());
    assert_eq!(boards.len(), 1);
    assert_eq!(boards[0].attempts, 8);
    let rows: Vec<_> = boards[0]
        .rows
        .iter()
        .map(|row| (row.rank, &*row.best.author, row.best.solution(), row.attempts))
        .collect();
    assert_eq!(
        rows,
        [
            (1, "Ada", "k.cu", 3),
            (1, "Bob", "k.cu", 1),
            (3, "Cyd", "k.cu", 2),
            (4, "Ada", "other.cu", 1)
        ]
    );
    let behind: Vec<_> = boards[0].rows.iter().map(|row| row.behind).collect();
    assert_eq!(behind, [None, Some(0.0), Some(21.0 / 20.0 - 1.0), Some(40.0 / 21.0 - 1.0)]);
}

#[test]
fn what_cannot_be_compared_is_on_another_board() {
    let change = |modelled, kind, name: &str, arch: &str, revision| {
        summary(|one| {
            one.revision = revision;
            one.outcome.modelled = modelled;
            one.outcome.device = device(kind, name, arch);
        })
    };
    let attempts = [
        change(true, DeviceKind::Emulator, "B200", "sm_100a", 1),
        change(true, DeviceKind::Emulator, "B200", "sm_100a", 2),
        change(true, DeviceKind::Emulator, "H100", "sm_90a", 2),
        change(true, DeviceKind::Mock, "B200", "sm_100a", 2),
        change(false, DeviceKind::Mock, "B200", "sm_100a", 2),
        change(false, DeviceKind::Cuda, "NVIDIA B200", "sm_100a", 2),
        change(false, DeviceKind::Cuda, "NVIDIA B300", "sm_100a", 2),
    ];
    let boards = boards(&attempts, &Manifest::default());
    assert_eq!(boards.len(), attempts.len());
    assert!(boards.iter().all(|board| board.rows.len() == 1));
    assert_eq!(boards.last().unwrap().key.revision, 1, "an older revision comes last");
}

#[test]
fn overlapping_intervals_are_marked() {
    let mut attempts = [
        timed("Ada", "k.cu", 0, 10.0),
        timed("Bob", "k.cu", 1, 10.1),
        timed("Cyd", "k.cu", 2, 12.0),
    ];
    attempts[0].geomean.as_mut().unwrap().interval_us = (9.9, 10.1);
    attempts[1].geomean.as_mut().unwrap().interval_us = (10.0, 10.2);
    let marks: Vec<bool> =
        boards(&attempts, &Manifest::default())[0].rows.iter().map(|row| row.indistinct).collect();
    assert_eq!(marks, [false, true, false]);
}

#[test]
fn a_source_that_another_had_first_is_recognised() {
    let mut attempts = [
        timed("Ada", "k.cu", 0, 10.0),
        timed("Bob", "copy.cu", 1, 10.0),
        timed("Ada", "k.cu", 2, 9.0),
    ];
    let hash = attempts[0].source_hash.clone();
    attempts[1].source_hash = hash.clone();
    attempts[2].source_hash = hash;
    let boards = boards(&attempts, &Manifest::default());
    let sources: Vec<_> =
        boards[0].rows.iter().map(|row| (&*row.best.author, row.same_source)).collect();
    assert_eq!(sources, [("Ada", None), ("Bob", Some(&attempts[0].id))]);
}

#[test]
fn where_a_new_attempt_stands() {
    let attempts = [
        timed("Ada", "k.cu", 0, 30.0),
        timed("Bob", "k.cu", 1, 20.0),
        timed("Ada", "k.cu", 2, 25.0),
        timed("Ada", "k.cu", 3, 26.0),
        timed("Ada", "k.cu", 4, 15.0),
        failed("Ada", "k.cu", 5),
    ];
    let at = |index: usize| {
        standing(&attempts[..=index], &attempts[index].id, &Manifest::default()).map(|standing| {
            let before = standing.best_before.map(|best| best.geomean.unwrap().us);
            (standing.rank, standing.of, standing.own_best, standing.new_first, before)
        })
    };
    assert_eq!(at(0), Some((1, 1, true, true, None)));
    assert_eq!(at(1), Some((1, 2, true, true, Some(30.0))));
    assert_eq!(at(2), Some((2, 2, true, false, Some(20.0))));
    assert_eq!(at(3), Some((2, 2, false, false, Some(20.0))));
    assert_eq!(at(4), Some((1, 2, true, true, Some(20.0))));
    assert_eq!(at(5), None);
}

/// Ada on her own card, Bob on the house's, Cyd runs Ada's source again.
fn group(confirmed_us: f64, by: &str) -> Vec<Summary> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let record = |author: &str, file: &str, us: f64, gpu: &str, confirms: Option<&Summary>| {
        let mut one = submission();
        one.author = author.into();
        one.file = file.into();
        one.confirms = confirms.map(|summary| summary.id.clone());
        one.outcome.geomean = Some(Time::exact(us));
        one.outcome.environment.gpu_uuid = Some(gpu.into());
        Summary::from(&store.record(one).unwrap())
    };
    let ada = record("Ada", "a.cu", 10.0, "GPU-own", None);
    let bob = record("Bob", "b.cu", 20.0, "GPU-house", None);
    let confirming = record(by, "a.cu", confirmed_us, "GPU-third", Some(&ada));
    vec![ada, bob, confirming]
}

fn house(only: bool) -> Manifest {
    Manifest { house: House { gpus: ["GPU-house".to_owned()].into(), only } }
}

#[test]
fn whose_word_stands_behind_a_time() {
    let trust = |confirmed_us: f64, by: &str| -> Vec<(String, Trust)> {
        let attempts = group(confirmed_us, by);
        let boards = boards(&attempts, &house(false));
        boards[0].rows.iter().map(|row| (row.best.author.clone(), row.trust)).collect()
    };
    let rows = |ada: Trust| vec![("Ada".to_owned(), ada), ("Bob".to_owned(), Trust::House)];
    assert_eq!(trust(10.2, "Cyd"), rows(Trust::Confirmed));
    assert_eq!(trust(12.0, "Cyd"), rows(Trust::OwnWord), "it was slower");
    assert_eq!(trust(10.0, "Ada"), rows(Trust::OwnWord), "nobody confirms herself");
}

#[test]
fn a_board_of_the_house_ranks_what_was_timed_there() {
    let attempts = group(10.0, "Cyd");
    let boards = boards(&attempts, &house(true));
    let rows: Vec<&str> = boards[0].rows.iter().map(|row| row.best.author.as_str()).collect();
    assert_eq!(rows, ["Bob"]);
}

#[test]
fn a_manifest_is_read_or_its_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    assert_eq!(store.manifest().unwrap(), Manifest::default());
    let write = |text: &str| std::fs::write(folder.path().join("board.toml"), text).unwrap();
    write("[house]\ngpus = [\"GPU-house\"]\nonly = true\n");
    assert_eq!(store.manifest().unwrap(), house(true));
    write("[house]\ngpu = \"GPU-house\"\n");
    let error = store.manifest().unwrap_err().to_string();
    assert!(error.contains("board.toml line 2: unknown field `gpu`"), "{error}");
}

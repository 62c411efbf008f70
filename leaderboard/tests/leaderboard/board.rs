//! Ranking.

use leaderboard::Summary;
use leaderboard::attempt::{DeviceKind, Time, Verdict};
use leaderboard::board::{boards, standing};

use crate::sample::{device, later, summary};

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
    let boards = boards(&attempts);
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
    let boards = boards(&attempts);
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
    let marks: Vec<bool> = boards(&attempts)[0].rows.iter().map(|row| row.indistinct).collect();
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
    let boards = boards(&attempts);
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
        standing(&attempts[..=index], &attempts[index].id).map(|standing| {
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

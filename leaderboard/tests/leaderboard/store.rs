//! What is recorded is there, is found, and is found fast.

use std::fs;

use leaderboard::attempt::{Verdict, source_hash};
use leaderboard::{AttemptId, Error, Reading, Store, Summary};

use crate::sample::{SOURCE, later, rejected, submission};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("leaderboard"));
    (folder, store)
}

#[test]
fn an_attempt_reads_back_as_it_was_recorded() {
    let (_folder, store) = store();
    for submission in [submission(), rejected()] {
        let attempt = store.record(submission.clone()).unwrap();
        assert_eq!(store.attempt(&attempt.id).unwrap(), attempt);
        assert_eq!(store.source(&attempt.id).unwrap(), submission.source);
        assert_eq!(store.samples(&attempt.id).unwrap(), submission.samples);
        assert_eq!(attempt.source_hash, source_hash(SOURCE.as_bytes()));
        assert_eq!(attempt.outcome, submission.outcome);
    }
}

/// The format that every leaderboard in the world is written in. If this changes, so must
/// `FormatVersion::CURRENT`, and old files must still be read.
#[test]
fn the_format_on_disk() {
    let (_folder, store) = store();
    let mut texts = Vec::new();
    for mut submission in [submission(), rejected()] {
        submission.outcome.environment.gpu_uuid = Some("GPU-1".into());
        submission.outcome.environment.sm_clock_mhz = Some(1500);
        let attempt = store.record(submission).unwrap();
        let folder = store.folder(&attempt.id).unwrap();
        for file in ["attempt.toml", "samples.json"] {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            texts.push(text.replace(attempt.id.as_str(), "20260812-143015-TAILxx"));
        }
    }
    insta::assert_snapshot!(texts.join("\n--------\n"));
}

#[test]
fn what_a_record_cannot_hold_does_not_lose_the_attempt() {
    let (_folder, store) = store();
    let mut strange = submission();
    let counters = strange.outcome.sizes[0].counters.as_mut().unwrap();
    counters.sectors_per_request = Some(f64::NAN);
    strange.outcome.fault = Some("é".repeat(1 << 20));
    strange.source = vec![0xff, 0, 0xfe];
    strange.outcome.cases[0].mismatches = 3;
    strange.outcome.cases[0].explanation = Some("near-ties".into());
    strange.file = "\u{1b}[31m/k\n.cu".into();
    let id = store.record(strange).unwrap().id;
    let back = store.attempt(&id).unwrap();
    let cases: Vec<_> =
        back.outcome.cases.iter().map(|case| (&*case.name, case.mismatches)).collect();
    assert_eq!(cases, [("64x64 ties", 0), ("64x64 uniform", 3)], "only their order may change");
    assert_eq!(back.outcome.sizes[0].counters.unwrap().sectors_per_request, None);
    assert!(back.outcome.fault.unwrap().ends_with("é\n… (shortened)"));
    assert_eq!(store.source(&id).unwrap(), [0xff, 0, 0xfe]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let (_folder, store) = store();
    let mut no_time = submission();
    no_time.outcome.sizes[0].median.us = f64::NAN;
    let mut wrong_yet_ranked = submission();
    wrong_yet_ranked.outcome.verdict = Verdict::WrongAnswer;
    for submission in [no_time, wrong_yet_ranked] {
        assert!(matches!(store.record(submission), Err(Error::Invalid(_))));
    }
    for name in ["", "..", "a/b", "A", "_a", ".incoming", "a b"] {
        let mut elsewhere = submission();
        elsewhere.problem = name.into();
        assert!(matches!(store.record(elsewhere), Err(Error::ProblemName(_))), "{name}");
    }
    assert_eq!(store.read(None).unwrap().attempts, []);
}

#[test]
fn a_leaderboard_that_does_not_exist_is_empty() {
    let (_folder, store) = store();
    assert_eq!(store.read(None).unwrap(), Default::default());
    assert_eq!(store.ids().unwrap(), []);
    assert!(matches!(store.find("k"), Err(Error::NoSuchAttempt { .. })));
    assert!(!store.root().exists(), "reading made a folder");
}

#[test]
fn any_beginning_that_only_one_has_finds_it() {
    let (_folder, store) = store();
    let ids: Vec<AttemptId> = (0..200)
        .map(|second| {
            let mut one = submission();
            one.created = later(second);
            one.problem = ["mxfp4_quantize", "nvfp4_gemv"][second as usize % 2].into();
            store.record(one).unwrap().id
        })
        .collect();
    for id in &ids {
        assert_eq!(store.find(id.as_str()).unwrap(), *id);
        assert_eq!(store.find(&id.tail().to_uppercase()).unwrap(), *id);
    }
    let Err(Error::Ambiguous { candidates, .. }) = store.find("20260812") else {
        panic!("a date that all share was not ambiguous");
    };
    assert_eq!(candidates.len(), 200);
    assert!(candidates.is_sorted_by(|a, b| a > b), "not newest first");
    assert!(matches!(store.find("  "), Err(Error::NoSuchAttempt { .. })));

    let short = leaderboard::ShortIds::new(&ids);
    for id in &ids {
        let short = short.of(id);
        assert!(short.len() >= 4, "{short}");
        assert_eq!(store.find(short).unwrap(), *id);
    }
}

#[test]
fn reading_is_linear_at_worst_and_free_of_parsing_at_best() {
    for count in [50, 100, 200] {
        let (_folder, store) = store();
        for second in 0..count {
            let mut one = submission();
            one.created = later(second as i64);
            store.record(one).unwrap();
        }
        let cold = store.read(None).unwrap();
        assert_eq!(cold.reading, Reading { indexed: 0, parsed: count });
        let warm = store.read(None).unwrap();
        assert_eq!(warm.reading, Reading { indexed: count, parsed: 0 });
        assert_eq!(cold.attempts, warm.attempts);
        assert!(warm.attempts.is_sorted_by_key(|attempt| attempt.created));

        store.record(submission()).unwrap();
        assert_eq!(store.read(None).unwrap().reading, Reading { indexed: count, parsed: 1 });
    }
}

#[test]
fn the_index_is_never_believed_against_an_attempt() {
    let (_folder, store) = store();
    let ids: Vec<AttemptId> = (0..3)
        .map(|second| {
            let mut one = submission();
            one.created = later(second);
            store.record(one).unwrap().id
        })
        .collect();
    let truth = store.read(None).unwrap().attempts;
    let index = store.root().join("attempts/.index/mxfp4_quantize.jsonl");
    let good = fs::read(&index).unwrap();

    let mut forged = good.clone();
    let at = good.windows(3).position(|window| window == b"Ada").unwrap();
    forged[at] = b'X';
    for bad in [&forged[..], b"", b"\n", b"{}\n\n", &good[..good.len() / 2], &[0; 100]] {
        fs::write(&index, bad).unwrap();
        assert_eq!(store.read(None).unwrap().attempts, truth);
    }

    let file = store.folder(&ids[1]).unwrap().join("attempt.toml");
    let text = fs::read_to_string(&file).unwrap().replace("\"Ada\"", "\"Grace\"");
    fs::write(&file, text).unwrap();
    assert_eq!(store.read(None).unwrap().attempts[1].author, "Grace");

    fs::remove_dir_all(store.folder(&ids[0]).unwrap()).unwrap();
    let rest: Vec<AttemptId> =
        store.read(None).unwrap().attempts.into_iter().map(|attempt| attempt.id).collect();
    assert_eq!(rest, ids[1..]);
}

#[test]
fn a_summary_from_the_index_equals_one_from_the_attempt() {
    let (_folder, store) = store();
    let mut third = submission();
    // Not exact in decimal: a rounded copy would break ties.
    third.outcome.geomean.as_mut().unwrap().us = 0.1 + 0.2;
    let attempt = store.record(third).unwrap();
    store.read(None).unwrap();
    let indexed = store.read(None).unwrap();
    assert_eq!(indexed.reading.indexed, 1);
    assert_eq!(indexed.attempts, [Summary::from(&attempt)]);
}

#[test]
fn git_is_told_what_to_leave_alone() {
    let (_folder, store) = store();
    store.record(submission()).unwrap();
    let attempts = store.root().join("attempts");
    let ignored = fs::read_to_string(attempts.join(".gitignore")).unwrap();
    assert!(ignored.contains("/.index/") && ignored.contains("/.incoming/"));

    fs::write(attempts.join(".gitignore"), "mine").unwrap();
    store.record(submission()).unwrap();
    assert_eq!(fs::read_to_string(attempts.join(".gitignore")).unwrap(), "mine");
}

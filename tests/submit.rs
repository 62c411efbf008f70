//! `nibble submit FILE…`

use std::{thread, time::Duration};

use leaderboard::Store;
use serde_json::Value;

use crate::support::{ON_MOCK, mock};

/// First place, then a faster solution, then the first one again, edited, then a wrong one.
#[test]
fn an_afternoon() {
    let nibble = mock(["submit", "slow.cu", "-m", "the obvious way"]);
    let first = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("submit_first", first.screen());

    let nibble = nibble.again(["submit", "fast.cu"]).args(ON_MOCK);
    let second = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("submit_second", last_paragraphs(&second.screen()));

    let nibble = nibble.file("slow.cu", "// slow.cu, edited\n");
    let nibble = nibble.again(["submit", "slow.cu"]).args(ON_MOCK);
    let third = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("submit_third", last_paragraphs(&third.screen()));
    assert_eq!(third.attempts.len(), 3);

    let nibble = nibble.again(["submit", "wrong.cu"]).args(ON_MOCK);
    let fourth = nibble.run().code(1).stderr_is_empty().fits();
    insta::assert_snapshot!("submit_wrong", last_paragraphs(&fourth.screen()));
    assert_eq!(fourth.attempts.len(), 4, "failed attempts are remembered too");
}

#[test]
fn programs_get_the_attempt_and_its_rank() {
    let nibble = mock(["submit", "fast.cu", "wrong.cu", "--json", "-j", "1"]);
    let run = nibble.run().code(1).stderr_is_empty();
    let objects = run.json();
    assert_eq!(objects[0]["attempt"], run.attempts[0].as_str());
    assert_eq!(objects[0]["rank"], 1);
    assert_eq!(objects[1]["attempt"], run.attempts[1].as_str());
    assert!(objects[1]["rank"].is_null());
}

/// Bob hands in what ana has.
#[test]
fn a_source_that_is_known() {
    let nibble = mock(["submit", "fast.cu"]);
    let first = nibble.run().code(0).attempts[0].clone();
    let nibble = nibble.file("bobs/slow.cu", "// fast.cu\n");
    let nibble = nibble.again(["submit", "bobs/slow.cu", "--author", "bob"]).args(ON_MOCK);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("submit_same_source", last_paragraphs(&run.screen()));
    let object = &nibble.args(["--json"]).run().code(0).json()[0];
    assert_eq!(object["same_source"], first.as_str());
}

#[test]
fn the_source_is_kept_as_it_was() {
    let nibble = mock(["submit", "fast.cu"]);
    let run = nibble.run().code(0);
    let id = run.attempts[0].as_str();
    let source = nibble.again(["attempt", id, "--source"]).run().code(0).stdout;
    assert_eq!(source, "// fast.cu\n");
}

/// Four submits at once, fifty times over, each killed at another moment. What was reported is
/// there, and nothing else can be seen of the killed ones.
#[test]
fn killed_at_any_moment() {
    let nibble = mock(["submit", "fast.cu", "--json"]);
    let mut reported = Vec::new();
    for round in 0..50 {
        let running: Vec<_> = (0..4).map(|_| nibble.start()).collect();
        for (index, live) in running.into_iter().enumerate() {
            thread::sleep(Duration::from_micros((round * 4 + index as u64) * 7919 % 12_000));
            for line in live.kill() {
                let object: Value = serde_json::from_str(&line).unwrap_or_default();
                reported.extend(object["attempt"].as_str().map(str::to_owned));
            }
        }
    }
    let store = Store::at(nibble.path().join("leaderboard"));
    let read = store.read(None).expect("a leaderboard");
    assert_eq!(read.unreadable, []);
    let kept: Vec<&str> = read.attempts.iter().map(|attempt| attempt.id.as_str()).collect();
    for id in &reported {
        assert!(kept.contains(&id.as_str()), "{id} was reported and is gone");
    }
    nibble.again(["leaderboard", "repair"]).run().code(0);
    let incoming = store.root().join("attempts/.incoming");
    let left = std::fs::read_dir(incoming).into_iter().flatten().count();
    assert_eq!(left, 0, "what killed writers left");
}

/// What came before the attempt's own lines is the screen of `bench`.
fn last_paragraphs(screen: &str) -> &str {
    screen.find("\n✓ ").or_else(|| screen.find("\n✗ ")).map_or(screen, |at| &screen[at + 1..])
}

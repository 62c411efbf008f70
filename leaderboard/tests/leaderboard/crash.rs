//! Writers that are killed at random moments: what they reported is there, whole, and what they
//! did not finish is never read.
//!
//! The writers are this executable run again with one test selected and a variable that tells it to
//! write. Each prints an id when `record` has returned; what has arrived in the pipe counts as
//! reported.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{env, fs};

use leaderboard::{AttemptId, Flaw, Store};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::sample::submission;

const VARIABLE: &str = "LEADERBOARD_TEST_WRITE_TO";
const WRITERS: usize = 4;
const KILLS: usize = 200;
const KILLS_EACH: usize = 20;

/// Not a test by itself: what a writer runs.
#[test]
fn writer() {
    let Some(folder) = env::var_os(VARIABLE) else { return };
    let store = Store::at(folder);
    let mut out = std::io::stdout();
    loop {
        let mut one = submission();
        one.created = jiff::Timestamp::now();
        one.source = vec![b'x'; 20_000];
        let attempt = store.record(one).unwrap();
        writeln!(out, "recorded {}", attempt.id).unwrap();
        store.read(None).unwrap();
    }
}

struct Writer {
    child: Child,
    reported: JoinHandle<Vec<AttemptId>>,
}

impl Writer {
    fn start(store: &Store) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "crash::writer", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, store.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reported = thread::spawn(move || {
            let mut ids = Vec::new();
            for line in lines.map_while(Result::ok) {
                // A line that was cut off is no id, and was not reported.
                if let Some((_, id)) = line.split_once("recorded ")
                    && let Ok(id) = id.parse()
                {
                    ids.push(id);
                }
            }
            ids
        });
        Self { child, reported }
    }

    fn kill(mut self) -> Vec<AttemptId> {
        assert_eq!(self.child.try_wait().unwrap(), None, "a writer failed by itself");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reported.join().unwrap()
    }
}

#[test]
fn killed_writers_lose_nothing_they_reported() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // A new leaderboard now and then, so that reading it stays cheap.
    for _ in 0..KILLS / KILLS_EACH {
        let folder = tempfile::tempdir().unwrap();
        kill_writers(&Store::at(folder.path().join("leaderboard")), &mut rng);
    }
}

fn kill_writers(store: &Store, rng: &mut ChaCha8Rng) {
    let mut writers: Vec<Writer> = (0..WRITERS).map(|_| Writer::start(store)).collect();
    let mut reported = Vec::new();
    for _ in 0..KILLS_EACH {
        thread::sleep(Duration::from_micros(rng.next_u64() % 50_000));
        let victim = rng.next_u64() as usize % WRITERS;
        reported.extend(writers.swap_remove(victim).kill());
        writers.push(Writer::start(store));
        let read = store.read(None).unwrap();
        assert_eq!(read.unreadable, [], "something half written was read");
    }
    for finding in store.verify().unwrap().findings {
        assert_eq!(finding.flaw, Flaw::Leftover, "{}", finding.path.display());
    }
    for writer in writers {
        reported.extend(writer.kill());
    }

    assert!(!reported.is_empty(), "nothing was reported, so nothing is proved");
    let read = store.read(None).unwrap();
    let there: HashSet<&AttemptId> = read.attempts.iter().map(|attempt| &attempt.id).collect();
    let lost: Vec<_> = reported.iter().filter(|id| !there.contains(id)).collect();
    assert_eq!(lost, [] as [&AttemptId; 0]);

    assert_eq!(store.repair().unwrap().left, []);
    assert_eq!(store.verify().unwrap().findings, []);
    let incoming = store.root().join("attempts/.incoming");
    assert_eq!(fs::read_dir(incoming).unwrap().count(), 0, "litter was left");
}

//! Many solutions beside each other.
//!
//! Compiling keeps one core busy, and checking on the emulator most of the time too; so as many files
//! are worked on at once as there are cores. Times are taken one at a time for each GPU all the same:
//! see [`Turn`](crate::card::Turn).

pub mod engine;
mod folder;
mod journal;
mod spread;

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

pub use self::folder::{Folder, Hold};
pub use self::journal::{Journal, Step};
pub use self::spread::{Spread, Tiding, spread};
use crate::{Config, Error, Event, Report, run};

/// What is said of the run of that index.
pub enum News {
    Event(Event),
    Finished(Result<Box<Report>, Error>),
}

/// Runs all of `configs`, at most `jobs` at a time, begun in the order in which they are given.
/// `tell` is told on the calling thread what happens; when it breaks, nothing more is begun, and what
/// runs is heard to its end.
pub fn batch(
    configs: &[Config],
    jobs: NonZero<usize>,
    tell: &mut dyn FnMut(usize, News) -> ControlFlow<()>,
) {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let (sender, news) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(configs.len()) {
            let sender = sender.clone();
            let work = || {
                // Moved in: the channel ends when the last of these threads does.
                let sender = sender;
                while !stopped.load(Ordering::SeqCst) {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some(config) = configs.get(index) else { break };
                    // The receiver outlives this thread.
                    let report = run(config, &mut |event| {
                        let _ = sender.send((index, News::Event(event)));
                    });
                    let _ = sender.send((index, News::Finished(report.map(Box::new))));
                }
            };
            scope.spawn(work);
        }
        drop(sender);
        for (index, news) in news {
            if tell(index, news).is_break() {
                stopped.store(true, Ordering::SeqCst);
            }
        }
    });
}

/// How many runs beside each other keep this machine busy: one for each core.
pub fn usual_jobs() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

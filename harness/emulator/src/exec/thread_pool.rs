//! Host threads that wait for launches.
//!
//! To begin and end a thread takes 50 µs, a small launch 5: so threads are kept. Nor does a launch wait for
//! them to wake up: they may join while there is work, and who comes too late finds the door closed.
//!
//! ```text
//! caller   opens the door, works .......... closes it, waits for those inside
//! thread 1    wakes up, joins, works ..........leaves
//! thread 2                        wakes up,            stays outside
//! ```

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};

type Work<'a> = dyn Fn() + Sync + 'a;

/// The threads beside the caller's. They end with it.
#[derive(Default)]
pub struct ThreadPool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// The door was opened, or all is over.
    opened: Condvar,
    /// Nobody is inside.
    left: Condvar,
}

#[derive(Default)]
struct State {
    /// While the door is open, or somebody inside.
    work: Option<Shift>,
    /// How many may still join.
    open: usize,
    inside: usize,
    panic: Option<Box<dyn Any + Send>>,
    over: bool,
}

/// Work whose lifetime is that of [`ThreadPool::work`]'s call.
#[derive(Clone, Copy)]
struct Shift(*const Work<'static>);

// SAFETY: what it points to is `Sync`.
unsafe impl Send for Shift {}

impl ThreadPool {
    /// See to it that so many threads can work, the caller's among them. Returns how many can: fewer where
    /// the machine has no more.
    pub fn hire(&mut self, threads: usize) -> usize {
        while self.threads.len() + 1 < threads {
            let shared = Arc::clone(&self.shared);
            let hired = Builder::new().name("emulator".to_owned()).spawn(move || shared.serve());
            match hired {
                Ok(thread) => self.threads.push(thread),
                Err(_) => break,
            }
        }
        threads.clamp(1, self.threads.len() + 1)
    }

    /// Do the work on this thread, and on up to so many in all, as far as there is time to join. What it
    /// borrows is no longer used when this returns.
    ///
    /// # Panics
    /// As the work does, on whichever thread.
    pub fn work(&mut self, threads: usize, work: &Work) {
        let helpers = threads.saturating_sub(1).min(self.threads.len());
        if helpers == 0 {
            return work();
        }
        // SAFETY: only the lifetime changes. Nobody has the work after `Open` is dropped, which this
        // function does before it returns or unwinds.
        let shift =
            Shift(unsafe { std::mem::transmute::<*const Work, *const Work<'static>>(work) });
        let open = Open(&self.shared);
        {
            let mut state = self.shared.state();
            state.work = Some(shift);
            // Another's, of work in which the caller panicked, too.
            state.panic = None;
            state.open = helpers;
        }
        // Not all of them: a machine may have many, and a launch two blocks.
        (0..helpers).for_each(|_| self.shared.opened.notify_one());
        work();
        drop(open);
        let panic = self.shared.state().panic.take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.state().over = true;
        self.shared.opened.notify_all();
        for thread in self.threads.drain(..) {
            // A thread catches the panics of its work and has none of its own.
            let _ = thread.join();
        }
    }
}

/// The door, until it is closed and all have left.
struct Open<'a>(&'a Shared);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open = 0;
        while state.inside > 0 {
            state = self.0.left.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        state.work = None;
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A thread's life.
    fn serve(&self) {
        let mut state = self.state();
        while !state.over {
            let Some(Shift(work)) = state.work.filter(|_| state.open > 0) else {
                state = self.opened.wait(state).unwrap_or_else(|e| e.into_inner());
                continue;
            };
            state.open -= 1;
            state.inside += 1;
            drop(state);
            // SAFETY: the caller waits until nobody is inside.
            let result = catch_unwind(AssertUnwindSafe(|| unsafe { (*work)() }));
            state = self.state();
            state.inside -= 1;
            if let Err(panic) = result {
                state.panic.get_or_insert(panic);
            }
            if state.inside == 0 {
                self.left.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    #[test]
    fn all_that_are_hired_can_work_together() {
        let mut pool = ThreadPool::default();
        assert_eq!(pool.hire(4), 4);
        for _ in 0..100 {
            let all = Barrier::new(4);
            pool.work(4, &|| {
                all.wait();
            });
        }
        assert_eq!(pool.hire(2), 2);
        let both = Barrier::new(2);
        pool.work(2, &|| {
            both.wait();
        });
    }

    #[test]
    fn nobody_works_when_the_caller_has_gone_on() {
        let mut pool = ThreadPool::default();
        pool.hire(3);
        for _ in 0..10_000 {
            let inside = AtomicUsize::new(0);
            pool.work(3, &|| {
                inside.fetch_add(1, SeqCst);
                inside.fetch_sub(1, SeqCst);
            });
            assert_eq!(inside.load(SeqCst), 0);
        }
    }

    #[test]
    fn a_panic_is_the_callers_and_the_crew_goes_on() {
        let mut pool = ThreadPool::default();
        pool.hire(2);
        let caller = std::thread::current().id();
        let both = Barrier::new(2);
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.work(2, &|| {
                both.wait();
                assert_eq!(std::thread::current().id(), caller, "another thread's");
            });
        }));
        let panic = result.expect_err("one thread is not the caller's");
        assert!(
            panic.downcast_ref::<String>().is_some_and(|text| text.contains("another thread's"))
        );
        let both = Barrier::new(2);
        pool.work(2, &|| {
            both.wait();
        });
    }

    #[test]
    fn a_panic_is_over_when_both_had_one() {
        let mut pool = ThreadPool::default();
        pool.hire(2);
        let both = Barrier::new(2);
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.work(2, &|| {
                both.wait();
                panic!("both");
            });
        }));
        assert!(result.is_err());
        pool.work(2, &|| ());
    }
}

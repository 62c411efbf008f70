//! What the tensor cores have been asked for and have not done yet (PTX ISA 9.7.16.6).
//!
//! `mma` and `cp` are asynchronous: on a GPU they may be done at any time until the `commit` behind them
//! arrives at its mbarrier. Here they are done at the last moment, when somebody asks that mbarrier
//! and it is not ready: a kernel that reads sums without waiting finds the old ones, and one that overwrites
//! operands too early multiplies the new ones.
//!
//! ```text
//! thread 0:  mma, mma, commit [a], mma, commit [b]        nothing is done
//! warp 1:    try_wait [a] fails: the first two run, in order, and [a] is told; the third waits
//! ```
//!
//! What one thread asked for is done in its order. What another asked for before goes first if both touch
//! the same columns: a fence may order the two (9.7.16.6.2), and nothing else could.

use super::copy::Copied;
use super::product::Product;
use crate::exec::{Core, mbarrier};

/// Columns of a CTA's tensor memory: its rank, the first, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    pub rank: u32,
    pub first: u32,
    pub count: u32,
    /// Written, perhaps read too; else read only.
    pub written: bool,
}

impl Columns {
    fn meet(self, other: Self) -> bool {
        let apart =
            self.first + self.count <= other.first || other.first + other.count <= self.first;
        self.rank == other.rank && !apart
    }
}

pub enum Operation {
    Multiply(Box<Product>),
    Copy(Box<Copied>),
    /// `commit`: host addresses of the mbarriers to tell.
    Arrive(Vec<u64>),
}

/// One of them, and who asked for it.
pub struct Queued {
    pub operation: Operation,
    /// Rank of the CTA, warp and lane.
    pub thread: (u32, u32, u32),
    /// What it reads and writes.
    pub columns: Vec<Columns>,
    /// The instruction, for the sanitizer.
    pub ip: u32,
}

#[derive(Default)]
pub struct Queue {
    /// With their numbers, which grow.
    waiting: Vec<(u64, Queued)>,
    asked: u64,
}

impl Queue {
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// The number by which [`Self::has`] knows it.
    pub fn push(&mut self, queued: Queued) -> u64 {
        self.asked += 1;
        self.waiting.push((self.asked, queued));
        self.asked
    }

    /// Whether what has this number is not done yet.
    pub fn has(&self, number: u64) -> bool {
        self.waiting.iter().any(|(waiting, _)| *waiting == number)
    }

    /// The instruction that works with some of these columns and is not done; with `written`, that writes some.
    pub fn at_work(&self, columns: Columns, written: bool) -> Option<u32> {
        let meets = |other: &Columns| other.meet(columns) && (other.written || !written);
        let found = self.waiting.iter().find(|(_, queued)| queued.columns.iter().any(meets));
        found.map(|(_, queued)| queued.ip)
    }

    /// Take out what must be done for the first `commit` that tells the mbarrier at this host address,
    /// the `commit` last.
    fn take_for(&mut self, object: u64) -> Vec<Queued> {
        let tells = |queued: &Queued| match &queued.operation {
            Operation::Arrive(objects) => objects.contains(&object),
            _ => false,
        };
        let Some(commit) = self.waiting.iter().position(|(_, queued)| tells(queued)) else {
            return Vec::new();
        };
        let thread = self.waiting[commit].1.thread;
        let mut due = vec![false; commit + 1];
        let mut columns: Vec<Columns> = Vec::new();
        for (at, (_, queued)) in self.waiting[..=commit].iter().enumerate().rev() {
            let meets =
                || queued.columns.iter().any(|mine| columns.iter().any(|&other| mine.meet(other)));
            if queued.thread == thread || meets() {
                due[at] = true;
                columns.extend(&queued.columns);
            }
        }
        let mut at = 0;
        self.waiting
            .extract_if(.., |_| {
                at += 1;
                due.get(at - 1).copied().unwrap_or(false)
            })
            .map(|(_, queued)| queued)
            .collect()
    }
}

/// Somebody waits at the mbarrier at this host address: do what the next `commit` there waits for. Whether
/// there was one.
///
/// # Safety
/// The cluster that runs must be the one whose instructions filled the queue, and `core` must run its program.
pub unsafe fn deliver(
    core: &mut Core,
    object: u64,
    lane: usize,
) -> Result<bool, crate::exec::Flow> {
    let due = core.tensor.queue.take_for(object);
    let any = !due.is_empty();
    for queued in due {
        match queued.operation {
            // SAFETY: passed on.
            Operation::Multiply(product) => unsafe { product.run(core) },
            // SAFETY: passed on.
            Operation::Copy(copied) => unsafe { copied.run(core) },
            Operation::Arrive(objects) => {
                for object in objects {
                    // SAFETY: `commit` found an object there, in the cluster's shared memory.
                    unsafe { mbarrier::arrive_once(core, object, lane) }?;
                }
            }
        }
    }
    if let Some(sanitizer) = &mut core.sanitizer
        && let Some(block) = &mut sanitizer.block
    {
        block.products_done(&core.tensor.queue);
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(thread: u32, columns: &[(u32, u32)], objects: &[u64]) -> Queued {
        Queued {
            operation: Operation::Arrive(objects.to_vec()),
            thread: (0, 0, thread),
            columns: columns
                .iter()
                .map(|&(first, count)| Columns { rank: 0, first, count, written: true })
                .collect(),
            ip: 0,
        }
    }

    #[test]
    fn a_commit_takes_what_its_thread_asked_for_before() {
        let mut queue = Queue::default();
        queue.push(queued(0, &[(0, 8)], &[]));
        queue.push(queued(1, &[(8, 8)], &[]));
        queue.push(queued(0, &[], &[64]));
        queue.push(queued(0, &[(0, 8)], &[]));
        queue.push(queued(0, &[], &[64]));
        assert!(queue.take_for(72).is_empty());
        assert_eq!(queue.take_for(64).len(), 2);
        assert_eq!(queue.take_for(64).len(), 2);
        assert_eq!(queue.waiting.len(), 1, "the other thread's has different columns");
    }

    #[test]
    fn what_is_at_work_is_found_until_it_is_done() {
        let columns = |first, written| Columns { rank: 0, first, count: 8, written };
        let mut queue = Queue::default();
        let number = queue.push(Queued { ip: 7, ..queued(0, &[(0, 8)], &[64]) });
        assert_eq!(queue.at_work(columns(4, false), true), Some(7));
        assert_eq!(queue.at_work(columns(8, false), false), None);
        assert!(queue.has(number));
        queue.take_for(64);
        assert!(!queue.has(number));
    }

    #[test]
    fn what_others_asked_for_in_the_same_columns_goes_first() {
        let mut queue = Queue::default();
        queue.push(queued(1, &[(4, 8)], &[]));
        queue.push(queued(2, &[(10, 8)], &[]));
        queue.push(queued(2, &[(40, 8)], &[]));
        queue.push(queued(0, &[(16, 8)], &[]));
        queue.push(queued(0, &[], &[8]));
        // Thread 2's first meets thread 0's, and thread 1's meets that.
        assert_eq!(queue.take_for(8).len(), 4);
        assert_eq!(queue.waiting.len(), 1);
    }
}

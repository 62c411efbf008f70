//! One timed call.
//!
//! ```text
//! stream   │ flush L2 │▒ idle ▒│ spin ───────────────│E₀│ the call's kernels │E₁│ fingerprint │
//! host               wait     │ spin, E₀, solution(), E₁ … enqueued ──► wait
//! ```
//!
//! 1. *persisting L2 off*: a kernel may set a part of L2 aside that survives any flush (Programming
//!    Guide, "L2 Set-Aside Cache for Persistent Accesses"); limit zero and a reset undo it.
//! 2. *flush*: twice L2's size is written, then read. The writes evict what was there; the reads
//!    evict what was written. Without them the timed call would pay for writing back our own dirty
//!    lines.
//! 3. *wait*: whatever a solution left running ends now, or never does, and the deadline finds it.
//! 4. *spin*: all of the GPU is busy while the host enqueues, so that launch latency is not timed,
//!    and nothing of the call runs before the first event, on whatever stream. At most
//!    [`LONGEST_SPIN`], so host work is hidden for that long and no longer.
//! 5. *events* around the one call; its host time is kept as well. Of a [`Span::Everything`] a third
//!    event waits for all work of the context, whatever stream it is on: an event captures what
//!    there is (`cuCtxRecordEvent`), and the default stream waits for that. Both ends are of one call,
//!    so that a call whose host enqueues longer than the spin, and takes now 160 µs and now 206, is not
//!    taken for one that leaves work behind. Where the host was late, the GPU also waited for it between
//!    the two ends, and that time does not count. On an H200 it costs
//!    nothing: 8.5 µs for a kernel of 8.5. What used to stand here, a second spin that starts when
//!    the GPU has room for it, cost 2 µs and did not wait for a kernel that leaves room beside it.

use std::time::Instant;

use cudarc::driver::{DriverError, result, sys};

use super::driver::{self, Context, Memory, STREAM};
use super::kernels::{Kernels, TILE};
use crate::device::{Sample, Span, Temperature};

/// What a call without host work needs on the slowest hosts seen.
const SHORTEST_SPIN: u64 = 20_000;
/// Nanoseconds. A solution with more host work than this pays for it.
pub const LONGEST_SPIN: u64 = 100_000;

#[derive(Debug)]
pub struct Stopwatch {
    pub kernels: Kernels,
    context: sys::CUcontext,
    start: sys::CUevent,
    end: sys::CUevent,
    /// Behind all work of the context.
    last: sys::CUevent,
    /// All work of the context, at some moment. It has no time.
    everything: sys::CUevent,
    flush: Memory,
    /// Four words of the spin, and one for what is read to be thrown away.
    words: Memory,
    persists: bool,
    clock_khz: u32,
    /// Nanoseconds.
    spin: u64,
}

impl Stopwatch {
    pub fn new(context: &Context) -> Result<Self, DriverError> {
        let timed = sys::CUevent_flags::CU_EVENT_DEFAULT;
        Ok(Self {
            kernels: Kernels::load(context)?,
            context: context.handle,
            start: result::event::create(timed)?,
            end: result::event::create(timed)?,
            last: result::event::create(timed)?,
            everything: result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?,
            flush: Memory::new((2 * context.l2).next_multiple_of(TILE))?,
            words: Memory::new(64)?,
            persists: context.persists(),
            clock_khz: context.clock_khz,
            spin: SHORTEST_SPIN,
        })
    }

    /// Times `call`, or what else `span` says, then enqueues `after` behind it, at once.
    pub fn time(
        &mut self,
        temperature: Temperature,
        span: Span,
        call: impl FnOnce(),
        after: impl FnOnce(&Kernels) -> Result<(), DriverError>,
    ) -> Result<Sample, DriverError> {
        let begun = Instant::now();
        if self.persists {
            result::ctx::set_limit(sys::CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0)?;
            // SAFETY: takes nothing.
            unsafe { sys::cuCtxResetPersistingL2Cache().result() }?;
        }
        if temperature == Temperature::Cold {
            let tiles = (self.flush.len / TILE) as u32;
            self.kernels.write_tiles(self.flush.address, tiles)?;
            self.kernels.read_tiles(self.flush.address, tiles, self.words.address + 32)?;
        }
        driver::synchronize()?;

        self.kernels.spin(self.words.address, self.spin * u64::from(self.clock_khz) / 1_000_000)?;
        // SAFETY: events and stream are alive.
        unsafe { result::event::record(self.start, STREAM) }?;
        let called = Instant::now();
        match span {
            Span::Nothing => self.kernels.nothing()?,
            Span::Call | Span::Everything => call(),
        }
        let host_ns = called.elapsed().as_nanos() as u64;
        // SAFETY: as above.
        unsafe { result::event::record(self.end, STREAM) }?;
        let ended = called.elapsed().as_nanos() as u64;
        if span == Span::Everything {
            // SAFETY: as above; the events are of this context.
            unsafe {
                sys::cuCtxRecordEvent(self.context, self.everything).result()?;
                sys::cuStreamWaitEvent(STREAM, self.everything, 0).result()?;
                result::event::record(self.last, STREAM)?;
            }
        }
        let enqueued = called.elapsed().as_nanos() as u64;
        after(&self.kernels)?;
        driver::synchronize()?;

        // SAFETY: both are recorded, and the GPU is past them.
        let milliseconds = unsafe { result::event::elapsed(self.start, self.end) }?;
        let behind_ns = match span {
            Span::Everything => {
                // SAFETY: as above.
                let behind = unsafe { result::event::elapsed(self.end, self.last) }?;
                let starved = if enqueued > self.spin { enqueued - ended } else { 0 };
                (f64::from(behind) * 1e6 - starved as f64).max(0.0)
            }
            Span::Nothing | Span::Call => 0.0,
        };
        self.spin = (2 * host_ns).clamp(SHORTEST_SPIN, LONGEST_SPIN);
        let clock_mhz = self.clock()?;
        Ok(Sample {
            device_ns: f64::from(milliseconds) * 1e6,
            behind_ns,
            host_ns,
            around_ns: begun.elapsed().as_nanos() as u64,
            clock_mhz,
        })
    }

    /// The SM's clock while it span, where the GPU's timer ticked at least twice.
    fn clock(&self) -> Result<Option<f64>, DriverError> {
        let mut seen = [0_u64; 4];
        // SAFETY: 32 bytes of this stack.
        unsafe { self.words.download(0, seen.as_mut_ptr().cast(), 32) }?;
        let [first_ns, first, last_ns, last] = seen;
        let (ns, cycles) = (last_ns.wrapping_sub(first_ns), last.wrapping_sub(first));
        Ok((first_ns > 0 && ns > 0).then(|| cycles as f64 * 1e3 / ns as f64))
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        for event in [self.start, self.end, self.last, self.everything] {
            // SAFETY: created by `new`, destroyed once.
            let _ = unsafe { result::event::destroy(event) };
        }
    }
}

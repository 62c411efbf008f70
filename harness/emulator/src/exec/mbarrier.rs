//! `mbarrier`: barriers that are objects in shared memory and count arrivals and bytes
//! (PTX ISA 9.7.13.15).
//!
//! An object is 64 opaque bits. Ours:
//!
//! ```text
//! bit   0 …19   arrivals that a phase expects
//!      20 …39   arrivals still pending in this one
//!      40 …60   bytes still expected, in two's complement: they may complete before they are expected
//!      61       parity of the phase
//!      62       set while the object is valid
//! ```
//!
//! A phase is over when nothing is pending, neither arrivals nor bytes; the next begins at once. The
//! state that `arrive` returns is the object as it was, of which `test_wait` looks at the parity.
//! Waiting never blocks here: `try_wait` says no and lets the other warps run.

use super::access::objects;
use super::{Asked, Core, Flow, tcgen05};
use crate::fault::FaultKind;
use crate::program::{Inst, Slot};

const FIELD: u64 = (1 << 20) - 1;
const PENDING: u32 = 20;
const BYTES: u32 = 40;
const BYTES_FIELD: u64 = (1 << 21) - 1;
const PARITY: u64 = 1 << 61;
const VALID: u64 = 1 << 62;

/// What an object still waits for in this phase: arrivals and bytes.
pub fn due(object: u64) -> (u64, i64) {
    (object >> PENDING & FIELD, ((object >> BYTES & BYTES_FIELD) as i64) << 43 >> 43)
}

/// What becomes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Arrive(u32),
    /// Arrive, and expect so many fewer from now on.
    Drop(u32),
    Expect(u32),
    Complete(u32),
    /// Expect one more arrival in this phase (`cp.async.mbarrier.arrive` without `.noinc`).
    Increment,
}

/// The object after `event`; why it cannot be otherwise.
fn after(object: u64, event: Event) -> Result<u64, String> {
    if object & VALID == 0 {
        return Err("uses an mbarrier that was never initialised, or was invalidated".to_owned());
    }
    let mut expected = object & FIELD;
    let (mut pending, mut bytes) = due(object);
    let mut parity = object & PARITY;
    match event {
        Event::Arrive(count) | Event::Drop(count) => {
            if u64::from(count) > pending {
                return Err(format!(
                    "arrives {count} times at an mbarrier where {pending} more are due in this phase"
                ));
            }
            pending -= u64::from(count);
            if matches!(event, Event::Drop(_)) {
                expected -= u64::from(count).min(expected);
            }
        }
        Event::Expect(count) => bytes += i64::from(count),
        Event::Complete(count) => bytes -= i64::from(count),
        Event::Increment => pending += 1,
    }
    if bytes.abs() > (1 << 20) - 1 || pending > FIELD {
        return Err(format!("has {bytes} bytes under way at one mbarrier; 2^20 - 1 is the limit"));
    }
    if pending == 0 && bytes == 0 {
        parity ^= PARITY;
        pending = expected;
    }
    Ok(expected | pending << PENDING | (bytes as u64 & BYTES_FIELD) << BYTES | parity | VALID)
}

/// Apply an event to the object at a host address.
///
/// # Safety
/// The address must be that of an object of this CTA's shared memory or its cluster's, which one
/// host thread runs.
unsafe fn apply(core: &mut Core, host: u64, lane: usize, event: Event) -> Result<u64, Flow> {
    let at = std::ptr::with_exposed_provenance_mut::<u64>(host as usize);
    // SAFETY: by the contract.
    let old = unsafe { at.read() };
    match after(old, event) {
        Ok(new) => {
            // SAFETY: as above.
            unsafe { at.write(new) };
            if let Some(sanitizer) = &mut core.sanitizer {
                sanitizer.told(host, matches!(event, Event::Complete(_)));
            }
            Ok(old)
        }
        Err(message) => Err(core.stop(FaultKind::BrokenBarrier { message }, lane as u32)),
    }
}

/// Bytes of an asynchronous copy have arrived.
///
/// # Safety
/// As for [`apply`].
pub unsafe fn complete(core: &mut Core, host: u64, lane: usize, bytes: u32) -> Result<(), Flow> {
    // SAFETY: by the contract.
    unsafe { apply(core, host, lane, Event::Complete(bytes)) }.map(|_| ())
}

/// The tensor cores have done what they were asked for.
///
/// # Safety
/// As for [`apply`].
pub unsafe fn arrive_once(core: &mut Core, host: u64, lane: usize) -> Result<(), Flow> {
    // SAFETY: by the contract.
    unsafe { apply(core, host, lane, Event::Arrive(1)) }.map(|_| ())
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// `mbarrier.init [a + imm], b`, and `inval` where there is no `b`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn init(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file; `objects` checks the addresses.
    unsafe {
        let Some(hosts) = objects(core, inst) else { return Flow::Stop };
        let counts = core.read::<u32>(inst.b);
        for lane in lanes(core.mask) {
            let count = u64::from(counts[lane]);
            if inst.b != 0 && (count == 0 || count > FIELD) {
                let message =
                    format!("initialises an mbarrier for {count} arrivals; 1 to 2^20 - 1 will do");
                return core.stop(FaultKind::BrokenBarrier { message }, lane as u32);
            }
            let object = if inst.b == 0 { 0 } else { count | count << PENDING | VALID };
            std::ptr::with_exposed_provenance_mut::<u64>(hosts[lane] as usize).write(object);
        }
    }
    Flow::Next
}

/// Kinds of [`arrive`], in the flags.
pub const ARRIVE: u32 = 0;
pub const DROP: u32 = 1;
pub const EXPECT: u32 = 2;
pub const COMPLETE: u32 = 3;
/// Bytes are expected first, in `b`, then one arrival.
pub const EXPECT_AND_ARRIVE: u32 = 4;
pub const EXPECT_AND_DROP: u32 = 5;

/// Events at the object at `[a + imm]`, counts in `b`, state to `dst`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn arrive(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file; `objects` checks the addresses.
    unsafe {
        let Some(hosts) = objects(core, inst) else { return Flow::Stop };
        let counts = core.read::<u32>(inst.b);
        let mut states = [0u64; 32];
        for lane in lanes(core.mask) {
            let count = counts[lane];
            let events: &[Event] = match inst.flags & 7 {
                ARRIVE => &[Event::Arrive(count)],
                DROP => &[Event::Drop(count)],
                EXPECT => &[Event::Expect(count)],
                COMPLETE => &[Event::Complete(count)],
                EXPECT_AND_ARRIVE => &[Event::Expect(count), Event::Arrive(1)],
                _ => &[Event::Expect(count), Event::Drop(1)],
            };
            for &event in events {
                match apply(core, hosts[lane], lane, event) {
                    Ok(old) => states[lane] = old,
                    Err(flow) => return flow,
                }
            }
        }
        store_states(core, inst.dst, &states);
    }
    Flow::Next
}

unsafe fn store_states(core: &mut Core, dst: Slot, states: &[u64; 32]) {
    if dst != 0 {
        // SAFETY: by the contract of the callers.
        unsafe { core.write(dst, states) };
    }
}

/// `mbarrier.pending_count dst, a`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn pending_count(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let states = core.read::<u64>(inst.a);
        let counts = states.map(|state| (state >> PENDING & FIELD) as u32);
        core.write(inst.dst, &counts);
    }
    Flow::Next
}

/// `b` is a parity rather than a state.
pub const BY_PARITY: u32 = 1 << 3;

/// `mbarrier.test_wait` and `try_wait`: whether the phase of the state, or parity, in `b` is over.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn wait(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file; `objects` checks the addresses.
    unsafe {
        let Some(hosts) = objects(core, inst) else { return Flow::Stop };
        let parities: [bool; 32] = if inst.flags & BY_PARITY != 0 {
            core.read::<u32>(inst.b).map(|parity| parity & 1 == 1)
        } else {
            core.read::<u64>(inst.b).map(|state| state & PARITY != 0)
        };
        let mut over = [0u32; 32];
        let mut all = true;
        for lane in lanes(core.mask) {
            let at = std::ptr::with_exposed_provenance::<u64>(hosts[lane] as usize);
            let mut object = at.read();
            // What the tensor cores owe this mbarrier is done now that somebody waits.
            while (object & PARITY != 0) == parities[lane] && object & VALID != 0 {
                match tcgen05::deliver(core, hosts[lane], lane) {
                    Ok(true) => object = at.read(),
                    Ok(false) => break,
                    Err(flow) => return flow,
                }
            }
            if object & VALID == 0 {
                let message = "waits at an mbarrier that was never initialised".to_owned();
                return core.stop(FaultKind::BrokenBarrier { message }, lane as u32);
            }
            if (object & PARITY != 0) != parities[lane] {
                over[lane] = u32::MAX;
                if let Some(sanitizer) = &mut core.sanitizer {
                    sanitizer.learned(lane, hosts[lane]);
                }
            } else {
                all = false;
                core.polled = Some(Asked::Mbarrier(hosts[lane]));
            }
        }
        core.write(inst.dst, &over);
        // Programs rely on it that who waits for a phase sees its end before the same mbarrier has come to
        // the end of the next one, where only one warp's waits keep that up (CUTLASS's first tutorials).
        // Here that warp could be alone for thousands of instructions: it lets the others look first.
        if all { Flow::Last } else { Flow::Yield }
    }
}

/// `cp.async.mbarrier.arrive{.noinc} [a + imm]`: the thread's copies so far are done, and count as
/// an arrival. Flag 1 is `.noinc`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn arrive_after_copies(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file; `objects` checks the addresses.
    unsafe {
        super::copy_async::wait_all(core, inst);
        let Some(hosts) = objects(core, inst) else { return Flow::Stop };
        let events: &[Event] = if inst.flags & 1 == 1 {
            &[Event::Arrive(1)]
        } else {
            &[Event::Increment, Event::Arrive(1)]
        };
        for lane in lanes(core.mask) {
            for &event in events {
                if let Err(flow) = apply(core, hosts[lane], lane, event) {
                    return flow;
                }
            }
        }
    }
    Flow::Next
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: u64 = 2 | 2 << PENDING | VALID;

    #[test]
    fn a_phase_ends_with_its_last_arrival() {
        let one = after(TWO, Event::Arrive(1)).expect("one is due");
        assert_eq!(one & PARITY, 0);
        let over = after(one, Event::Arrive(1)).expect("one more");
        assert_eq!(over, TWO | PARITY);
        assert_eq!(after(over, Event::Arrive(2)), Ok(TWO));
        assert!(after(one, Event::Arrive(2)).is_err());
    }

    #[test]
    fn bytes_keep_a_phase_open_and_may_come_first() {
        let early = after(TWO, Event::Complete(64)).expect("not expected yet");
        let arrived = after(early, Event::Arrive(2)).expect("both");
        assert_eq!(arrived & PARITY, 0, "64 bytes too many are no end");
        assert_eq!(after(arrived, Event::Expect(64)), Ok(TWO | PARITY));
    }

    #[test]
    fn who_drops_out_is_not_waited_for_again() {
        let next = after(TWO, Event::Drop(1)).and_then(|o| after(o, Event::Arrive(1)));
        assert_eq!(next, Ok(1 | 1 << PENDING | VALID | PARITY));
        assert!(after(0, Event::Arrive(1)).is_err());
    }
}

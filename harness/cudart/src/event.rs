//! Events, and the clock they read.
//!
//! The clock is the sum of the launches' times: modelled ones if the session has a model, so that
//! a program that times its own kernels prints modelled times, else the host's. Copies and the
//! host's own work take no time.

use super::abi::{EventHandle, NodeHandle, Out, StreamHandle};
use super::error::{Code, Failure, Outcome};
use super::graph::{CaptureId, Task};
use super::session::Session;

#[derive(Clone, Debug)]
pub(super) struct Event {
    flags: u32,
    /// Nanoseconds of the session's clock.
    recorded: Option<f64>,
    /// The capture that it was last recorded in.
    pub capture: Option<CaptureId>,
    /// What was last in the stream then, of that capture.
    pub last: Vec<NodeHandle>,
}

const DISABLE_TIMING: u32 = 2;
const KNOWN_FLAGS: u32 = 7;
/// `cudaEventRecordExternal`
const EXTERNAL: u32 = 1;

impl Session {
    pub fn event(&self, handle: EventHandle) -> Result<Event, Failure> {
        self.events
            .get(&handle)
            .cloned()
            .ok_or_else(|| Code::INVALID_HANDLE.because("it is no event, or destroyed"))
    }

    fn create_event(&mut self, out: Out<EventHandle>, flags: u32) -> Outcome {
        if flags & !KNOWN_FLAGS != 0 {
            return Err(Code::INVALID_VALUE.because(format!("unknown flags {flags:#x}")));
        }
        let handle = self.handle();
        out.set(handle)?;
        self.events
            .insert(handle, Event { flags, recorded: None, capture: None, last: Vec::new() });
        Ok(())
    }

    /// In a capture the event stands for what was last in the stream, and becomes a node only where it
    /// is for others than the graph (`flags` of `cudaEventRecordWithFlags`).
    fn record(&mut self, handle: EventHandle, stream: StreamHandle, flags: u32) -> Outcome {
        let capture = self.stream(stream)?.capture;
        let event = self.event(handle)?;
        if capture.is_none() || flags & EXTERNAL != 0 {
            return self.submit(stream, Task::Record(handle));
        }
        let last = self.last_of(stream)?;
        self.events.insert(handle, Event { capture, last, ..event });
        Ok(())
    }

    /// The moment is now.
    pub fn record_now(&mut self, handle: EventHandle) -> Outcome {
        // Destroyed since, if the work was kept for a graph.
        if let Some(event) = self.events.get_mut(&handle) {
            event.recorded = Some(self.clock);
            event.capture = None;
        }
        Ok(())
    }

    fn moment(&self, handle: EventHandle) -> Result<f64, Failure> {
        let event = self.event(handle)?;
        if event.flags & DISABLE_TIMING != 0 {
            return Err(Code::INVALID_HANDLE.because("the event was created without timing"));
        }
        event.recorded.ok_or_else(|| Code::INVALID_HANDLE.because("the event was never recorded"))
    }
}

runtime! {
    fn cudaEventCreate(event: Out<EventHandle>) |session| {
        session.create_event(event, 0)
    }

    fn cudaEventCreateWithFlags(event: Out<EventHandle>, flags: u32) |session| {
        session.create_event(event, flags)
    }

    fn cudaEventRecord(event: EventHandle, stream: StreamHandle) + cudaEventRecord_ptsz |session| {
        session.record(event, stream, 0)
    }

    fn cudaEventRecordWithFlags(
        event: EventHandle, stream: StreamHandle, flags: u32,
    ) + cudaEventRecordWithFlags_ptsz |session| {
        session.record(event, stream, flags)
    }

    fn cudaEventSynchronize(event: EventHandle) |session| {
        session.event(event).map(drop)
    }

    fn cudaEventQuery(event: EventHandle) |session| {
        session.event(event).map(drop)
    }

    fn cudaEventElapsedTime(
        milliseconds: Out<f32>, start: EventHandle, end: EventHandle,
    ) |session| {
        let elapsed = session.moment(end)? - session.moment(start)?;
        milliseconds.set((elapsed / 1e6) as f32)
    }

    fn cudaEventDestroy(event: EventHandle) |session| {
        match session.events.remove(&event) {
            Some(_) => Ok(()),
            None => Err(Code::INVALID_HANDLE.because("it is no event, or destroyed")),
        }
    }
}

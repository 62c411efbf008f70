//! Streams that keep their work instead of doing it.
//!
//! Between `cudaStreamBeginCapture` and `cudaStreamEndCapture`, work submitted to the stream becomes
//! nodes. Each stream of a capture knows its last nodes, which the next one comes after; an event
//! carries them to the streams that wait for it, which so join the capture:
//!
//! ```text
//! main: A, record e, B          main: {B}, then waits for f: {B, C}
//! side: wait e, C, record f     A ─► B,  A ─► C;  what comes next is behind both
//! ```

use std::collections::BTreeMap;

use super::Task;
use super::topology::Graph;
use crate::abi::{EventHandle, GraphHandle, NodeHandle, Out, StreamHandle};
use crate::error::{Code, Failure, Outcome};
use crate::session::Session;

/// Which capture a stream belongs to.
pub(crate) type CaptureId = usize;

pub(super) struct Capture {
    /// Where it began and must end.
    origin: StreamHandle,
    graph: Graph,
    /// Of each stream, the nodes that its next one comes after.
    last: BTreeMap<StreamHandle, Vec<NodeHandle>>,
}

impl Session {
    /// Does work now, or keeps it where the stream is capturing.
    pub fn submit(&mut self, stream: StreamHandle, task: Task) -> Outcome {
        match self.stream(stream)?.capture {
            None => self.perform(&task),
            Some(id) => self.keep(id, stream, task),
        }
    }

    fn capture(&mut self, id: CaptureId) -> Result<&mut Capture, Failure> {
        let ended = || Code::INVALID_HANDLE.because("its capture has ended");
        self.graphs.captures.get_mut(&id).ok_or_else(ended)
    }

    /// Makes a node behind the last ones of the stream.
    pub fn keep(&mut self, id: CaptureId, stream: StreamHandle, task: Task) -> Outcome {
        let node = self.handle();
        let capture = self.capture(id)?;
        let after = capture.last.insert(stream, vec![node]).unwrap_or_default();
        capture.graph.insert(node, &after, task)
    }

    /// What an event recorded in the stream now stands for.
    pub fn last_of(&mut self, stream: StreamHandle) -> Result<Vec<NodeHandle>, Failure> {
        let Some(id) = self.stream(stream)?.capture else { return Ok(Vec::new()) };
        Ok(self.capture(id)?.last.get(&stream).cloned().unwrap_or_default())
    }

    /// The stream waits for an event: it joins the capture that the event was recorded in, if that is
    /// still under way.
    pub fn join_capture(&mut self, stream: StreamHandle, event: EventHandle) -> Outcome {
        let own = self.stream(stream)?.capture;
        let event = self.event(event)?;
        let Some(id) = event.capture.filter(|id| self.graphs.captures.contains_key(id)) else {
            return Ok(());
        };
        if own.is_some_and(|own| own != id) {
            return Err(Code::CAPTURE_MERGE.because("the event was recorded in another capture"));
        }
        let Some(state) = self.streams.get_mut(&stream) else { return Ok(()) };
        state.capture = Some(id);
        let last = self.capture(id)?.last.entry(stream).or_default();
        for node in event.last {
            if !last.contains(&node) {
                last.push(node);
            }
        }
        Ok(())
    }

    /// Refuses what has no place in a graph.
    pub fn not_capturing(&self, stream: StreamHandle) -> Outcome {
        match self.stream(stream)?.capture {
            None => Ok(()),
            Some(_) => Err(Code::CAPTURE_UNSUPPORTED.because("the stream is capturing")),
        }
    }

    fn begin_capture(&mut self, stream: StreamHandle) -> Outcome {
        self.not_capturing(stream)?;
        let id = self.handle();
        let Some(state) = self.streams.get_mut(&stream) else {
            let detail = "the legacy default stream cannot be captured; create one";
            return Err(Code::CAPTURE_UNSUPPORTED.because(detail));
        };
        state.capture = Some(id);
        let capture = Capture { origin: stream, graph: Graph::default(), last: BTreeMap::new() };
        self.graphs.captures.insert(id, capture);
        Ok(())
    }

    fn end_capture(&mut self, stream: StreamHandle, graph: Out<GraphHandle>) -> Outcome {
        let id = self.stream(stream)?.capture;
        let id = id.ok_or_else(|| Code::ILLEGAL_STATE.because("the stream is not capturing"))?;
        if self.capture(id)?.origin != stream {
            return Err(Code::CAPTURE_UNMATCHED.because("the capture began in another stream"));
        }
        for state in self.streams.values_mut().filter(|state| state.capture == Some(id)) {
            state.capture = None;
        }
        let Some(capture) = self.graphs.captures.remove(&id) else { return Ok(()) };
        let own = capture.last.get(&stream).map_or(&[][..], Vec::as_slice);
        let joined = capture.graph.up_to(own);
        if capture.last.values().flatten().any(|node| !joined.contains(node)) {
            graph.set(0)?;
            let detail = "work of another stream was not waited for, with an event, by this one";
            return Err(Code::CAPTURE_UNJOINED.because(detail));
        }
        let handle = self.handle();
        self.graphs.graphs.insert(handle, capture.graph);
        graph.set(handle)
    }
}

/// `cudaStreamCaptureStatus`
const NONE: u32 = 0;
const ACTIVE: u32 = 1;

runtime! {
    fn cudaStreamBeginCapture(stream: StreamHandle, _mode: u32)
        + cudaStreamBeginCapture_ptsz |session|
    {
        session.begin_capture(stream)
    }

    fn cudaStreamEndCapture(stream: StreamHandle, graph: Out<GraphHandle>)
        + cudaStreamEndCapture_ptsz |session|
    {
        session.end_capture(stream, graph)
    }

    fn cudaStreamIsCapturing(stream: StreamHandle, status: Out<u32>)
        + cudaStreamIsCapturing_ptsz |session|
    {
        status.set(if session.stream(stream)?.capture.is_some() { ACTIVE } else { NONE })
    }

    /// The graph has no handle before the capture ends, so it and the dependencies are left as they are.
    fn cudaStreamGetCaptureInfo(
        stream: StreamHandle, status: Out<u32>, id: Out<u64>, _graph: usize, _dependencies: usize,
        _edges: usize, count: Out<usize>,
    ) + cudaStreamGetCaptureInfo_ptsz |session| {
        let capture = session.stream(stream)?.capture;
        id.set_if_wanted(capture.unwrap_or(0) as u64);
        count.set_if_wanted(0);
        status.set(if capture.is_some() { ACTIVE } else { NONE })
    }

    fn cudaThreadExchangeStreamCaptureMode(mode: Out<u32>) |_session| {
        mode.set(0)
    }
}

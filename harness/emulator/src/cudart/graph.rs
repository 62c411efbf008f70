//! Stream capture and the graphs it makes.
//!
//! Between `cudaStreamBeginCapture` and `cudaStreamEndCapture`, work submitted to the stream is
//! kept instead of done. An event recorded in a capturing stream carries the capture to the streams
//! that wait for it. The kept work is a list in the order of submission: one of the orders that the
//! graph's dependencies allow, so a graph is that list, and a launch goes through it. Graphs that a
//! program builds node by node do not exist here.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;

use super::abi::{GraphExecHandle, GraphHandle, Out, StreamHandle};
use super::error::{Code, Failure, Outcome};
use super::session::{self, Session};

/// A function of the program's, to be called without the session's lock.
#[derive(Clone, Copy)]
pub(super) struct HostCall {
    pub function: unsafe extern "C" fn(data: *mut c_void),
    /// A pointer that only the function understands.
    pub data: usize,
}

impl HostCall {
    pub fn run(self) {
        // SAFETY: the program passed a function and the argument it wants.
        unsafe { (self.function)(self.data as *mut c_void) };
    }
}

/// Work of a stream, which can be done again and again.
#[derive(Clone)]
pub(super) enum Work {
    Device(Arc<dyn Fn(&mut Session) -> Outcome + Send + Sync>),
    Host(HostCall),
}

/// Which capture a stream belongs to.
pub(super) type CaptureId = usize;

/// Captures under way, and what became of others.
#[derive(Default)]
pub(super) struct Graphs {
    captures: BTreeMap<CaptureId, Capture>,
    graphs: BTreeMap<GraphHandle, Vec<Work>>,
    executables: BTreeMap<GraphExecHandle, Vec<Work>>,
}

struct Capture {
    /// Where it began and must end.
    origin: StreamHandle,
    work: Vec<Work>,
}

impl Session {
    /// Does work now, or keeps it where the stream is capturing.
    pub fn submit(
        &mut self,
        stream: StreamHandle,
        work: impl Fn(&mut Self) -> Outcome + Send + Sync + 'static,
    ) -> Outcome {
        match self.stream(stream)?.capture {
            None => work(self),
            Some(id) => self.keep(id, [Work::Device(Arc::new(work))]),
        }
    }

    /// Appends to a capture.
    pub fn keep(&mut self, id: CaptureId, work: impl IntoIterator<Item = Work>) -> Outcome {
        let ended = || Code::INVALID_HANDLE.because("its capture has ended");
        self.graphs.captures.get_mut(&id).ok_or_else(ended)?.work.extend(work);
        Ok(())
    }

    pub fn is_capture(&self, id: CaptureId) -> bool {
        self.graphs.captures.contains_key(&id)
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
        self.graphs.captures.insert(id, Capture { origin: stream, work: Vec::new() });
        Ok(())
    }

    fn end_capture(&mut self, stream: StreamHandle, graph: Out<GraphHandle>) -> Outcome {
        let unmatched = |detail: &str| Code::CAPTURE_UNMATCHED.because(detail);
        let id = self.stream(stream)?.capture;
        let id = id.ok_or_else(|| Code::ILLEGAL_STATE.because("the stream is not capturing"))?;
        let origin = self.graphs.captures.get(&id).map(|capture| capture.origin);
        if origin != Some(stream) {
            return Err(unmatched("the capture began in another stream"));
        }
        let capture = self.graphs.captures.remove(&id);
        for state in self.streams.values_mut().filter(|state| state.capture == Some(id)) {
            state.capture = None;
        }
        let handle = self.handle();
        self.graphs.graphs.insert(handle, capture.map(|capture| capture.work).unwrap_or_default());
        graph.set(handle)
    }

    fn instantiate(&mut self, executable: Out<GraphExecHandle>, graph: GraphHandle) -> Outcome {
        let work = self.graph(graph)?.clone();
        let handle = self.handle();
        self.graphs.executables.insert(handle, work);
        executable.set(handle)
    }

    fn graph(&self, graph: GraphHandle) -> Result<&Vec<Work>, Failure> {
        let unknown = || Code::INVALID_VALUE.because("it is no graph, or destroyed");
        self.graphs.graphs.get(&graph).ok_or_else(unknown)
    }

    fn executable(&self, executable: GraphExecHandle) -> Result<&Vec<Work>, Failure> {
        let unknown = || Code::INVALID_VALUE.because("it is no executable graph, or destroyed");
        self.graphs.executables.get(&executable).ok_or_else(unknown)
    }
}

/// Goes through the graph's work, each piece under the lock for itself, since functions of the
/// program may be among them. Into a capturing stream the work goes as a part of the new graph.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphLaunch(
    executable: GraphExecHandle,
    stream: StreamHandle,
) -> Code {
    const NAME: &str = "cudaGraphLaunch";
    let mut work = Vec::new();
    let mut code = session::call(NAME, |session| {
        let capture = session.stream(stream)?.capture;
        work = session.executable(executable)?.clone();
        match capture {
            Some(id) => session.keep(id, work.drain(..)),
            None => Ok(()),
        }
    });
    for piece in work {
        if code != Code::SUCCESS {
            break;
        }
        match piece {
            Work::Device(act) => code = session::call(NAME, |session| act(session)),
            Work::Host(call) => call.run(),
        }
    }
    code
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphLaunch_ptsz(
    executable: GraphExecHandle,
    stream: StreamHandle,
) -> Code {
    cudaGraphLaunch(executable, stream)
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

    /// Nodes have no handles, so graph and dependencies are left as they are.
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

    fn cudaGraphInstantiate(
        executable: Out<GraphExecHandle>, graph: GraphHandle, _flags: u64,
    ) |session| {
        session.instantiate(executable, graph)
    }

    fn cudaGraphInstantiateWithFlags(
        executable: Out<GraphExecHandle>, graph: GraphHandle, _flags: u64,
    ) |session| {
        session.instantiate(executable, graph)
    }

    /// The new graph takes the place of the old one, whatever its shape; the result is
    /// `cudaGraphExecUpdateSuccess`, followed by two nodes that are null.
    fn cudaGraphExecUpdate(
        executable: GraphExecHandle, graph: GraphHandle, result: Out<[usize; 3]>,
    ) |session| {
        session.executable(executable)?;
        let work = session.graph(graph)?.clone();
        session.graphs.executables.insert(executable, work);
        result.set([0; 3])
    }

    fn cudaGraphUpload(executable: GraphExecHandle, stream: StreamHandle)
        + cudaGraphUpload_ptsz |session|
    {
        session.stream(stream)?;
        session.executable(executable).map(drop)
    }

    fn cudaGraphDestroy(graph: GraphHandle) |session| {
        session.graph(graph)?;
        session.graphs.graphs.remove(&graph);
        Ok(())
    }

    fn cudaGraphExecDestroy(executable: GraphExecHandle) |session| {
        session.executable(executable)?;
        session.graphs.executables.remove(&executable);
        Ok(())
    }
}

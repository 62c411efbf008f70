//! Streams. Work is done when it is submitted, so a stream is a handle with flags.

use std::collections::BTreeMap;
use std::ffi::c_void;

use super::abi::{EventHandle, In, Out, StreamHandle};
use super::error::{Code, Failure, Outcome};
use super::graph::{CaptureId, HostCall, Task, timed};
use super::session::{self, Session};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    flags: u32,
    priority: i32,
    pub capture: Option<CaptureId>,
}

/// `cudaStreamPerThread`, which is one stream here, whatever the thread.
pub(super) const PER_THREAD: StreamHandle = 2;

/// Those that nobody creates.
pub(super) fn at_first() -> BTreeMap<StreamHandle, Stream> {
    [(PER_THREAD, Stream::default())].into()
}

/// `cudaStreamNonBlocking`
const NON_BLOCKING: u32 = 1;
/// From `cudaDeviceGetStreamPriorityRange`, lowest and highest; those of a B200.
pub(super) const PRIORITIES: (i32, i32) = (0, -5);

impl Session {
    /// The stream behind a handle: 0 is the default one, 1 its explicit name.
    pub fn stream(&self, handle: StreamHandle) -> Result<Stream, Failure> {
        match handle {
            0 | 1 => Ok(Stream::default()),
            _ => self
                .streams
                .get(&handle)
                .copied()
                .ok_or_else(|| Code::INVALID_HANDLE.because("it is no stream, or destroyed")),
        }
    }

    fn create_stream(&mut self, out: Out<StreamHandle>, flags: u32, priority: i32) -> Outcome {
        if flags & !NON_BLOCKING != 0 {
            return Err(Code::INVALID_VALUE.because(format!("unknown flags {flags:#x}")));
        }
        let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
        let handle = self.handle();
        out.set(handle)?;
        self.streams.insert(handle, Stream { flags, priority, capture: None });
        Ok(())
    }
}

pub(super) type HostFunction = Option<unsafe extern "C" fn(data: *mut c_void)>;
pub(super) type StreamCallback =
    Option<unsafe extern "C" fn(StreamHandle, status: Code, data: *mut c_void)>;

/// Calls the function at once, since all work before it is done, but without the session's lock:
/// it is the program's code. In a capture it becomes part of the graph.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaLaunchHostFunc(
    stream: StreamHandle,
    function: HostFunction,
    data: *mut c_void,
) -> Code {
    let mut now = None;
    let code = session::call("cudaLaunchHostFunc", |session| {
        let capture = session.stream(stream)?.capture;
        let missing = || Code::INVALID_VALUE.because("the function is null");
        let call = HostCall { function: function.ok_or_else(missing)?, data: data as usize };
        match capture {
            Some(id) => session.keep(id, stream, Task::Host(call))?,
            None => now = Some(call),
        }
        Ok(())
    });
    now.into_iter().for_each(HostCall::run);
    code
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaLaunchHostFunc_ptsz(
    stream: StreamHandle,
    function: HostFunction,
    data: *mut c_void,
) -> Code {
    cudaLaunchHostFunc(stream, function, data)
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamAddCallback(
    stream: StreamHandle,
    function: StreamCallback,
    data: *mut c_void,
    _flags: u32,
) -> Code {
    let code = session::call("cudaStreamAddCallback", |session| {
        session.not_capturing(stream)?;
        let missing = || Code::INVALID_VALUE.because("the function is null");
        function.map(drop).ok_or_else(missing)
    });
    if let (Code::SUCCESS, Some(function)) = (code, function) {
        // SAFETY: the program passes a function and the argument it wants.
        timed(|| unsafe { function(stream, Code::SUCCESS, data) });
    }
    code
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamAddCallback_ptsz(
    stream: StreamHandle,
    function: StreamCallback,
    data: *mut c_void,
    flags: u32,
) -> Code {
    cudaStreamAddCallback(stream, function, data, flags)
}

runtime! {
    fn cudaStreamCreate(stream: Out<StreamHandle>) |session| {
        session.create_stream(stream, 0, 0)
    }

    fn cudaStreamCreateWithFlags(stream: Out<StreamHandle>, flags: u32) |session| {
        session.create_stream(stream, flags, 0)
    }

    fn cudaStreamCreateWithPriority(
        stream: Out<StreamHandle>, flags: u32, priority: i32,
    ) |session| {
        session.create_stream(stream, flags, priority)
    }

    fn cudaStreamDestroy(stream: StreamHandle) |session| {
        if stream <= PER_THREAD || session.streams.remove(&stream).is_none() {
            return Err(Code::INVALID_HANDLE.because("it is no stream of the program's own"));
        }
        Ok(())
    }

    fn cudaStreamSynchronize(stream: StreamHandle) + cudaStreamSynchronize_ptsz |session| {
        session.not_capturing(stream)
    }

    fn cudaStreamQuery(stream: StreamHandle) + cudaStreamQuery_ptsz |session| {
        session.not_capturing(stream)
    }

    fn cudaStreamWaitEvent(
        stream: StreamHandle, event: EventHandle, _flags: u32,
    ) + cudaStreamWaitEvent_ptsz |session| {
        session.stream(stream)?;
        session.join_capture(stream, event)
    }

    fn cudaStreamGetFlags(
        stream: StreamHandle, flags: Out<u32>,
    ) + cudaStreamGetFlags_ptsz |session| {
        flags.set(session.stream(stream)?.flags)
    }

    fn cudaStreamGetPriority(
        stream: StreamHandle, priority: Out<i32>,
    ) + cudaStreamGetPriority_ptsz |session| {
        priority.set(session.stream(stream)?.priority)
    }

    fn cudaStreamGetId(stream: StreamHandle, id: Out<u64>) + cudaStreamGetId_ptsz |session| {
        session.stream(stream)?;
        id.set(stream as u64)
    }

    fn cudaStreamGetDevice(
        stream: StreamHandle, device: Out<i32>,
    ) + cudaStreamGetDevice_ptsz |session| {
        session.stream(stream)?;
        device.set(0)
    }

    /// Attributes are hints for caches and scheduling.
    fn cudaStreamSetAttribute(
        stream: StreamHandle, _id: u32, value: In<u8>,
    ) + cudaStreamSetAttribute_ptsz |session| {
        session.stream(stream)?;
        value.get().map(drop)
    }

    fn cudaStreamCopyAttributes(
        to: StreamHandle, from: StreamHandle,
    ) + cudaStreamCopyAttributes_ptsz |session| {
        session.stream(to)?;
        session.stream(from).map(drop)
    }
}

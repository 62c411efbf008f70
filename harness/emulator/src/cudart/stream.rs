//! Streams. Work is done when it is submitted, so a stream is a handle with flags.

use std::ffi::c_void;

use super::abi::{EventHandle, In, Out, StreamHandle};
use super::error::{Code, Failure, Outcome};
use super::session::{self, Session};

#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    flags: u32,
    priority: i32,
}

/// `cudaStreamNonBlocking`
const NON_BLOCKING: u32 = 1;
/// `cudaStreamCaptureStatusNone`
const NOT_CAPTURING: u32 = 0;
/// From `cudaDeviceGetStreamPriorityRange`, lowest and highest; those of a B200.
pub(super) const PRIORITIES: (i32, i32) = (0, -5);

impl Session {
    /// The stream behind a handle: 0 is the default one, 1 and 2 its two explicit names.
    pub fn stream(&self, handle: StreamHandle) -> Result<Stream, Failure> {
        match handle {
            0..=2 => Ok(Stream { flags: 0, priority: 0 }),
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
        self.streams.insert(handle, Stream { flags, priority });
        Ok(())
    }
}

type HostFunction = Option<unsafe extern "C" fn(data: *mut c_void)>;
type StreamCallback = Option<unsafe extern "C" fn(StreamHandle, status: Code, data: *mut c_void)>;

/// Runs the function at once, since all work before it is done. Without the session's lock: it is
/// the program's code.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaLaunchHostFunc(
    stream: StreamHandle,
    function: HostFunction,
    data: *mut c_void,
) -> Code {
    let code = session::call("cudaLaunchHostFunc", |session| {
        session.stream(stream)?;
        callable(function.is_some())
    });
    if let (Code::SUCCESS, Some(function)) = (code, function) {
        // SAFETY: the program passes a function and the argument it wants.
        unsafe { function(data) };
    }
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
        session.stream(stream)?;
        callable(function.is_some())
    });
    if let (Code::SUCCESS, Some(function)) = (code, function) {
        // SAFETY: the program passes a function and the argument it wants.
        unsafe { function(stream, Code::SUCCESS, data) };
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

fn callable(given: bool) -> Outcome {
    if given { Ok(()) } else { Err(Code::INVALID_VALUE.because("the function is null")) }
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
        match session.streams.remove(&stream) {
            Some(_) => Ok(()),
            None => Err(Code::INVALID_HANDLE.because("it is no stream of the program's own")),
        }
    }

    fn cudaStreamSynchronize(stream: StreamHandle) + cudaStreamSynchronize_ptsz |session| {
        session.stream(stream).map(drop)
    }

    fn cudaStreamQuery(stream: StreamHandle) + cudaStreamQuery_ptsz |session| {
        session.stream(stream).map(drop)
    }

    fn cudaStreamWaitEvent(
        stream: StreamHandle, event: EventHandle, _flags: u32,
    ) + cudaStreamWaitEvent_ptsz |session| {
        session.stream(stream)?;
        session.event(event).map(drop)
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

    fn cudaStreamIsCapturing(
        stream: StreamHandle, status: Out<u32>,
    ) + cudaStreamIsCapturing_ptsz |session| {
        session.stream(stream)?;
        status.set(NOT_CAPTURING)
    }

    fn cudaStreamGetCaptureInfo(
        stream: StreamHandle, status: Out<u32>, id: Out<u64>, _graph: usize, _dependencies: usize,
        _edges: usize, count: Out<usize>,
    ) + cudaStreamGetCaptureInfo_ptsz |session| {
        session.stream(stream)?;
        id.set_if_wanted(0);
        count.set_if_wanted(0);
        status.set(NOT_CAPTURING)
    }

    fn cudaThreadExchangeStreamCaptureMode(mode: Out<u32>) |_session| {
        mode.set(0)
    }
}

//! What crosses the process boundary, and how: frames on a private socket, a little-endian `u32`
//! of length and as many bytes of JSON. A frame from the judge may carry a descriptor.
//!
//! Nothing here has room for a seed, an expected output or a tolerance. What the worker answers
//! are claims: whoever controls the worker may write here whatever it likes.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::sandbox::Isolation;
use crate::card::Ceilings;
use crate::device::{Argument, Buffer, Call, DeviceError, Order, Reading, Target};

/// The longest frame that is taken from a worker, who may claim anything.
pub const LONGEST_FRAME: usize = 16 << 20;
/// And from a device, which tells the truth: a million launches with their counters.
const LONGEST_OF_DEVICE: usize = 2 << 30;

/// From the judge to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// The first: get hold of the GPU that will be needed, then go into the sandbox, from where the
    /// library can still be opened. Answered by `Confined`, or by `Refused` where there is no such GPU.
    Confine { scratch: PathBuf, library: Option<PathBuf>, gpu: Option<usize> },
    /// Open the artifact; for the emulator with the descriptor of the segment that its process has, too.
    /// Answered by `Opened` or `Refused`.
    Open { library: PathBuf, target: Target },
    /// Comes with a descriptor: map this many bytes of it, instead of what was mapped before.
    /// Answered by `Mapped` or `Refused`.
    Map { len: usize },
    /// Call `solution` once, on the mapped memory, or on a device that has it at `base`. Answered by `Called`.
    Call { buffers: Vec<Buffer>, arguments: Vec<Argument>, base: Option<u64>, limit: Duration },
    /// Measure the GPU's memory. Answered by `Measured` or `Refused`.
    Ceilings,
    /// Keep what the last call was given, as content 0 or 1. Answered by `Done` or `Failed`.
    Keep { content: usize },
    /// Time a series of calls. Answered by `Timed` or `Failed`.
    Time(Order),
    /// Copy what call `index` of the series left to the mapped memory. Answered by `Done` or
    /// `Failed`.
    Fetch { index: usize },
}

/// From the worker to the judge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Outcome {
    Confined(Isolation),
    Opened,
    Mapped,
    Called(Call),
    Measured(Ceilings),
    Done,
    Timed(Vec<Reading>),
    Refused(String),
    Failed(DeviceError),
}

/// From the warden to the judge, once: how the worker ended and what it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// Processes that were still alive when the worker was gone, and had to be killed.
    pub leftovers: u32,
}

/// Sends one frame.
///
/// # Errors
///
/// The socket's; `InvalidData` where the frame would be too long.
pub fn send<T: Serialize>(
    socket: BorrowedFd<'_>,
    message: &T,
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let len = frame.len() - 4;
    let len = u32::try_from(len)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "frame too long"))?;
    frame[..4].copy_from_slice(&len.to_le_bytes());

    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let rights: Vec<_> = descriptor.into_iter().collect();
    if !rights.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&rights));
    }
    let mut sent = 0;
    while sent < frame.len() {
        let rest = [IoSlice::new(&frame[sent..])];
        match rustix::net::sendmsg(socket, &rest, &mut control, SendFlags::NOSIGNAL) {
            Ok(bytes) => sent += bytes,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        control.clear();
    }
    Ok(())
}

/// Waits for one frame; `None` at the end of the stream.
///
/// # Errors
///
/// The socket's; `InvalidData` for anything that is no frame.
pub fn receive<T: DeserializeOwned>(
    socket: BorrowedFd<'_>,
) -> io::Result<Option<(T, Option<OwnedFd>)>> {
    let mut inbox = Inbox::default();
    let mut descriptor = None;
    loop {
        if let Some(message) = inbox.take()? {
            return Ok(Some((message, descriptor)));
        }
        // Never more than the frame at hand: a descriptor must stay with its own.
        let mut bytes = vec![0; inbox.missing()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let read = {
            let mut into = [IoSliceMut::new(&mut bytes)];
            match rustix::net::recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) => message.bytes,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(mut fds) = message {
                descriptor = fds.next();
            }
        }
        if read == 0 {
            return Ok(None);
        }
        inbox.extend(&bytes[..read]);
    }
}

/// Bytes of a frame as they arrive.
#[derive(Debug)]
pub struct Inbox {
    bytes: Vec<u8>,
    longest: usize,
}

impl Default for Inbox {
    fn default() -> Self {
        Self { bytes: Vec::new(), longest: LONGEST_FRAME }
    }
}

impl Inbox {
    /// For what a device says.
    pub fn of_device() -> Self {
        Self { longest: LONGEST_OF_DEVICE, ..Self::default() }
    }

    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes until the frame at hand, or its length, is whole.
    fn missing(&self) -> usize {
        let whole = self.len().map_or(4, |len| 4 + len.min(self.longest));
        whole.saturating_sub(self.bytes.len())
    }

    fn len(&self) -> Option<usize> {
        let head = self.bytes.first_chunk()?;
        Some(u32::from_le_bytes(*head) as usize)
    }

    /// The next message, once it is whole.
    ///
    /// # Errors
    ///
    /// `InvalidData` for a frame too long or not of this type.
    pub fn take<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(len) = self.len() else { return Ok(None) };
        if len > self.longest {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "frame too long"));
        }
        if self.bytes.len() < 4 + len {
            return Ok(None);
        }
        let message = serde_json::from_slice(&self.bytes[4..4 + len])?;
        self.bytes.drain(..4 + len);
        Ok(Some(message))
    }
}

/// Reads what is there without waiting: `false` at the end of the stream.
///
/// # Errors
///
/// The socket's.
pub fn drain(socket: &impl AsFd, inbox: &mut Inbox) -> io::Result<bool> {
    let mut bytes = [0; 16 << 10];
    loop {
        match rustix::net::recv(socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) | Err(rustix::io::Errno::CONNRESET) => return Ok(false),
            Ok((read, _)) => inbox.extend(&bytes[..read]),
            Err(rustix::io::Errno::AGAIN) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn a_descriptor_stays_with_its_frame() {
        let (judge, worker) = pair();
        let memory = rustix::fs::memfd_create(c"t", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        send(judge.as_fd(), &Request::Map { len: 1 }, None).unwrap();
        send(judge.as_fd(), &Request::Map { len: 2 }, Some(memory.as_fd())).unwrap();
        send(judge.as_fd(), &Request::Map { len: 3 }, None).unwrap();
        drop(judge);
        let mut seen = Vec::new();
        while let Some((Request::Map { len }, fd)) = receive::<Request>(worker.as_fd()).unwrap() {
            seen.push((len, fd.is_some()));
        }
        assert_eq!(seen, [(1, false), (2, true), (3, false)]);
    }

    #[test]
    fn frames_arrive_byte_by_byte_and_two_at_once() {
        let end = End { exit_code: Some(3), signal: None, leftovers: 0 };
        let (judge, worker) = pair();
        send(worker.as_fd(), &end, None).unwrap();
        send(worker.as_fd(), &end, None).unwrap();
        let mut all = Inbox::default();
        assert!(drain(&judge, &mut all).unwrap());
        let mut inbox = Inbox::default();
        let mut taken = 0;
        for byte in &all.bytes {
            inbox.extend(&[*byte]);
            if let Some(message) = inbox.take::<End>().unwrap() {
                assert_eq!(message, end);
                taken += 1;
            }
        }
        assert_eq!(taken, 2);
        assert_eq!(all.take::<End>().unwrap(), Some(end));
        assert_eq!(all.take::<End>().unwrap(), Some(end));
        assert_eq!(all.take::<End>().unwrap(), None);
    }

    #[test]
    fn nonsense_is_an_error_and_takes_no_memory() {
        let mut inbox = Inbox::default();
        inbox.extend(&[0xff; 64]);
        assert!(inbox.take::<Outcome>().is_err());
        let mut inbox = Inbox::default();
        inbox.extend(&[2, 0, 0, 0, b'{', b'x']);
        assert!(inbox.take::<Outcome>().is_err());
    }
}

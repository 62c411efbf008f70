//! The client's end: requests as functions.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::DeserializeOwned;

use crate::error::{Code, Failure, Outcome};
use crate::protocol::geometry::{Fill, Grid, Shape};
use crate::protocol::launch::Launch;
use crate::protocol::segment::{HALF, Segment};
use crate::protocol::{
    Address, Found, KernelInfo, Launched, Model, ModuleId, Piece, Request, Symbol, Wanted,
};

/// A device in another process.
#[derive(Debug)]
pub struct Connection {
    segment: Segment,
    turn: Cell<u32>,
    /// The request as it is written, so that none needs memory of its own.
    frame: RefCell<Vec<u8>>,
    /// Who opened it: a fork of that process has no device, as on a GPU.
    process: u32,
    /// A socket whose other end the device has, where this process is to find out that it is gone.
    lifeline: Option<OwnedFd>,
    pub(crate) model: Model,
}

impl Connection {
    /// # Errors
    ///
    /// Where the device does not answer.
    pub fn open(segment: Segment, lifeline: Option<OwnedFd>) -> io::Result<Self> {
        let mut connection = Self {
            segment,
            turn: Cell::new(0),
            frame: RefCell::default(),
            process: std::process::id(),
            lifeline,
            model: Model::default(),
        };
        connection.model = connection
            .ask(&Request::Hello)
            .map_err(|failure| io::Error::new(io::ErrorKind::NotConnected, failure.detail))?;
        Ok(connection)
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    fn post(&self, request: &Request<'_>) -> Outcome {
        if std::process::id() != self.process {
            return Err(Code::INITIALIZATION.because("a forked process has no device"));
        }
        let mut frame = self.frame.borrow_mut();
        frame.clear();
        postcard::to_io(request, &mut *frame).map_err(|_| lost())?;
        self.turn.set(self.turn.get().wrapping_add(1));
        self.segment.ask(&frame, self.turn.get());
        Ok(())
    }

    fn take<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let reply = self.segment.reply(self.turn.get(), || self.is_there()).ok_or_else(lost)?;
        postcard::from_bytes::<Result<T, Failure>>(&reply).map_err(|_| lost())?
    }

    fn ask<T: DeserializeOwned>(&self, request: &Request<'_>) -> Result<T, Failure> {
        self.post(request)?;
        self.take()
    }

    /// A process that nobody told of the device's end waits for its own: the judge sees to that.
    fn is_there(&self) -> bool {
        self.lifeline.as_ref().is_none_or(|socket| {
            let mut waiting = [PollFd::new(socket, PollFlags::RDHUP)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            !matches!(poll(&mut waiting, Some(&now)), Ok(ready) if ready > 0)
        })
    }

    pub(crate) fn allocate(&self, wanted: Wanted, bytes: u64) -> Result<Address, Failure> {
        let address = self.ask(&Request::Allocate { wanted, bytes })?;
        if wanted != Wanted::Device {
            self.segment.open(address, bytes, true).map_err(no_memory)?;
        }
        Ok(address)
    }

    /// Ends an allocation; of the host's memory so many bytes are closed.
    pub(crate) fn free(&self, address: Address, host_bytes: Option<u64>) -> Outcome {
        if let Some(bytes) = host_bytes {
            self.segment.open(address, bytes, false).map_err(no_memory)?;
        }
        self.ask(&Request::Free { address })
    }

    pub(crate) fn mirror(&self, address: Address, bytes: u64, backing: Address) -> Outcome {
        self.ask(&Request::Mirror { address, bytes, backing })
    }

    pub(crate) fn unmirror(&self, address: Address) -> Outcome {
        self.ask(&Request::Unmirror { address })
    }

    pub(crate) fn register(&self, address: Address, bytes: u64) -> Outcome {
        self.ask(&Request::Register { address, bytes })
    }

    pub(crate) fn unregister(&self, address: Address) -> Outcome {
        self.ask(&Request::Unregister { address })
    }

    pub(crate) fn reserve(&self, bytes: u64) -> Result<Address, Failure> {
        self.ask(&Request::Reserve { bytes })
    }

    pub(crate) fn begin(&self, address: Address) -> Outcome {
        self.ask(&Request::Begin { address })
    }

    /// Bytes free and in all.
    pub(crate) fn room(&self) -> Result<(u64, u64), Failure> {
        self.ask(&Request::Room)
    }

    pub(crate) fn find(&self, address: Address) -> Result<Option<Found>, Failure> {
        self.ask(&Request::Find { address })
    }

    pub(crate) fn resize_heap(&self, bytes: u64) -> Result<bool, Failure> {
        self.ask(&Request::Heap { bytes })
    }

    pub(crate) fn provide_stack(&self, bytes: u32) -> Outcome {
        self.ask(&Request::Stack { bytes })
    }

    pub(crate) fn copy(&self, to: Grid, from: Grid, shape: Shape) -> Outcome {
        self.ask(&Request::Copy { to, from, shape })
    }

    pub(crate) fn fill(&self, fill: Fill) -> Outcome {
        self.ask(&Request::Fill(fill))
    }

    /// Copies from the host. While the device empties one half of the staging area the other is filled.
    ///
    /// # Safety
    ///
    /// `from` must be readable.
    pub(crate) unsafe fn upload(&self, to: Grid, from: Grid, shape: Shape) -> Outcome {
        let mut under_way = false;
        for (index, (piece, range)) in pieces(shape.bytes()?).enumerate() {
            let (mut at, _) = self.segment.staging(piece);
            for (address, bytes) in from.runs(shape, range) {
                let address = std::ptr::with_exposed_provenance::<u8>(address as usize);
                // SAFETY: the caller's promise; the piece has room for what the range has bytes.
                unsafe {
                    at.copy_from_nonoverlapping(address, bytes);
                    at = at.add(bytes);
                }
            }
            if under_way {
                self.take::<()>()?;
            }
            self.post(&match index {
                0 => Request::Upload { to, shape, piece },
                _ => Request::More { piece },
            })?;
            under_way = true;
        }
        self.take()
    }

    /// Copies to the host, likewise.
    ///
    /// # Safety
    ///
    /// `to` must be writable.
    pub(crate) unsafe fn download(&self, to: Grid, from: Grid, shape: Shape) -> Outcome {
        let mut pieces = pieces(shape.bytes()?).peekable();
        if let Some((piece, _)) = pieces.peek() {
            self.post(&Request::Download { from, shape, piece: *piece })?;
        }
        while let Some((piece, range)) = pieces.next() {
            self.take::<()>()?;
            if let Some((piece, _)) = pieces.peek() {
                self.post(&Request::More { piece: *piece })?;
            }
            let (mut at, _) = self.segment.staging(piece);
            for (address, bytes) in to.runs(shape, range) {
                let address = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
                // SAFETY: as in `upload`.
                unsafe {
                    address.copy_from_nonoverlapping(at, bytes);
                    at = at.add(bytes);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn load(&self, text: &str) -> Result<ModuleId, Failure> {
        for (piece, range) in pieces(text.len()) {
            let (to, _) = self.segment.staging(piece);
            let text = &text.as_bytes()[range];
            // SAFETY: the piece has as many bytes as the range.
            unsafe { to.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
            self.ask::<()>(&Request::Text { piece })?;
        }
        self.ask(&Request::Load)
    }

    pub(crate) fn unload(&self, module: ModuleId) -> Outcome {
        self.ask(&Request::Unload { module })
    }

    pub(crate) fn kernels(&self, module: ModuleId) -> Result<Vec<String>, Failure> {
        self.ask(&Request::Kernels { module })
    }

    pub(crate) fn kernel(
        &self,
        module: ModuleId,
        name: &str,
    ) -> Result<Option<KernelInfo>, Failure> {
        self.ask(&Request::Kernel { module, name: name.to_owned() })
    }

    pub(crate) fn symbol(&self, module: ModuleId, name: &str) -> Result<Option<Symbol>, Failure> {
        self.ask(&Request::Symbol { module, name: name.to_owned() })
    }

    pub(crate) fn launch(&self, launch: &Launch) -> Result<Launched, Failure> {
        self.ask(&Request::Launch(Cow::Borrowed(launch)))
    }

    /// What kernels have printed, `bytes` of it in the staging area, and more where that was full.
    pub(crate) fn printed(&self, mut bytes: usize, mut tell: impl FnMut(&[u8])) -> Outcome {
        while bytes > 0 {
            let (at, bytes_there) = self.segment.staging(Piece { start: 0, bytes });
            let mut text = vec![0; bytes_there];
            // SAFETY: the staging area has so many bytes.
            unsafe { at.copy_to_nonoverlapping(text.as_mut_ptr(), text.len()) };
            tell(&text);
            bytes = self.ask(&Request::Output)?;
        }
        Ok(())
    }

    pub(crate) fn host_time(&self, took: Duration) -> Outcome {
        self.ask(&Request::HostTime(took))
    }
}

/// Halves of the staging area in turn, each with the bytes of the whole that it holds.
fn pieces(bytes: usize) -> impl Iterator<Item = (Piece, std::ops::Range<usize>)> {
    (0..bytes).step_by(HALF).enumerate().map(move |(index, start)| {
        let end = bytes.min(start + HALF);
        (Piece { start: index % 2 * HALF, bytes: end - start }, start..end)
    })
}

fn lost() -> Failure {
    Code::DEVICES_UNAVAILABLE.because("the device's process is gone, or gives no sense")
}

pub(crate) fn no_memory(error: io::Error) -> Failure {
    Code::MEMORY_ALLOCATION.because(error.to_string())
}

//! The memory that client and device share, and how they take turns in it.
//!
//! One sealed `memfd`, of which neither can cut off the other's part:
//!
//! ```text
//! offset   0         turns          whose turn it is, how long the frames are
//!          4 KiB     request        1 MiB, written by the client
//!          …         reply          1 MiB, written by the device
//!          …         staging        2 halves of 2 MiB: bytes on their way to or from the host's memory
//!          16 MiB    host window    64 GiB of nothing: pinned, managed and registered memory as it is asked
//!                                   for, at one address in both processes
//! ```
//!
//! The client writes a request, then its number; the device sees the number, writes the reply, then the
//! same number. Who waits looks for a while before it sleeps (futex(2)): a launch of a small kernel is over
//! in a few microseconds, which is what it takes to wake a process.
//!
//! The client's side may be a stranger's, who writes at any moment: the device makes no reference into this
//! memory, copies out what it decides on, and bounds every length.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use rustix::thread::futex;

use super::{Address, Piece};

/// Where host memory that the device reaches lies, in both processes: Linux maps nothing there unless asked.
pub(crate) const HOST_WINDOW: Address = 0x1000_0000_0000;
pub(crate) const HOST_BYTES: u64 = 1 << 36;
/// Bytes of a page, at least: what `mmap` takes.
pub(crate) const PAGE: u64 = 4096;

const FRAME: usize = 1 << 20;
const REQUEST: usize = 4096;
const REPLY: usize = REQUEST + FRAME;
const STAGING: usize = REPLY + FRAME;
/// Bytes of half of the staging area: they stay in a processor's cache between the two who copy them.
pub(crate) const HALF: usize = 2 << 20;
const HOST: usize = 16 << 20;

const _: () = assert!(STAGING + 2 * HALF <= HOST);

/// Looks at the other's number before sleeping, some 20 µs. None where there is one processor, which the
/// other needs.
const LOOKS: u32 = 1000;
/// How long a sleep is before whoever sleeps looks whether the other is still there.
const NAP: futex::Timespec = futex::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

#[repr(C)]
struct Turns {
    request: AtomicU32,
    reply: AtomicU32,
    request_bytes: AtomicU32,
    reply_bytes: AtomicU32,
    client_sleeps: AtomicU32,
    device_sleeps: AtomicU32,
}

/// Whose end of the segment it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Device,
}

/// One end of it.
#[derive(Debug)]
pub struct Segment {
    file: OwnedFd,
    base: *mut u8,
    looks: u32,
}

// SAFETY: the mapping belongs to no thread; every access goes through atomics or copies bytes.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// A new segment, for [`Segment::map`] in two processes.
///
/// # Errors
///
/// The system's, where it has no `memfd`.
pub fn create() -> io::Result<OwnedFd> {
    let file =
        rustix::fs::memfd_create(c"nibble", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&file, HOST as u64 + HOST_BYTES)?;
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

impl Segment {
    /// # Errors
    ///
    /// The system's, where there is no address space, or something at the addresses of the host's window.
    pub fn map(file: OwnedFd, side: Side) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so nothing that exists is replaced.
        let base = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), HOST, access, MapFlags::SHARED, &file, 0)
        }?;
        let looks = if std::thread::available_parallelism()?.get() > 1 { LOOKS } else { 0 };
        let segment = Self { file, base: base.cast(), looks };
        // The client opens what it is given, so that to follow a stale pointer is a fault.
        let access = if side == Side::Device { access } else { ProtFlags::empty() };
        match segment.map_at(HOST_WINDOW, HOST_BYTES, HOST_WINDOW, access, false) {
            Ok(()) => Ok(segment),
            Err(error) => {
                // What is in the window is somebody else's.
                std::mem::forget(segment);
                Err(error)
            }
        }
    }

    fn turns(&self) -> &Turns {
        // SAFETY: the mapping begins with them, is aligned to a page and lasts; they are atomics.
        unsafe { &*self.base.cast::<Turns>() }
    }

    /// Maps pages of the host's window to another address as well: over what is there, or nowhere else.
    ///
    /// # Errors
    ///
    /// The system's; where something is there, `EEXIST`.
    fn map_at(
        &self,
        address: Address,
        bytes: u64,
        backing: Address,
        access: ProtFlags,
        over: bool,
    ) -> io::Result<()> {
        let how = if over { MapFlags::FIXED } else { MapFlags::FIXED_NOREPLACE };
        let offset = HOST as u64 + (backing - HOST_WINDOW);
        let wanted = std::ptr::with_exposed_provenance_mut(address as usize);
        let flags = MapFlags::SHARED | MapFlags::NORESERVE | how;
        // SAFETY: replaces nothing, or pages that the caller has copied there.
        let got =
            unsafe { rustix::mm::mmap(wanted, bytes as usize, access, flags, &self.file, offset) }?;
        if got != wanted {
            // A kernel before 4.17, which takes the address for a hint.
            // SAFETY: it was mapped just now.
            unsafe { rustix::mm::munmap(got, bytes as usize) }?;
            return Err(Errno::EXIST.into());
        }
        Ok(())
    }

    /// As [`Self::map_at`], where nothing is.
    pub(crate) fn mirror(&self, address: Address, bytes: u64, backing: Address) -> io::Result<()> {
        self.map_at(address, bytes, backing, ProtFlags::READ | ProtFlags::WRITE, false)
    }

    /// As [`Self::map_at`], instead of what is there.
    ///
    /// # Safety
    ///
    /// Whatever is at `address` must be the caller's to replace.
    pub(crate) unsafe fn replace(
        &self,
        address: Address,
        bytes: u64,
        backing: Address,
    ) -> io::Result<()> {
        self.map_at(address, bytes, backing, ProtFlags::READ | ProtFlags::WRITE, true)
    }

    /// Opens or closes pages of the host's window to this process.
    pub(crate) fn open(&self, address: Address, bytes: u64, open: bool) -> io::Result<()> {
        let access =
            if open { MprotectFlags::READ | MprotectFlags::WRITE } else { MprotectFlags::empty() };
        let (pages, bytes) = (pages_of(address, bytes).start, bytes.next_multiple_of(PAGE));
        // SAFETY: within the window, where nothing of Rust's is.
        unsafe {
            rustix::mm::mprotect(
                std::ptr::with_exposed_provenance_mut(pages as usize),
                bytes as usize,
                access,
            )
        }?;
        Ok(())
    }

    /// Gives pages of the host's window back to the system: they read as zeros from here on.
    pub(crate) fn empty(&self, address: Address, bytes: u64) -> io::Result<()> {
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let offset = HOST as u64 + (address - HOST_WINDOW);
        rustix::fs::fallocate(&self.file, how, offset, bytes)?;
        Ok(())
    }

    /// Where a piece of the staging area is, cut to what there is.
    pub(crate) fn staging(&self, piece: Piece) -> (*mut u8, usize) {
        let start = piece.start.min(2 * HALF);
        // SAFETY: inside the mapping.
        (unsafe { self.base.add(STAGING + start) }, piece.bytes.min(2 * HALF - start))
    }

    /// The client's: writes a request, to which the reply will have the number `turn`. One that is too long
    /// arrives as none.
    pub(crate) fn ask(&self, request: &[u8], turn: u32) {
        let turns = self.turns();
        let bytes = if request.len() > FRAME { 0 } else { request.len() };
        // SAFETY: the frame has the room.
        unsafe { self.base.add(REQUEST).copy_from_nonoverlapping(request.as_ptr(), bytes) };
        turns.request_bytes.store(bytes as u32, Ordering::Relaxed);
        pass(&turns.request, turn, &turns.device_sleeps);
    }

    /// The client's: waits for the reply `turn`. `None` where nobody is there any more to give it.
    pub(crate) fn reply(&self, turn: u32, is_there: impl Fn() -> bool) -> Option<Vec<u8>> {
        let turns = self.turns();
        let came = |number| number == turn;
        wait(&turns.reply, came, &turns.client_sleeps, self.looks, is_there)?;
        Some(self.copied(REPLY, &turns.reply_bytes))
    }

    /// The device's: waits for a request that does not have the number `last`.
    pub(crate) fn next(&self, last: u32) -> (u32, Vec<u8>) {
        let turns = self.turns();
        let came = |number| number != last;
        let turn = wait(&turns.request, came, &turns.device_sleeps, self.looks, || true);
        (turn.unwrap_or(last), self.copied(REQUEST, &turns.request_bytes))
    }

    /// The device's: replies to the request `turn`.
    pub(crate) fn answer(&self, reply: &[u8], turn: u32) {
        let turns = self.turns();
        let bytes = if reply.len() > FRAME { 0 } else { reply.len() };
        // SAFETY: the frame has the room.
        unsafe { self.base.add(REPLY).copy_from_nonoverlapping(reply.as_ptr(), bytes) };
        turns.reply_bytes.store(bytes as u32, Ordering::Relaxed);
        pass(&turns.reply, turn, &turns.client_sleeps);
    }

    fn copied(&self, frame: usize, bytes: &AtomicU32) -> Vec<u8> {
        let bytes = (bytes.load(Ordering::Relaxed) as usize).min(FRAME);
        let mut copy: Vec<u8> = Vec::with_capacity(bytes);
        // SAFETY: the frame has so many bytes, and the vector the room.
        unsafe {
            copy.as_mut_ptr().copy_from_nonoverlapping(self.base.add(frame), bytes);
            copy.set_len(bytes);
        }
        copy
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let window = std::ptr::with_exposed_provenance_mut(HOST_WINDOW as usize);
        // SAFETY: both were mapped by `map`, and no reference into them is left.
        unsafe {
            let _ = rustix::mm::munmap(self.base.cast(), HOST);
            let _ = rustix::mm::munmap(window, HOST_BYTES as usize);
        }
    }
}

/// The pages that hold a range.
pub(crate) fn pages_of(address: Address, bytes: u64) -> Range<Address> {
    address / PAGE * PAGE..(address + bytes).next_multiple_of(PAGE)
}

/// Writes a number that the other may sleep on.
fn pass(word: &AtomicU32, number: u32, other_sleeps: &AtomicU32) {
    // In one order with the other's `sleeps` and its last look: one of the two sees the other's word.
    word.store(number, Ordering::SeqCst);
    if other_sleeps.load(Ordering::SeqCst) != 0 {
        let _ = futex::wake(word, futex::Flags::empty(), 1);
    }
}

/// Waits for a number; `None` once nobody is there to write it.
fn wait(
    word: &AtomicU32,
    came: impl Fn(u32) -> bool,
    sleeps: &AtomicU32,
    looks: u32,
    is_there: impl Fn() -> bool,
) -> Option<u32> {
    for _ in 0..looks {
        let number = word.load(Ordering::Acquire);
        if came(number) {
            return Some(number);
        }
        std::hint::spin_loop();
    }
    loop {
        sleeps.store(1, Ordering::SeqCst);
        let number = word.load(Ordering::SeqCst);
        if !came(number) {
            // Woken, timed out or interrupted: the word says which.
            let _ = futex::wait(word, futex::Flags::empty(), number, Some(&NAP));
        }
        sleeps.store(0, Ordering::SeqCst);
        let number = word.load(Ordering::SeqCst);
        if came(number) {
            return Some(number);
        }
        if !is_there() {
            return None;
        }
    }
}

//! The memory that judge and worker share: the solution's buffers, each between two red zones.
//!
//! ```text
//!  page-aligned          offset                offset + len
//!      ▼                   ▼                        ▼
//!      ├─ red zone, 4 KiB ─┼──── a: len bytes ──────┼─ red zone, 4 KiB or more ─┼─ next buffer …
//! ```
//!
//! The zone behind a buffer begins at its very end, so that one byte too many shows. The memory is
//! a sealed `memfd`: the worker cannot shrink it under the judge's feet. Each case gets its own, so
//! that a straggler of an earlier call (a thread that still writes) finds nothing of the next.
//!
//! The worker may write at any moment, even while the judge reads. Hence the judge never decides
//! on this memory: it copies out once, and decides on the copy. It reads and writes the memory as a file:
//! whole pages that a write fills are not cleared before, and no page is faulted in. A check of 40 cases takes
//! 0.96 s and not 1.10. (Huge pages for the judge's copies, and mapping all pages at once: 1.08 s.)

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use crate::device::Buffer;

/// Bytes of red zone on each side of a buffer, at least. A page: an overrun by one row of the
/// smallest problem still falls into it.
pub const RED_ZONE: usize = 4096;

/// A shared mapping of a descriptor; unmapped when dropped.
#[derive(Debug)]
pub struct Map {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to no thread; every access copies through raw pointers.
unsafe impl Send for Map {}

impl Map {
    /// # Errors
    ///
    /// The system's, where `fd` has no `len` bytes to map or memory is short.
    pub fn new(fd: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so nothing that exists is replaced.
        let base = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), len, access, MapFlags::SHARED, fd, 0)
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, len })
    }

    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours alone, and no reference into it exists.
        let unmapped = unsafe { rustix::mm::munmap(self.base().cast(), self.len) };
        debug_assert!(unmapped.is_ok());
    }
}

/// A write outside of a buffer, found in a red zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfBoundsWrite {
    pub buffer: String,
    /// Of the first byte written, from the buffer's first byte; negative before it.
    pub offset: i64,
    /// The buffer's size.
    pub len: usize,
    /// Bytes of the zone that changed.
    pub bytes: usize,
}

/// The judge's end: one `memfd`, laid out for one case.
#[derive(Debug)]
pub struct Shared {
    file: File,
    len: usize,
    buffers: Vec<Buffer>,
    /// Of the pattern in the red zones; fresh each time, so that no solution writes it by habit.
    key: u64,
}

impl Shared {
    /// Lays out buffers of these names and byte sizes. Buffer contents are zero.
    ///
    /// # Errors
    ///
    /// The system's, where memory is short.
    pub fn new<'n>(sizes: impl IntoIterator<Item = (&'n str, usize)>) -> io::Result<Self> {
        let mut end = 0;
        let mut buffers = Vec::new();
        for (name, len) in sizes {
            let offset = end + RED_ZONE;
            end = (offset + len).next_multiple_of(RED_ZONE) + RED_ZONE;
            let (name, red_zone) = (name.to_owned(), RED_ZONE);
            buffers.push(Buffer { name, offset, len, red_zone, blank: false });
        }
        let len = end.max(RED_ZONE);
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create(c"nibble", flags)?);
        rustix::fs::ftruncate(&file, len as u64)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let shared = Self { file, len, buffers, key: u64::from_le_bytes(crate::random::bytes()?) };
        for (_, zone) in shared.zones() {
            shared.file.write_all_at(&shared.pattern(&zone), zone.start as u64)?;
        }
        Ok(shared)
    }

    /// Say that what a buffer holds means nothing.
    pub fn blank(&mut self, buffer: usize) {
        self.buffers[buffer].blank = true;
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Copies `bytes` to the start of buffer `index`.
    ///
    /// # Errors
    ///
    /// The system's, where memory is short.
    pub fn upload(&self, index: usize, bytes: &[u8]) -> io::Result<()> {
        assert!(bytes.len() <= self.buffers[index].len);
        self.file.write_all_at(bytes, self.buffers[index].offset as u64)
    }

    /// Copies the start of buffer `index` out.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn download(&self, index: usize, bytes: &mut [u8]) -> io::Result<()> {
        assert!(bytes.len() <= self.buffers[index].len);
        self.file.read_exact_at(bytes, self.buffers[index].offset as u64)
    }

    /// Byte offset of the first difference between buffer `index` and `bytes`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn first_change(&self, index: usize, bytes: &[u8]) -> io::Result<Option<usize>> {
        // Copied piecewise, so that a large input is not held a third time.
        let mut piece = vec![0; bytes.len().min(1 << 20)];
        for start in (0..bytes.len()).step_by(1 << 20) {
            let wanted = &bytes[start..bytes.len().min(start + (1 << 20))];
            let piece = &mut piece[..wanted.len()];
            self.file.read_exact_at(piece, (self.buffers[index].offset + start) as u64)?;
            if piece != wanted {
                let first = piece.iter().zip(wanted).position(|(a, b)| a != b);
                return Ok(first.map(|at| start + at));
            }
        }
        Ok(None)
    }

    /// Writes outside of the buffers, at most one for each red zone.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn out_of_bounds_writes(&self) -> io::Result<Vec<OutOfBoundsWrite>> {
        let mut found = Vec::new();
        for (buffer, zone) in self.zones() {
            let wanted = self.pattern(&zone);
            let mut bytes = vec![0; zone.len()];
            self.file.read_exact_at(&mut bytes, zone.start as u64)?;
            let changed = |at: &usize| bytes[*at] != wanted[*at];
            if let Some(first) = (0..zone.len()).find(changed) {
                found.push(OutOfBoundsWrite {
                    buffer: buffer.name.clone(),
                    offset: (zone.start + first) as i64 - buffer.offset as i64,
                    len: buffer.len,
                    bytes: (0..zone.len()).filter(changed).count(),
                });
            }
        }
        Ok(found)
    }

    fn zones(&self) -> impl Iterator<Item = (&Buffer, Range<usize>)> {
        self.buffers.iter().flat_map(|buffer| {
            let end = buffer.offset + buffer.len;
            let before = buffer.offset - RED_ZONE..buffer.offset;
            let behind = end..end.next_multiple_of(RED_ZONE) + RED_ZONE;
            [(buffer, before), (buffer, behind)]
        })
    }

    /// What a red zone must hold: the key and the position, mixed (the finalizer of SplitMix64,
    /// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
    fn pattern(&self, zone: &Range<usize>) -> Vec<u8> {
        let byte = |position: usize| {
            let mut word = self.key ^ position as u64;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (word ^ (word >> 31)) as u8
        };
        zone.clone().map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_too_far_on_either_side_is_found() {
        let shared = Shared::new([("a", 100), ("q", 5000)]).unwrap();
        assert_eq!(shared.out_of_bounds_writes().unwrap(), []);
        let a = &shared.buffers()[0];
        let q = &shared.buffers()[1];
        for (at, bytes) in [(a.offset + 100, 3), (q.offset - 1, 1)] {
            let mut old = vec![0; bytes];
            shared.file.read_exact_at(&mut old, at as u64).unwrap();
            old.iter_mut().for_each(|byte| *byte = !*byte);
            shared.file.write_all_at(&old, at as u64).unwrap();
        }
        let found = shared.out_of_bounds_writes().unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].buffer.as_str(), found[0].offset, found[0].bytes), ("a", 100, 3));
        assert_eq!((found[1].buffer.as_str(), found[1].offset, found[1].bytes), ("q", -1, 1));
    }

    #[test]
    fn what_the_solution_may_touch_is_no_out_of_bounds_write() {
        let shared = Shared::new([("a", 4096), ("b", 1)]).unwrap();
        shared.upload(0, &[7; 4096]).unwrap();
        shared.upload(1, &[7]).unwrap();
        assert_eq!(shared.out_of_bounds_writes().unwrap(), []);
        assert_eq!(shared.first_change(0, &[7; 4096]).unwrap(), None);
        let mut other = [7; 4096];
        other[4000] = 8;
        assert_eq!(shared.first_change(0, &other).unwrap(), Some(4000));
        let mut out = [0; 4096];
        shared.download(0, &mut out).unwrap();
        assert_eq!(out, [7; 4096]);
    }

    #[test]
    fn the_worker_cannot_shrink_it() {
        let shared = Shared::new([("a", 10)]).unwrap();
        assert!(rustix::fs::ftruncate(shared.fd(), 0).is_err());
    }
}

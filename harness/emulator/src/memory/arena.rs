//! Where allocations live: one reserved stretch of address space. What it hands out are addresses in it,
//! or, for memory that is apart, those of the [device window](super::device_window).
//!
//! Addresses are handed out upwards and not again until the arena has been walked through, so that
//! a pointer kept after `cudaFree` points at nothing for a long time and the fault can still name
//! the array it used to be. Between two allocations lies a gap, so that no overrun reaches the
//! neighbour by luck. Reserving costs nothing: pages exist once they are touched.

use std::sync::Mutex;

use super::device_window::{DeviceWindow, WINDOW, WINDOW_BYTES};

/// Address space reserved, bytes.
const RESERVED: usize = WINDOW_BYTES as usize;
/// What is tried instead where the machine limits address space.
const RESERVED_SMALL: usize = 1 << 33;
/// As the runtime promises for `cudaMalloc` (CUDA C++ Programming Guide 6.2.2), and a page, so that
/// freed memory can be given back.
const ALIGNMENT: usize = 4096;
const GAP: usize = 4096;

#[derive(Debug, thiserror::Error)]
#[error("out of device memory: {requested} bytes asked for, {free} free")]
pub struct OutOfMemory {
    pub requested: u64,
    pub free: u64,
}

pub struct Arena {
    base: *mut u8,
    /// What is handed out for the first byte.
    first: u64,
    reserved: usize,
    /// Most bytes in use at a time: the modelled GPU's memory.
    capacity: u64,
    state: Mutex<State>,
}

struct State {
    next: usize,
    used: u64,
    /// Freed stretches (offset, length), oldest first; reused only when `next` hits the end.
    freed: Vec<(usize, usize)>,
}

// SAFETY: `base` is a mapping that lives as long as the arena; the bookkeeping is behind a mutex.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// With `apart`, the host cannot follow the addresses.
    pub fn new(capacity: u64, apart: bool) -> Self {
        let (base, reserved) = [RESERVED, RESERVED_SMALL]
            .into_iter()
            .map(|size| (map(size, anywhere()), size))
            .find(|(base, _)| !base.is_null())
            .unwrap_or((std::ptr::null_mut(), 0));
        let state = State { next: GAP, used: 0, freed: Vec::new() };
        let first = if apart { WINDOW } else { base.expose_provenance() as u64 };
        Self { base, first, reserved, capacity, state: Mutex::new(state) }
    }

    /// Whether the host cannot follow the addresses.
    pub fn is_apart(&self) -> bool {
        self.first == WINDOW
    }

    /// From the addresses that are handed out to those of the bytes.
    pub fn window(&self) -> DeviceWindow {
        if self.is_apart() {
            DeviceWindow::at(self.base.expose_provenance() as u64)
        } else {
            DeviceWindow::default()
        }
    }

    /// Zeroed memory of at least `len` bytes, aligned to a page.
    pub fn allocate(&self, len: u64) -> Result<u64, OutOfMemory> {
        self.take(len, |address, size| {
            // SAFETY: the stretch is the arena's and unused, so changing its protection harms nobody.
            unsafe { libc::mprotect(address, size, libc::PROT_READ | libc::PROT_WRITE) == 0 }
        })
    }

    /// Another place of a shared mapping that the caller keeps alive: `len` bytes from `host`.
    pub fn adopt(&self, host: u64, len: u64) -> Result<u64, OutOfMemory> {
        self.take(len, |address, size| {
            let host = std::ptr::with_exposed_provenance_mut(host as usize);
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            // SAFETY: an old size of nothing leaves the mapping and adds a second one (mremap(2)) over a
            // stretch that is the arena's and unused.
            unsafe { libc::mremap(host, 0, size, flags, address) == address }
        })
    }

    fn take(
        &self,
        len: u64,
        fill: impl FnOnce(*mut libc::c_void, usize) -> bool,
    ) -> Result<u64, OutOfMemory> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let refuse = |used| OutOfMemory { requested: len, free: self.capacity - used };
        if len > self.capacity - state.used {
            return Err(refuse(state.used));
        }
        let size = (len as usize).max(1).next_multiple_of(ALIGNMENT);
        let offset = if state.next + size + GAP <= self.reserved {
            let offset = state.next;
            state.next += size + GAP;
            offset
        } else {
            let found = state.freed.iter().position(|&(_, length)| length >= size);
            let index = found.ok_or_else(|| refuse(state.used))?;
            let (offset, length) = state.freed.remove(index);
            if length >= size + GAP + ALIGNMENT {
                state.freed.push((offset + size + GAP, length - size - GAP));
            }
            offset
        };
        // SAFETY: `offset..offset + size` lies inside the reserved mapping.
        let address = unsafe { self.base.add(offset) };
        if !fill(address.cast(), size) {
            return Err(refuse(state.used));
        }
        state.used += size as u64;
        Ok(self.first + offset as u64)
    }

    /// Give back what `allocate` or `adopt` returned for `len`.
    pub fn free(&self, address: u64, len: u64) {
        let size = (len as usize).max(1).next_multiple_of(ALIGNMENT);
        let offset = (address - self.first) as usize;
        // SAFETY: the caller owns the stretch, which lies inside the mapping; a fresh mapping over it drops its pages and makes
        // every later touch from the host a clean crash.
        unsafe {
            libc::mmap(
                self.base.add(offset).cast(),
                size,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            );
        }
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.used -= size as u64;
        state.freed.push((offset, size));
    }

    /// Bytes that can still be allocated, and bytes in all.
    pub fn room(&self) -> (u64, u64) {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        (self.capacity - state.used, self.capacity)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.reserved > 0 {
            // SAFETY: unmaps exactly what `map` returned.
            unsafe { libc::munmap(self.base.cast(), self.reserved) };
        }
    }
}

/// A page in the lower half of the address space, no matter which, but far from heaps and libraries: what
/// another process has there must find its addresses free in this one to be shared with it, and 256 GiB
/// among them are in the way of every fifth.
fn anywhere() -> usize {
    let mut bytes = [0u8; 8];
    // SAFETY: writes at most as many bytes as there are. Where it fails the kernel chooses the place.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got != bytes.len() as isize {
        return 0;
    }
    // Between 0x2040_… and 0x5000_…, so that what is reserved fits below the libraries.
    let above = WINDOW + WINDOW_BYTES;
    ((above + u64::from_le_bytes(bytes) % (0x5000_0000_0000 - above)) & !0xfff) as usize
}

fn map(size: usize, hint: usize) -> *mut u8 {
    // SAFETY: asks for fresh address space at the hint or anywhere; nothing existing is touched.
    let base = unsafe {
        libc::mmap(
            std::ptr::without_provenance_mut(hint),
            size,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED { std::ptr::null_mut() } else { base.cast() }
}

//! Where device allocations live: one reserved stretch of address space.
//!
//! Addresses are handed out upwards and not again until the arena has been walked through, so that
//! a pointer kept after `cudaFree` points at nothing for a long time and the fault can still name
//! the array it used to be. Between two allocations lies a gap, so that no overrun reaches the
//! neighbour by luck. Reserving costs nothing: pages exist once they are touched.

use std::sync::Mutex;

/// Address space reserved, bytes.
const RESERVED: usize = 1 << 38;
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
    pub fn new(capacity: u64) -> Self {
        let (base, reserved) = [RESERVED, RESERVED_SMALL]
            .into_iter()
            .map(|size| (map(size), size))
            .find(|(base, _)| !base.is_null())
            .unwrap_or((std::ptr::null_mut(), 0));
        let state = State { next: GAP, used: 0, freed: Vec::new() };
        Self { base, reserved, capacity, state: Mutex::new(state) }
    }

    /// Zeroed memory of at least `len` bytes, aligned to a page.
    pub fn allocate(&self, len: u64) -> Result<u64, OutOfMemory> {
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
        // SAFETY: as above; the stretch is unused, so changing its protection harms nobody.
        let rc =
            unsafe { libc::mprotect(address.cast(), size, libc::PROT_READ | libc::PROT_WRITE) };
        if rc != 0 {
            return Err(refuse(state.used));
        }
        state.used += size as u64;
        Ok(address as u64)
    }

    /// Give back what `allocate` returned for `len`.
    pub fn free(&self, address: u64, len: u64) {
        let size = (len as usize).max(1).next_multiple_of(ALIGNMENT);
        let pointer = address as *mut libc::c_void;
        // SAFETY: the caller owns the stretch; a fresh mapping over it drops its pages and makes
        // every later touch from the host a clean crash.
        unsafe {
            libc::mmap(
                pointer,
                size,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            );
        }
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.used -= size as u64;
        state.freed.push((address as usize - self.base as usize, size));
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

fn map(size: usize) -> *mut u8 {
    // SAFETY: asks for fresh address space anywhere; nothing existing is touched.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED { std::ptr::null_mut() } else { base.cast() }
}

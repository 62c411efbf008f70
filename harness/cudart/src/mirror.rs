//! Memory that the program has made itself, and that the device is to reach (`cudaHostRegister`).
//!
//! It must be at one address in both processes. So its pages are taken from the window that both have: what
//! is in the program's own pages is copied there, and the new pages take their place. When nothing in them
//! is registered any more, private pages take the place of those.
//!
//! ```text
//! before   program  0x55…1000 ─► its own page
//! after    program  0x55…1000 ─► page of the window ◄─ 0x55…1000  device
//! ```
//!
//! A page may hold other things than what is registered, and another registration. Other threads must not
//! write to the pages in the moment of the exchange: what they write may be lost. The caller's own stack
//! rests meanwhile, because another thread does the work. Where the device has something of its own at the
//! address, which is by chance, the memory cannot be registered.

use std::thread;

use rustix::mm::{MapFlags, MremapFlags, ProtFlags};

use super::abi::Address;
use super::allocation::{Allocation, MemoryKind, Owner};
use super::connection::{Connection, no_memory};
use super::error::{Code, Failure, Outcome};
use super::session::Session;
use crate::protocol::Wanted;
use crate::protocol::segment::{PAGE, Segment, pages_of};
use emulator::DeviceWindow;

fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Puts pages of the window in the place of the program's.
fn to_window(segment: &Segment, address: Address, bytes: u64, backing: Address) -> Outcome {
    // SAFETY: the program vouches for its memory; the window's pages are open, and its own from now on.
    unsafe {
        pointer(backing).copy_from_nonoverlapping(pointer(address), bytes as usize);
        segment.replace(address, bytes, backing).map_err(no_memory)
    }
}

/// Puts private pages in the place of the window's.
fn to_program(address: Address, bytes: u64) -> Outcome {
    let len = bytes as usize;
    let (access, how) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: fresh pages anywhere, into which those are copied whose place they then take.
    let exchanged = unsafe {
        rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, access, how).and_then(|fresh| {
            fresh.cast::<u8>().copy_from_nonoverlapping(pointer(address), len);
            let how = MremapFlags::MAYMOVE;
            rustix::mm::mremap_fixed(fresh, len, len, how, pointer(address).cast())
        })
    };
    exchanged.map(drop).map_err(|error| no_memory(error.into()))
}

/// Does something to pages that the caller's stack may lie in.
fn aside(act: impl FnOnce() -> Outcome + Send) -> Outcome {
    let failed = || Code::MEMORY_ALLOCATION.because("there is no thread to exchange pages");
    thread::scope(|scope| {
        let helper = thread::Builder::new().spawn_scoped(scope, act).map_err(|_| failed())?;
        helper.join().map_err(|_| failed())?
    })
}

impl Session {
    pub fn host_register(&mut self, address: Address, bytes: usize, flags: u32) -> Outcome {
        let bytes = bytes as u64;
        let end = address.checked_add(bytes).filter(|end| end.checked_add(PAGE).is_some());
        let Some(end) = end.filter(|_| address != 0 && bytes != 0) else {
            return Err(Code::INVALID_VALUE.because("it is no range of memory"));
        };
        let inside = self.allocations.range(address..end).next().is_some();
        if inside
            || self.allocation(address).is_some()
            || self.allocation(end - 1).is_some()
            || DeviceWindow::holds(address)
        {
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED.because("the device can reach it"));
        }
        self.mirror(address, bytes)?;
        self.connection.register(address, bytes)?;
        let (len, kind, owner) = (bytes, MemoryKind::Host, Owner::Program);
        self.allocations.insert(address, Allocation { len, kind, owner, flags });
        Ok(())
    }

    pub fn host_unregister(&mut self, address: Address) -> Outcome {
        match self.allocations.get(&address) {
            Some(Allocation { owner: Owner::Program, len, .. }) => {
                let bytes = *len;
                self.connection.unregister(address)?;
                self.allocations.remove(&address);
                self.forget_mirrors(address, bytes)
            }
            _ => Err(Code::HOST_MEMORY_NOT_REGISTERED.because("it was not registered")),
        }
    }

    /// Shares the pages of a range, those that are not shared yet.
    fn mirror(&mut self, address: Address, bytes: u64) -> Outcome {
        let pages = pages_of(address, bytes);
        let mut at = pages.start;
        while at < pages.end {
            if let Some((start, bytes)) = self.mirror_at(at) {
                at = start + bytes;
                continue;
            }
            let next = self.mirrors.range(at..pages.end).next().map_or(pages.end, |next| *next.0);
            let backing = exchange(&self.connection, at, next - at)?;
            self.mirrors.insert(at, (next - at, backing));
            at = next;
        }
        Ok(())
    }

    /// The shared stretch that holds an address, and its bytes.
    fn mirror_at(&self, address: Address) -> Option<(Address, u64)> {
        let (&start, &(bytes, _)) = self.mirrors.range(..=address).next_back()?;
        (address - start < bytes).then_some((start, bytes))
    }

    /// Takes back the pages of a range in which nothing else is registered.
    fn forget_mirrors(&mut self, address: Address, bytes: u64) -> Outcome {
        let pages = pages_of(address, bytes);
        let touched: Vec<_> = self
            .mirrors
            .iter()
            .map(|(&start, &(bytes, backing))| (start, bytes, backing))
            .filter(|(start, bytes, _)| *start < pages.end && pages.start < start + bytes)
            .collect();
        for (start, bytes, backing) in touched {
            let ours = |owner| owner == Owner::Program;
            let last = self.allocation(start).is_some_and(|(_, each)| ours(each.owner))
                || self.allocations.range(start..start + bytes).any(|(_, each)| ours(each.owner));
            if last {
                continue;
            }
            aside(|| to_program(start, bytes))?;
            self.connection.unmirror(start)?;
            self.connection.free(backing, Some(bytes))?;
            self.mirrors.remove(&start);
        }
        Ok(())
    }

    /// A managed variable's pages, which the device has moved to the window.
    pub fn share_variable(&mut self, address: Address, bytes: u64, backing: Address) -> Outcome {
        if self.variable_pages.contains(&address) {
            return Ok(());
        }
        let bytes = pages_of(address, bytes).end - address;
        self.connection.segment().mirror(address, bytes, backing).map_err(no_memory)?;
        self.variable_pages.insert(address);
        Ok(())
    }
}

/// Shares pages of the program's with the device; where the window has them.
fn exchange(connection: &Connection, address: Address, bytes: u64) -> Result<Address, Failure> {
    let backing = connection.allocate(Wanted::Backing, bytes)?;
    let exchanged = connection.mirror(address, bytes, backing).and_then(|()| {
        let segment = connection.segment();
        aside(|| to_window(segment, address, bytes, backing))
            .inspect_err(|_| drop(connection.unmirror(address)))
    });
    match exchanged {
        Ok(()) => Ok(backing),
        Err(failure) => {
            connection.free(backing, Some(bytes))?;
            Err(failure)
        }
    }
}

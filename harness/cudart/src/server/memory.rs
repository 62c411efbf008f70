//! Allocations, and what kernels may reach.

use emulator::{AllocationKind, OutOfMemory};

use super::Device;
use crate::error::{Code, Failure, Outcome};
use crate::protocol::segment::Segment;
use crate::protocol::{Address, Found, Wanted};

/// What the client has at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    /// Of the device.
    Device,
    /// Pinned or managed, with its bytes.
    Host(u64),
    /// Pages of the window to be mirrored, with their bytes.
    Backing(u64),
    /// Mirrored memory that kernels reach, with its bytes.
    Registered(u64),
    /// A graph's, which keeps the address.
    Graph,
}

/// Pages that a client may have: each costs the device a little, even if nobody touches it.
const ALLOCATIONS: usize = 1 << 20;

fn no_room(error: OutOfMemory) -> Failure {
    Code::MEMORY_ALLOCATION.because(error.to_string())
}

impl Device {
    pub(super) fn allocate(&mut self, wanted: Wanted, bytes: u64) -> Result<Address, Failure> {
        if self.live.len() >= ALLOCATIONS {
            return Err(Code::MEMORY_ALLOCATION.because("too many allocations"));
        }
        let word = match wanted {
            Wanted::Device => return self.allocate_of_device(bytes),
            Wanted::Pinned => Some("pinned"),
            Wanted::Managed => Some("managed"),
            Wanted::Backing => None,
        };
        // As much of the host's memory as of the device's can be in use at a time.
        let capacity = self.machine.memory().room().1;
        let free = capacity.saturating_sub(self.host_bytes);
        if bytes > free {
            return Err(no_room(OutOfMemory { requested: bytes, free }));
        }
        let address = self.window.allocate(bytes)?;
        self.host_bytes += bytes;
        let Some(word) = word else {
            self.live.insert(address, Live::Backing(bytes));
            return Ok(address);
        };
        let name = self.name(word);
        // What the host can write, too, it may have written.
        self.machine.memory().register(address, bytes, &name, false);
        self.live.insert(address, Live::Host(bytes));
        Ok(address)
    }

    fn allocate_of_device(&mut self, bytes: u64) -> Result<Address, Failure> {
        let name = self.name("device");
        let memory = self.machine.memory();
        let address = memory.allocate_as(bytes, &name, AllocationKind::Heap).map_err(no_room)?;
        self.live.insert(address, Live::Device);
        Ok(address)
    }

    fn name(&mut self, word: &str) -> String {
        self.allocated += 1;
        format!("{word} allocation {}", self.allocated)
    }

    pub(super) fn free(&mut self, address: Address, segment: &Segment) -> Outcome {
        let memory = self.machine.memory();
        match self.live.get(&address) {
            Some(Live::Device) => {
                memory.free(address);
            }
            Some(Live::Graph) => {
                memory.unregister(address);
            }
            Some(live @ (Live::Host(bytes) | Live::Backing(bytes))) => {
                if matches!(live, Live::Host(_)) {
                    memory.unregister(address);
                }
                self.window.free(address, *bytes, segment);
                self.host_bytes -= bytes;
            }
            Some(Live::Registered(_)) | None => {
                let detail = format!("{address:#x} is not the start of a live allocation");
                return Err(Code::INVALID_VALUE.because(detail));
            }
        }
        self.live.remove(&address);
        Ok(())
    }

    pub(super) fn mirror(
        &mut self,
        address: Address,
        bytes: u64,
        backing: Address,
        segment: &Segment,
    ) -> Outcome {
        match self.live.get(&backing) {
            Some(Live::Backing(room)) if bytes <= *room => {
                self.window.mirror(address, bytes, backing, segment)
            }
            _ => Err(Code::INVALID_VALUE.because("there are no such pages")),
        }
    }

    pub(super) fn unmirror(&mut self, address: Address) -> Outcome {
        let bytes = self.window.mirrored(address)?;
        // While kernels may reach it, it stays.
        let inside = |(&start, live): (&Address, &Live)| match live {
            Live::Registered(len) => start < address + bytes && address < start + len,
            _ => false,
        };
        if self.live.iter().any(inside) {
            return Err(Code::INVALID_VALUE.because("it is registered"));
        }
        self.window.unmirror(address)
    }

    pub(super) fn register(&mut self, address: Address, bytes: u64) -> Outcome {
        let memory = self.machine.memory();
        let known = |address| memory.find(address).is_some();
        if bytes == 0 || !self.window.mirrors(address, bytes) {
            return Err(Code::INVALID_VALUE.because("the device does not have it"));
        }
        let inside = self.live.range(address..address + bytes).next().is_some();
        if inside || known(address) || known(address + bytes - 1) {
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED.because("the device can reach it"));
        }
        memory.register(address, bytes, "registered host memory", false);
        self.live.insert(address, Live::Registered(bytes));
        Ok(())
    }

    pub(super) fn unregister(&mut self, address: Address) -> Outcome {
        if !matches!(self.live.get(&address), Some(Live::Registered(_))) {
            return Err(Code::HOST_MEMORY_NOT_REGISTERED.because("it was not registered"));
        }
        self.live.remove(&address);
        self.machine.memory().unregister(address);
        Ok(())
    }

    pub(super) fn reserve(&mut self, bytes: u64) -> Result<Address, Failure> {
        if self.reserved.len() >= ALLOCATIONS {
            return Err(Code::MEMORY_ALLOCATION.because("too many allocations"));
        }
        let name = self.name("device");
        let memory = self.machine.memory();
        let address = memory.allocate_as(bytes, &name, AllocationKind::Heap).map_err(no_room)?;
        memory.unregister(address);
        self.reserved.insert(address, bytes);
        Ok(address)
    }

    /// What an earlier launch of the graph has left there is gone.
    pub(super) fn begin(&mut self, address: Address) -> Outcome {
        let unknown = || Code::INVALID_VALUE.because("no graph has allocated it");
        let &bytes = self.reserved.get(&address).ok_or_else(unknown)?;
        let memory = self.machine.memory();
        memory.unregister(address);
        memory.register(address, bytes, "the memory of a graph", true);
        self.live.insert(address, Live::Graph);
        Ok(())
    }

    pub(super) fn find(&self, address: Address) -> Option<Found> {
        let info = self.machine.memory().find(address)?;
        Some(Found { base: info.base, bytes: info.len, name: info.name })
    }

    pub(super) fn resize_heap(&mut self, bytes: u64) -> Result<bool, Failure> {
        self.machine.memory().resize_heap(bytes.max(1)).map_err(no_room)
    }

    pub(super) fn provide_stack(&mut self, bytes: u32) -> Outcome {
        self.machine.provide_stack(bytes.min(STACK));
        Ok(())
    }
}

/// Bytes of a thread's stack, at most: what a GPU has of local memory for one, twice.
const STACK: u32 = 1 << 20;

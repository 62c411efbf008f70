//! Memory: of the device, pinned, managed; what a pointer points to.
//!
//! Device memory is out of the host's reach; the other kinds are at one address for both.

use super::abi::StreamHandle;
use super::abi::{Address, Extent, Location, Out, PitchedPointer, PointerAttributes, PoolHandle};
use super::error::{Code, Failure, Outcome};
use super::session::Session;
use crate::protocol::Wanted;

/// Values of `cudaMemoryType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryKind {
    Host = 1,
    Device = 2,
    Managed = 3,
}

/// Who ends an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// `cudaFree`
    Runtime,
    /// The program: host memory of its own, after `cudaHostRegister`.
    Program,
    /// `cudaFree` or a node of a graph, which keeps the address.
    Graph,
    /// The module whose `__managed__` variable it is.
    Module,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    pub len: u64,
    pub kind: MemoryKind,
    pub owner: Owner,
    /// Flags of `cudaHostAlloc` or `cudaHostRegister`.
    pub flags: u32,
}

/// Alignment of rows from `cudaMallocPitch`; that of real GPUs of the last decade.
const PITCH: usize = 512;

impl Session {
    /// Null for no bytes, as the runtime does.
    pub fn allocate(
        &mut self,
        bytes: usize,
        kind: MemoryKind,
        flags: u32,
    ) -> Result<Address, Failure> {
        if bytes == 0 {
            return Ok(0);
        }
        let wanted = match kind {
            MemoryKind::Device => Wanted::Device,
            MemoryKind::Host => Wanted::Pinned,
            MemoryKind::Managed => Wanted::Managed,
        };
        let address = self.connection.allocate(wanted, bytes as u64)?;
        let allocation = Allocation { len: bytes as u64, kind, owner: Owner::Runtime, flags };
        self.allocations.insert(address, allocation);
        Ok(address)
    }

    /// Frees what `allocate` returned; null is fine.
    pub fn free(&mut self, address: Address) -> Outcome {
        if address == 0 {
            return Ok(());
        }
        match self.allocations.get(&address) {
            Some(Allocation { owner: Owner::Runtime | Owner::Graph, kind, len, .. }) => {
                let of_host = (*kind != MemoryKind::Device).then_some(*len);
                self.connection.free(address, of_host)?;
            }
            _ => {
                let detail = format!("{address:#x} is not the start of a live allocation");
                return Err(Code::INVALID_VALUE.because(detail));
            }
        }
        self.allocations.remove(&address);
        Ok(())
    }

    /// The allocation that holds `address`, and its start.
    pub fn allocation(&self, address: Address) -> Option<(Address, Allocation)> {
        let (&base, &allocation) = self.allocations.range(..=address).next_back()?;
        (address - base < allocation.len).then_some((base, allocation))
    }

    /// Rows padded so that each begins aligned.
    fn allocate_rows(&mut self, width: usize, rows: usize) -> Result<(Address, usize), Failure> {
        let too_large = || Code::MEMORY_ALLOCATION.because("the size overflows");
        let pitch = width.checked_next_multiple_of(PITCH).ok_or_else(too_large)?;
        let bytes = pitch.checked_mul(rows).ok_or_else(too_large)?;
        Ok((self.allocate(bytes, MemoryKind::Device, 0)?, pitch))
    }

    fn host_allocation(&self, address: Address) -> Result<(Address, Allocation), Failure> {
        self.allocation(address)
            .filter(|(_, allocation)| allocation.kind == MemoryKind::Host)
            .ok_or_else(|| Code::INVALID_VALUE.because("it is not pinned host memory"))
    }

    fn pointer_attributes(&self, address: Address) -> Result<PointerAttributes, Failure> {
        let kind = match self.allocation(address) {
            Some((_, allocation)) => allocation.kind as u32,
            // The buffers that the solution is called with belong to the device.
            None => match self.connection.find(address)? {
                Some(_) => MemoryKind::Device as u32,
                None => 0,
            },
        };
        Ok(PointerAttributes {
            kind,
            device: if kind == 0 { -2 } else { 0 },
            device_pointer: if kind == 0 { 0 } else { address },
            host_pointer: if kind == MemoryKind::Device as u32 { 0 } else { address },
            reserved: [0; 8],
        })
    }
}

runtime! {
    fn cudaMalloc(pointer: Out<Address>, bytes: usize) |session| {
        pointer.set(session.allocate(bytes, MemoryKind::Device, 0)?)
    }

    fn cudaMallocAsync(
        pointer: Out<Address>, bytes: usize, stream: StreamHandle,
    ) + cudaMallocAsync_ptsz |session| {
        session.allocate_in(stream, pointer, bytes)
    }

    fn cudaMallocFromPoolAsync(
        pointer: Out<Address>, bytes: usize, pool: PoolHandle, stream: StreamHandle,
    ) + cudaMallocFromPoolAsync_ptsz |session| {
        session.pool(pool)?;
        session.allocate_in(stream, pointer, bytes)
    }

    fn cudaMallocHost(pointer: Out<Address>, bytes: usize) |session| {
        pointer.set(session.allocate(bytes, MemoryKind::Host, 0)?)
    }

    fn cudaHostAlloc(pointer: Out<Address>, bytes: usize, flags: u32) |session| {
        pointer.set(session.allocate(bytes, MemoryKind::Host, flags)?)
    }

    fn cudaMallocManaged(pointer: Out<Address>, bytes: usize, flags: u32) |session| {
        if bytes == 0 || !matches!(flags, 1 | 2) {
            return Err(Code::INVALID_VALUE.because("no bytes, or unknown flags"));
        }
        pointer.set(session.allocate(bytes, MemoryKind::Managed, flags)?)
    }

    fn cudaMallocPitch(
        pointer: Out<Address>, pitch: Out<usize>, width: usize, height: usize,
    ) |session| {
        let (address, row) = session.allocate_rows(width, height)?;
        pitch.set(row)?;
        pointer.set(address)
    }

    fn cudaMalloc3D(pointer: Out<PitchedPointer>, extent: Extent) |session| {
        let too_large = || Code::MEMORY_ALLOCATION.because("the size overflows");
        let rows = extent.height.checked_mul(extent.depth).ok_or_else(too_large)?;
        let (address, pitch) = session.allocate_rows(extent.width, rows)?;
        pointer.set(PitchedPointer {
            pointer: address,
            pitch,
            width: extent.width,
            height: extent.height,
        })
    }

    fn cudaFree(pointer: Address) |session| {
        session.free(pointer)
    }

    fn cudaFreeAsync(pointer: Address, stream: StreamHandle) + cudaFreeAsync_ptsz |session| {
        session.free_in(stream, pointer)
    }

    fn cudaFreeHost(pointer: Address) |session| {
        session.free(pointer)
    }

    fn cudaHostRegister(pointer: Address, bytes: usize, flags: u32) |session| {
        session.host_register(pointer, bytes, flags)
    }

    fn cudaHostUnregister(pointer: Address) |session| {
        session.host_unregister(pointer)
    }

    fn cudaHostGetDevicePointer(device: Out<Address>, host: Address, flags: u32) |session| {
        session.host_allocation(host)?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("the flags must be 0"));
        }
        device.set(host)
    }

    fn cudaHostGetFlags(flags: Out<u32>, host: Address) |session| {
        flags.set(session.host_allocation(host)?.1.flags)
    }

    fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) |session| {
        let (room, capacity) = session.connection.room()?;
        free.set(room as usize)?;
        total.set(capacity as usize)
    }

    fn cudaPointerGetAttributes(attributes: Out<PointerAttributes>, pointer: Address) |session| {
        attributes.set(session.pointer_attributes(pointer)?)
    }

    /// Hints about managed memory, which is in one place only.
    fn cudaMemAdvise(pointer: Address, _bytes: usize, _advice: u32, _location: Location) |session| {
        session.reachable(pointer)
    }

    fn cudaMemPrefetchAsync(
        pointer: Address, _bytes: usize, _location: Location, _flags: u32, stream: StreamHandle,
    ) + cudaMemPrefetchAsync_ptsz |session| {
        session.stream(stream)?;
        session.reachable(pointer)
    }

    fn cudaStreamAttachMemAsync(
        stream: StreamHandle, pointer: Address, _bytes: usize, _flags: u32,
    ) + cudaStreamAttachMemAsync_ptsz |session| {
        session.stream(stream)?;
        session.reachable(pointer)
    }
}

impl Session {
    fn reachable(&self, address: Address) -> Outcome {
        match self.connection.find(address)? {
            Some(_) => Ok(()),
            None => Err(Code::INVALID_VALUE.because(format!("{address:#x} is no device memory"))),
        }
    }
}

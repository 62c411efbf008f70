//! Memory that a graph allocates and frees.
//!
//! It lies at the same address in every launch, which is known when the node is made; there is something
//! from the allocation's node on, with no defined content, and until somebody frees it: the graph, another
//! one, or the program. A launch that finds it still there begins it anew, which a driver refuses unless
//! `cudaGraphInstantiateFlagAutoFreeOnLaunch` was given. Allocations of a graph never share an address, although on a GPU they may.

use super::Task;
use super::build::Before;
use crate::abi::{Address, GraphHandle, NodeHandle, Out, StreamHandle};
use crate::allocation::{Allocation, MemoryKind, Owner};
use crate::error::{Code, Failure, Outcome};
use crate::session::Session;

/// `cudaMemAllocNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct AllocationParameters {
    pool: [u64; 11],
    access: usize,
    access_count: usize,
    bytes: usize,
    address: Address,
}

const _: () = assert!(std::mem::offset_of!(AllocationParameters, bytes) == 104);

/// `cudaGraphMemAttributeType`: bytes now in use and at most, then those kept.
mod attribute {
    pub const USED: std::ops::RangeInclusive<u32> = 0..=1;
    pub const RESERVED: std::ops::RangeInclusive<u32> = 2..=3;
}

impl Session {
    /// Memory in the order of a stream; in a capture, of the graph.
    pub fn allocate_in(
        &mut self,
        stream: StreamHandle,
        pointer: Out<Address>,
        bytes: usize,
    ) -> Outcome {
        match self.stream(stream)?.capture {
            None => pointer.set(self.allocate(bytes, MemoryKind::Device, 0)?),
            Some(id) => {
                let address = self.reserve(bytes)?;
                pointer.set(address)?;
                self.keep(id, stream, Task::Allocate(address))
            }
        }
    }

    pub fn free_in(&mut self, stream: StreamHandle, address: Address) -> Outcome {
        match self.stream(stream)?.capture {
            None => self.free(address),
            Some(id) => {
                self.check_reserved(address)?;
                self.keep(id, stream, Task::Free(address))
            }
        }
    }

    /// An address for a graph, at which nothing is yet.
    fn reserve(&mut self, bytes: usize) -> Result<Address, Failure> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE.because("a graph's allocation of no bytes"));
        }
        let address = self.connection.reserve(bytes as u64)?;
        self.graphs.memory.insert(address, bytes as u64);
        Ok(address)
    }

    fn check_reserved(&self, address: Address) -> Outcome {
        match self.graphs.memory.contains_key(&address) {
            true => Ok(()),
            false => Err(Code::INVALID_VALUE.because("no graph has allocated it")),
        }
    }

    /// The allocation's node is reached. What an earlier launch has left there is gone.
    pub fn begin_graph_memory(&mut self, address: Address) -> Outcome {
        let Some(&len) = self.graphs.memory.get(&address) else { return Ok(()) };
        self.connection.begin(address)?;
        let (kind, owner) = (MemoryKind::Device, Owner::Graph);
        self.allocations.insert(address, Allocation { len, kind, owner, flags: 0 });
        Ok(())
    }

    /// The graphs' memory that is in use, and all of it.
    fn graph_memory(&self) -> (u64, u64) {
        let all = self.graphs.memory.iter();
        let live = all.clone().filter(|(address, _)| self.allocations.contains_key(address));
        (live.map(|(_, len)| len).sum(), all.map(|(_, len)| len).sum())
    }
}

runtime! {
    fn cudaGraphAddMemAllocNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        parameters: Out<AllocationParameters>,
    ) |session| {
        let given = parameters.read()?;
        let address = session.reserve(given.bytes)?;
        session.add_node(node, graph, (before, count), Task::Allocate(address))?;
        parameters.set(AllocationParameters { address, ..given })
    }

    fn cudaGraphAddMemFreeNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize, address: Address,
    ) |session| {
        session.check_reserved(address)?;
        session.add_node(node, graph, (before, count), Task::Free(address))
    }

    fn cudaDeviceGetGraphMemAttribute(device: i32, id: u32, value: Out<u64>) |session| {
        session.device(device)?;
        let (used, reserved) = session.graph_memory();
        match id {
            id if attribute::USED.contains(&id) => value.set(used),
            id if attribute::RESERVED.contains(&id) => value.set(reserved),
            _ => Err(Code::INVALID_VALUE.because(format!("no attribute {id}"))),
        }
    }

    /// Takes a record back to what is in use, and no record is kept.
    fn cudaDeviceSetGraphMemAttribute(device: i32, _id: u32, _value: Out<u64>) |session| {
        session.device(device)
    }

    fn cudaDeviceGraphMemTrim(device: i32) |session| {
        session.device(device)
    }
}

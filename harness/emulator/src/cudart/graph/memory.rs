//! Memory that a graph allocates and frees.
//!
//! On a GPU it lies at the same address in every launch, which is known when the node is made; what was
//! in it is gone. Here it is there from that moment on and stays, so that one launch finds what the last
//! one left, and a use between the graph's free and its next allocation is not found.

use super::Task;
use super::build::Before;
use crate::cudart::abi::{Address, GraphHandle, NodeHandle, Out, StreamHandle};
use crate::cudart::allocation::MemoryKind;
use crate::cudart::error::{Code, Outcome};
use crate::cudart::session::Session;

/// `cudaMemAllocNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cudart) struct AllocationParameters {
    pool: [u64; 11],
    access: usize,
    access_count: usize,
    bytes: usize,
    address: Address,
}

const _: () = assert!(std::mem::offset_of!(AllocationParameters, bytes) == 104);

impl Session {
    /// Memory in the order of a stream; in a capture, of the graph.
    pub fn allocate_in(
        &mut self,
        stream: StreamHandle,
        pointer: Out<Address>,
        bytes: usize,
    ) -> Outcome {
        let capture = self.stream(stream)?.capture;
        let address = self.allocate(bytes, MemoryKind::Device, 0)?;
        pointer.set(address)?;
        capture.map_or(Ok(()), |id| self.keep(id, stream, Task::Allocate(address)))
    }

    pub fn free_in(&mut self, stream: StreamHandle, address: Address) -> Outcome {
        match self.stream(stream)?.capture {
            None => self.free(address),
            Some(id) => {
                self.reachable(address)?;
                self.keep(id, stream, Task::Free)
            }
        }
    }

    /// The graph's memory can be freed outside of it, too, and a GPU would then allocate it again.
    pub fn still_there(&mut self, address: Address) -> Outcome {
        if self.allocations.contains_key(&address) {
            return Ok(());
        }
        let what = "a second launch of a graph whose memory was freed outside of it";
        self.lacks(what);
        Err(Code::NOT_SUPPORTED.because(what))
    }
}

runtime! {
    fn cudaGraphAddMemAllocNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        parameters: Out<AllocationParameters>,
    ) |session| {
        let given = parameters.read()?;
        let address = session.allocate(given.bytes, MemoryKind::Device, 0)?;
        session.add_node(node, graph, (before, count), Task::Allocate(address))?;
        parameters.set(AllocationParameters { address, ..given })
    }

    fn cudaGraphAddMemFreeNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize, address: Address,
    ) |session| {
        session.reachable(address)?;
        session.add_node(node, graph, (before, count), Task::Free)
    }
}

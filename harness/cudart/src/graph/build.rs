//! Graphs built by hand: nodes, edges, copies.

use super::Task;
use super::parameters::{FillParameters, HostParameters, KernelParameters, NodeParameters};
use crate::abi::{Address, Copy3D, EventHandle, GraphHandle, In, NodeHandle, Out};
use crate::error::{Code, Failure, Outcome};
use crate::session::Session;

/// `cudaGraphEdgeData`: ports and types, which tell a dependency on a kernel's end from weaker ones.
/// Here every kernel has ended before the next begins, so they change nothing.
pub(crate) type EdgeData = [u8; 8];

/// Nodes that a new one comes after.
pub(crate) type Before = In<NodeHandle>;

fn elements(list: In<NodeHandle>, count: usize) -> Result<Vec<NodeHandle>, Failure> {
    (0..count).map(|index| list.at(index)).collect()
}

impl Session {
    pub(super) fn add_node(
        &mut self,
        node: Out<NodeHandle>,
        graph: GraphHandle,
        before: (Before, usize),
        task: Task,
    ) -> Outcome {
        let before = elements(before.0, before.1)?;
        let handle = self.handle();
        self.graph_mut(graph)?.insert(handle, &before, task)?;
        node.set(handle)
    }

    fn each_edge(
        &mut self,
        graph: GraphHandle,
        (from, to): (In<NodeHandle>, In<NodeHandle>),
        count: usize,
        act: fn(&mut super::Graph, NodeHandle, NodeHandle) -> Outcome,
    ) -> Outcome {
        let edges = elements(from, count)?.into_iter().zip(elements(to, count)?);
        let graph = self.graph_mut(graph)?;
        edges.into_iter().try_for_each(|(from, to)| act(graph, from, to))
    }
}

runtime! {
    fn cudaGraphCreate(graph: Out<GraphHandle>, flags: u32) |session| {
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("flags must be 0"));
        }
        let handle = session.handle();
        session.graphs.graphs.insert(handle, super::Graph::default());
        graph.set(handle)
    }

    fn cudaGraphClone(clone: Out<GraphHandle>, graph: GraphHandle) |session| {
        let handle = session.copy_of(graph)?;
        clone.set(handle)
    }

    fn cudaGraphAddNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, _edges: In<EdgeData>, count: usize,
        parameters: In<NodeParameters>,
    ) |session| {
        let task = session.task(parameters)?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddKernelNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        parameters: In<KernelParameters>,
    ) |session| {
        let task = session.kernel_task(&parameters.get()?)?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddMemcpyNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        parameters: In<Copy3D>,
    ) |session| {
        let task = session.copy_task(parameters.get()?)?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddMemcpyNode1D(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        destination: Address, source: Address, bytes: usize, kind: u32,
    ) |session| {
        let task = session.copy_task(Copy3D::flat(destination, source, bytes, kind))?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddMemcpyNodeToSymbol(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        symbol: usize, source: Address, bytes: usize, offset: usize, kind: u32,
    ) |session| {
        let task = Task::Copy(session.copy_to_symbol(symbol, source, bytes, offset, kind)?);
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddMemcpyNodeFromSymbol(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        destination: Address, symbol: usize, bytes: usize, offset: usize, kind: u32,
    ) |session| {
        let task = Task::Copy(session.copy_from_symbol(destination, symbol, bytes, offset, kind)?);
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddMemsetNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        parameters: In<FillParameters>,
    ) |session| {
        let task = parameters.get()?.task()?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddHostNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
        parameters: In<HostParameters>,
    ) |session| {
        let task = parameters.get()?.task()?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddChildGraphNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize, child: GraphHandle,
    ) |session| {
        let task = session.child_task(child)?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddEmptyNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize,
    ) |session| {
        session.add_node(node, graph, (before, count), Task::Empty)
    }

    fn cudaGraphAddEventRecordNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize, event: EventHandle,
    ) |session| {
        let task = session.event_task(event, Task::Record)?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddEventWaitNode(
        node: Out<NodeHandle>, graph: GraphHandle, before: Before, count: usize, event: EventHandle,
    ) |session| {
        let task = session.event_task(event, Task::Wait)?;
        session.add_node(node, graph, (before, count), task)
    }

    fn cudaGraphAddDependencies(
        graph: GraphHandle, from: In<NodeHandle>, to: In<NodeHandle>, _data: In<EdgeData>,
        count: usize,
    ) |session| {
        session.each_edge(graph, (from, to), count, super::Graph::connect)
    }

    fn cudaGraphRemoveDependencies(
        graph: GraphHandle, from: In<NodeHandle>, to: In<NodeHandle>, _data: In<EdgeData>,
        count: usize,
    ) |session| {
        session.each_edge(graph, (from, to), count, super::Graph::disconnect)
    }

    /// With a child node its graph goes, too.
    fn cudaGraphDestroyNode(node: NodeHandle) |session| {
        let graph = session.graph_of(node)?;
        let child = match graph.task(node)? {
            Task::Child(child) => Some(*child),
            _ => None,
        };
        graph.remove(node);
        child.map_or(Ok(()), |child| session.destroy_graph(child))
    }
}

//! What a graph consists of.

use super::Task;
use super::build::EdgeData;
use super::parameters::{FillParameters, HostParameters, KernelParameters};
use crate::abi::{Copy3D, EventHandle, GraphExecHandle, GraphHandle, NodeHandle, Out};
use crate::error::{Code, Failure, Outcome};

/// Answers with a list: only its length where the program gives no room, else as much of it as there
/// is room for, null behind its end, and how much that is.
fn list<T: Copy>(lists: &[(Out<T>, &[T])], blank: T, count: Out<usize>) -> Outcome {
    let length = lists.first().map_or(0, |(_, found)| found.len());
    if lists.iter().all(|(room, _)| room.is_null()) {
        return count.set(length);
    }
    let room = count.read()?;
    for (out, found) in lists.iter().filter(|(out, _)| !out.is_null()) {
        for index in 0..room {
            out.at(index).set(found.get(index).copied().unwrap_or(blank))?;
        }
    }
    count.set(length.min(room))
}

fn no_edge_data(edges: Out<EdgeData>, count: Out<usize>) -> Outcome {
    if edges.is_null() {
        return Ok(());
    }
    (0..count.read()?).try_for_each(|index| edges.at(index).set([0; 8]))
}

fn of_another_type() -> Failure {
    Code::INVALID_VALUE.because("the node is of another type")
}

runtime! {
    fn cudaGraphGetNodes(
        graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>,
    ) |session| {
        list(&[(nodes, &session.graph(graph)?.nodes())], 0, count)
    }

    fn cudaGraphGetRootNodes(
        graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>,
    ) |session| {
        list(&[(nodes, &session.graph(graph)?.roots())], 0, count)
    }

    fn cudaGraphGetEdges(
        graph: GraphHandle, from: Out<NodeHandle>, to: Out<NodeHandle>, data: Out<EdgeData>,
        count: Out<usize>,
    ) |session| {
        let (sources, targets): (Vec<_>, Vec<_>) = session.graph(graph)?.edges().into_iter().unzip();
        list(&[(from, &sources), (to, &targets)], 0, count)?;
        no_edge_data(data, count)
    }

    fn cudaGraphNodeGetDependencies(
        node: NodeHandle, before: Out<NodeHandle>, data: Out<EdgeData>, count: Out<usize>,
    ) |session| {
        list(&[(before, session.graph_of(node)?.before(node)?)], 0, count)?;
        no_edge_data(data, count)
    }

    fn cudaGraphNodeGetDependentNodes(
        node: NodeHandle, behind: Out<NodeHandle>, data: Out<EdgeData>, count: Out<usize>,
    ) |session| {
        list(&[(behind, &session.graph_of(node)?.behind(node)?)], 0, count)?;
        no_edge_data(data, count)
    }

    fn cudaGraphNodeGetType(node: NodeHandle, kind: Out<u32>) |session| {
        kind.set(session.graph_of(node)?.task(node)?.kind())
    }

    fn cudaGraphNodeFindInClone(
        twin: Out<NodeHandle>, original: NodeHandle, clone: GraphHandle,
    ) |session| {
        let missing = || Code::INVALID_VALUE.because("the graph is no clone with such a node");
        twin.set(session.graph(clone)?.twin(original).ok_or_else(missing)?)
    }

    fn cudaGraphChildGraphNodeGetGraph(node: NodeHandle, graph: Out<GraphHandle>) |session| {
        match session.graph_of(node)?.task(node)? {
            Task::Child(child) => graph.set(*child),
            _ => Err(of_another_type()),
        }
    }

    /// The arguments are the node's own copies, and stay where they are until it gets others.
    fn cudaGraphKernelNodeGetParams(node: NodeHandle, parameters: Out<KernelParameters>) |session| {
        match session.graph_of(node)?.task(node)? {
            Task::Kernel(prepared) => parameters.set(prepared.as_ref().into()),
            _ => Err(of_another_type()),
        }
    }

    fn cudaGraphMemcpyNodeGetParams(node: NodeHandle, parameters: Out<Copy3D>) |session| {
        match session.graph_of(node)?.task(node)? {
            Task::Copy(copy) => parameters.set(*copy),
            _ => Err(of_another_type()),
        }
    }

    fn cudaGraphMemsetNodeGetParams(node: NodeHandle, parameters: Out<FillParameters>) |session| {
        match session.graph_of(node)?.task(node)? {
            Task::Fill(fill) => parameters.set((*fill).into()),
            _ => Err(of_another_type()),
        }
    }

    fn cudaGraphHostNodeGetParams(node: NodeHandle, parameters: Out<HostParameters>) |session| {
        match session.graph_of(node)?.task(node)? {
            Task::Host(call) => parameters.set((*call).into()),
            _ => Err(of_another_type()),
        }
    }

    fn cudaGraphEventRecordNodeGetEvent(node: NodeHandle, event: Out<EventHandle>) |session| {
        match session.graph_of(node)?.task(node)? {
            Task::Record(recorded) => event.set(*recorded),
            _ => Err(of_another_type()),
        }
    }

    fn cudaGraphEventWaitNodeGetEvent(node: NodeHandle, event: Out<EventHandle>) |session| {
        match session.graph_of(node)?.task(node)? {
            Task::Wait(awaited) => event.set(*awaited),
            _ => Err(of_another_type()),
        }
    }

    fn cudaGraphNodeGetEnabled(
        executable: GraphExecHandle, node: NodeHandle, enabled: Out<u32>,
    ) |session| {
        enabled.set(u32::from(*session.executable(executable)?.enabled(node)?))
    }
}

//! Other parameters for nodes, of graphs and of what was made from them.

use super::Task;
use super::parameters::{FillParameters, HostParameters, KernelParameters, NodeParameters};
use crate::abi::{Address, Copy3D, EventHandle, GraphExecHandle, GraphHandle, In, NodeHandle, Out};
use crate::error::Code;

/// `cudaGraphExecUpdateResultInfo`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UpdateResult {
    result: u32,
    error_node: NodeHandle,
    error_from: NodeHandle,
}

runtime! {
    fn cudaGraphNodeSetParams(node: NodeHandle, parameters: In<NodeParameters>) |session| {
        let task = session.task(parameters)?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphKernelNodeSetParams(node: NodeHandle, parameters: In<KernelParameters>) |session| {
        let task = session.kernel_task(&parameters.get()?)?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphMemcpyNodeSetParams(node: NodeHandle, parameters: In<Copy3D>) |session| {
        let task = session.copy_task(parameters.get()?)?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphMemcpyNodeSetParams1D(
        node: NodeHandle, destination: Address, source: Address, bytes: usize, kind: u32,
    ) |session| {
        let task = session.copy_task(Copy3D::flat(destination, source, bytes, kind))?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphMemsetNodeSetParams(node: NodeHandle, parameters: In<FillParameters>) |session| {
        let task = parameters.get()?.task()?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphHostNodeSetParams(node: NodeHandle, parameters: In<HostParameters>) |session| {
        let task = parameters.get()?.task()?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphEventRecordNodeSetEvent(node: NodeHandle, event: EventHandle) |session| {
        let task = session.event_task(event, Task::Record)?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphEventWaitNodeSetEvent(node: NodeHandle, event: EventHandle) |session| {
        let task = session.event_task(event, Task::Wait)?;
        session.graph_of(node)?.replace(node, task)
    }

    fn cudaGraphExecEventRecordNodeSetEvent(
        executable: GraphExecHandle, node: NodeHandle, event: EventHandle,
    ) |session| {
        let task = session.event_task(event, Task::Record)?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphExecEventWaitNodeSetEvent(
        executable: GraphExecHandle, node: NodeHandle, event: EventHandle,
    ) |session| {
        let task = session.event_task(event, Task::Wait)?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphExecNodeSetParams(
        executable: GraphExecHandle, node: NodeHandle, parameters: In<NodeParameters>,
    ) |session| {
        let task = session.task(parameters)?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphExecKernelNodeSetParams(
        executable: GraphExecHandle, node: NodeHandle, parameters: In<KernelParameters>,
    ) |session| {
        let task = session.kernel_task(&parameters.get()?)?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphExecMemcpyNodeSetParams(
        executable: GraphExecHandle, node: NodeHandle, parameters: In<Copy3D>,
    ) |session| {
        let task = session.copy_task(parameters.get()?)?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphExecMemcpyNodeSetParams1D(
        executable: GraphExecHandle, node: NodeHandle, destination: Address, source: Address,
        bytes: usize, kind: u32,
    ) |session| {
        let task = session.copy_task(Copy3D::flat(destination, source, bytes, kind))?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphExecMemsetNodeSetParams(
        executable: GraphExecHandle, node: NodeHandle, parameters: In<FillParameters>,
    ) |session| {
        let task = parameters.get()?.task()?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphExecHostNodeSetParams(
        executable: GraphExecHandle, node: NodeHandle, parameters: In<HostParameters>,
    ) |session| {
        let task = parameters.get()?.task()?;
        session.executable(executable)?.replace(node, task)
    }

    fn cudaGraphNodeSetEnabled(
        executable: GraphExecHandle, node: NodeHandle, enabled: u32,
    ) |session| {
        *session.executable(executable)?.enabled(node)? = enabled != 0;
        Ok(())
    }

    /// The work of a graph of the same shape takes the place of the old one.
    fn cudaGraphExecUpdate(
        executable: GraphExecHandle, graph: GraphHandle, result: Out<UpdateResult>,
    ) |session| {
        session.graph(graph)?;
        session.executable(executable)?;
        // Out of the session for as long as both are looked at.
        let Some(mut changed) = session.graphs.executables.remove(&executable) else { return Ok(()) };
        let outcome = session.graph(graph).map(|graph| changed.update(session, graph));
        session.graphs.executables.insert(executable, changed);
        match outcome? {
            Ok(()) => {
                result.set_if_wanted(UpdateResult { result: 0, error_node: 0, error_from: 0 });
                Ok(())
            }
            Err(mismatch) => {
                let error_node = mismatch.node;
                result.set_if_wanted(UpdateResult {
                    result: mismatch.result,
                    error_node,
                    error_from: 0,
                });
                Err(Code::GRAPH_UPDATE_FAILURE.because("the graph has another shape"))
            }
        }
    }
}

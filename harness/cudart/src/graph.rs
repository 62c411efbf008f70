//! Graphs: work that is described once and launched again and again.
//!
//! ```text
//! capture  cudaStreamBeginCapture … EndCapture ─┐
//! build    cudaGraphCreate, cudaGraphAdd…Node ──┴► Graph ─ instantiate ─► Executable ─ launch
//! ```
//!
//! A [`Graph`] is nodes with what each comes after; an [`Executable`] is a copy of it in one order that
//! its edges allow, which a launch goes through. Nodes and graphs are handles, so a captured graph can
//! be asked for its nodes and changed like one that was built by hand.
//!
//! ```text
//! graph.rs        captures, graphs and executables of a session; launches
//!  task.rs        what a node does
//!  topology.rs    nodes and edges
//!  executable.rs  what is launched, and what may be changed in it
//!  capture.rs     streams that keep their work
//!  parameters.rs  the C structures that describe nodes
//!  build.rs, query.rs, change.rs   the runtime's functions
//! ```
//!
//! Not here: nodes that allocate and free, conditional nodes, semaphores; and `cudaGraphExecUpdate`
//! pairs nodes in the order of their creation, and allows changes of copies that a driver may refuse.

pub(super) mod build;
pub(super) mod capture;
pub(super) mod change;
mod executable;
pub(super) mod memory;
mod parameters;
pub(super) mod query;
mod task;
mod topology;

use std::collections::BTreeMap;

use super::abi::{Address, GraphExecHandle, GraphHandle, NodeHandle, Out, StreamHandle};
use super::error::{Code, Failure, Outcome};
use super::session::{self, Session};
use capture::Capture;
use executable::Executable;
use topology::Graph;

pub(super) use capture::CaptureId;
pub(super) use task::{HostCall, Task, timed};

/// Captures under way, and what became of others.
#[derive(Default)]
pub(super) struct Graphs {
    captures: BTreeMap<CaptureId, Capture>,
    graphs: BTreeMap<GraphHandle, Graph>,
    executables: BTreeMap<GraphExecHandle, Executable>,
    /// Addresses for memory of graphs, with the bytes of each.
    memory: BTreeMap<Address, u64>,
}

impl Session {
    fn graph(&self, graph: GraphHandle) -> Result<&Graph, Failure> {
        let unknown = || Code::INVALID_VALUE.because("it is no graph, or destroyed");
        self.graphs.graphs.get(&graph).ok_or_else(unknown)
    }

    fn graph_mut(&mut self, graph: GraphHandle) -> Result<&mut Graph, Failure> {
        let unknown = || Code::INVALID_VALUE.because("it is no graph, or destroyed");
        self.graphs.graphs.get_mut(&graph).ok_or_else(unknown)
    }

    /// The graph that a node is in.
    fn graph_of(&mut self, node: NodeHandle) -> Result<&mut Graph, Failure> {
        let unknown = || Code::INVALID_VALUE.because("it is no node of a graph, or destroyed");
        self.graphs.graphs.values_mut().find(|graph| graph.has(node)).ok_or_else(unknown)
    }

    fn executable(&mut self, executable: GraphExecHandle) -> Result<&mut Executable, Failure> {
        let unknown = || Code::INVALID_VALUE.because("it is no executable graph, or destroyed");
        self.graphs.executables.get_mut(&executable).ok_or_else(unknown)
    }

    fn instantiate(
        &mut self,
        executable: Out<GraphExecHandle>,
        graph: GraphHandle,
        flags: u64,
    ) -> Outcome {
        let made = Executable::new(self, graph, flags)?;
        let handle = self.handle();
        self.graphs.executables.insert(handle, made);
        executable.set(handle)
    }

    /// A graph like another one, the graphs of its child nodes included.
    fn copy_of(&mut self, graph: GraphHandle) -> Result<GraphHandle, Failure> {
        let original = self.graph(graph)?.clone();
        let mut copy = original.renamed(|| self.handle());
        for task in copy.tasks_mut() {
            if let Task::Child(child) = task {
                *child = self.copy_of(*child)?;
            }
        }
        let handle = self.handle();
        self.graphs.graphs.insert(handle, copy);
        Ok(handle)
    }

    fn destroy_graph(&mut self, graph: GraphHandle) -> Outcome {
        let children = self.graph(graph)?.children();
        self.graphs.graphs.remove(&graph);
        children.into_iter().try_for_each(|child| self.destroy_graph(child))
    }
}

/// Goes through the graph's work, each piece under the lock for itself, since functions of the
/// program may be among them. Into a capturing stream the work goes as a part of the new graph.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphLaunch(
    executable: GraphExecHandle,
    stream: StreamHandle,
) -> Code {
    const NAME: &str = "cudaGraphLaunch";
    let mut tasks = Vec::new();
    let mut code = session::call(NAME, |session| {
        let capture = session.stream(stream)?.capture;
        tasks = session.executable(executable)?.tasks();
        match capture {
            Some(id) => tasks.drain(..).try_for_each(|task| session.keep(id, stream, task)),
            None => Ok(()),
        }
    });
    for task in tasks {
        if code != Code::SUCCESS {
            break;
        }
        match task {
            Task::Host(call) => call.run(),
            task => code = session::call(NAME, |session| session.perform(&task)),
        }
    }
    code
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGraphLaunch_ptsz(
    executable: GraphExecHandle,
    stream: StreamHandle,
) -> Code {
    cudaGraphLaunch(executable, stream)
}

/// `cudaGraphInstantiateParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct InstantiateParameters {
    flags: u64,
    upload_stream: StreamHandle,
    error_node: NodeHandle,
    /// 0 where it went well, 2 for a cycle.
    result: u32,
}

runtime! {
    fn cudaGraphInstantiate(
        executable: Out<GraphExecHandle>, graph: GraphHandle, flags: u64,
    ) |session| {
        session.instantiate(executable, graph, flags)
    }

    fn cudaGraphInstantiateWithFlags(
        executable: Out<GraphExecHandle>, graph: GraphHandle, flags: u64,
    ) |session| {
        session.instantiate(executable, graph, flags)
    }

    fn cudaGraphInstantiateWithParams(
        executable: Out<GraphExecHandle>, graph: GraphHandle, parameters: Out<InstantiateParameters>,
    ) + cudaGraphInstantiateWithParams_ptsz |session| {
        let given = parameters.read()?;
        let outcome = session.instantiate(executable, graph, given.flags);
        let result = if outcome.is_ok() { 0 } else { 2 };
        parameters.set(InstantiateParameters { error_node: 0, result, ..given })?;
        outcome
    }

    fn cudaGraphExecGetFlags(executable: GraphExecHandle, flags: Out<u64>) |session| {
        flags.set(session.executable(executable)?.flags)
    }

    fn cudaGraphUpload(executable: GraphExecHandle, stream: StreamHandle)
        + cudaGraphUpload_ptsz |session|
    {
        session.stream(stream)?;
        session.executable(executable).map(drop)
    }

    fn cudaGraphDestroy(graph: GraphHandle) |session| {
        session.destroy_graph(graph)
    }

    fn cudaGraphExecDestroy(executable: GraphExecHandle) |session| {
        session.executable(executable)?;
        session.graphs.executables.remove(&executable);
        Ok(())
    }
}

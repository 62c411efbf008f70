//! What a launch goes through.

use std::collections::BTreeMap;

use super::{Graph, Task};
use crate::abi::{GraphHandle, NodeHandle};
use crate::error::{Code, Failure, Outcome};
use crate::session::Session;

/// A graph as it was when it was instantiated, its steps in an order that the edges allow.
pub(super) struct Executable {
    pub flags: u64,
    steps: Vec<Step>,
}

struct Step {
    /// Of the graph: by it the step is named when it is changed.
    node: NodeHandle,
    after: Vec<NodeHandle>,
    act: Act,
    enabled: bool,
}

enum Act {
    Task(Task),
    Child(Executable),
}

/// Why an update cannot be, as `cudaGraphExecUpdateResult`, and the node of the new graph.
pub(super) struct Mismatch {
    pub result: u32,
    pub node: NodeHandle,
}

const TOPOLOGY_CHANGED: u32 = 2;
const TYPE_CHANGED: u32 = 3;

impl Executable {
    pub fn new(session: &Session, graph: GraphHandle, flags: u64) -> Result<Self, Failure> {
        let graph = session.graph(graph)?;
        let step = |node| {
            let act = match graph.task(node)? {
                Task::Child(child) => Act::Child(Self::new(session, *child, flags)?),
                task => Act::Task(task.clone()),
            };
            Ok(Step { node, after: graph.before(node)?.to_vec(), act, enabled: true })
        };
        let steps: Result<_, Failure> = graph.order()?.into_iter().map(step).collect();
        Ok(Self { flags, steps: steps? })
    }

    /// What there is to do, in order.
    pub fn tasks(&self) -> Vec<Task> {
        let of = |step: &Step| match &step.act {
            Act::Task(task) => vec![task.clone()],
            Act::Child(child) => child.tasks(),
        };
        self.steps.iter().filter(|step| step.enabled).flat_map(of).collect()
    }

    fn find(&mut self, node: NodeHandle) -> Option<&mut Step> {
        let found = self.steps.iter().position(|step| step.node == node);
        if let Some(index) = found {
            return self.steps.get_mut(index);
        }
        self.steps.iter_mut().find_map(|step| match &mut step.act {
            Act::Child(child) => child.find(node),
            Act::Task(_) => None,
        })
    }

    fn step(&mut self, node: NodeHandle) -> Result<&mut Step, Failure> {
        let foreign = "the executable graph was not made from this node";
        self.find(node).ok_or_else(|| Code::INVALID_VALUE.because(foreign))
    }

    /// Gives a node other work of the same type.
    pub fn replace(&mut self, node: NodeHandle, new: Task) -> Outcome {
        match &mut self.step(node)?.act {
            Act::Task(task) if task.kind() == new.kind() => {
                *task = new;
                Ok(())
            }
            _ => Err(Code::INVALID_VALUE.because("the node is of another type")),
        }
    }

    pub fn enabled(&mut self, node: NodeHandle) -> Result<&mut bool, Failure> {
        let step = self.step(node)?;
        match step.act {
            // CUDA Runtime API, cudaGraphNodeSetEnabled.
            Act::Task(Task::Kernel(_) | Task::Copy(_) | Task::Fill(_)) => Ok(&mut step.enabled),
            _ => Err(Code::INVALID_VALUE.because("only kernels, copies and fills can be disabled")),
        }
    }

    /// Takes over the work of a graph of the same shape.
    ///
    /// # Errors
    /// The first difference; nothing has changed then.
    pub fn update(&mut self, session: &Session, graph: &Graph) -> Result<(), Mismatch> {
        self.compare(session, graph)?;
        self.take(session, graph);
        Ok(())
    }

    /// Its steps in the order of their nodes' creation, each with that of the graph.
    fn pairs(&mut self, graph: &Graph) -> Vec<(&mut Step, NodeHandle)> {
        let mut steps: Vec<_> = self.steps.iter_mut().collect();
        steps.sort_by_key(|step| step.node);
        steps.into_iter().zip(graph.nodes()).collect()
    }

    fn compare(&mut self, session: &Session, graph: &Graph) -> Result<(), Mismatch> {
        if self.steps.len() != graph.nodes().len() {
            return Err(Mismatch { result: TOPOLOGY_CHANGED, node: 0 });
        }
        let pairs = self.pairs(graph);
        let twins: BTreeMap<_, _> = pairs.iter().map(|(step, node)| (step.node, *node)).collect();
        for (step, node) in pairs {
            let differs = |result| Err(Mismatch { result, node });
            let mut old: Vec<_> = step.after.iter().map(|before| twins[before]).collect();
            let mut new = graph.before(node).unwrap_or_default().to_vec();
            old.sort_unstable();
            new.sort_unstable();
            if old != new {
                return differs(TOPOLOGY_CHANGED);
            }
            match (&mut step.act, graph.task(node)) {
                (Act::Task(old), Ok(new)) if old.kind() == new.kind() => {}
                (Act::Child(old), Ok(Task::Child(new))) => {
                    if let Ok(new) = session.graph(*new) {
                        old.compare(session, new)?;
                    }
                }
                _ => return differs(TYPE_CHANGED),
            }
        }
        Ok(())
    }

    fn take(&mut self, session: &Session, graph: &Graph) {
        for (step, node) in self.pairs(graph) {
            match (&mut step.act, graph.task(node)) {
                (Act::Child(old), Ok(Task::Child(new))) => {
                    if let Ok(new) = session.graph(*new) {
                        old.take(session, new);
                    }
                }
                (Act::Task(old), Ok(new)) => *old = new.clone(),
                _ => {}
            }
        }
    }
}

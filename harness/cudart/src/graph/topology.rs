//! Nodes and what each comes after.

use std::collections::{BTreeMap, BTreeSet};

use super::Task;
use crate::abi::{GraphHandle, NodeHandle};
use crate::error::{Code, Failure, Outcome};

#[derive(Clone)]
struct Node {
    task: Task,
    /// In the order in which they were named.
    after: Vec<NodeHandle>,
}

/// Handles grow, so nodes stand in the order of their creation.
#[derive(Clone, Default)]
pub(super) struct Graph {
    nodes: BTreeMap<NodeHandle, Node>,
    /// Of a clone: its nodes by those of the original.
    twins: BTreeMap<NodeHandle, NodeHandle>,
}

impl Graph {
    pub fn has(&self, node: NodeHandle) -> bool {
        self.nodes.contains_key(&node)
    }

    pub fn nodes(&self) -> Vec<NodeHandle> {
        self.nodes.keys().copied().collect()
    }

    pub fn tasks_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        self.nodes.values_mut().map(|node| &mut node.task)
    }

    /// Graphs of its child nodes.
    pub fn children(&self) -> Vec<GraphHandle> {
        let child = |node: &Node| match node.task {
            Task::Child(graph) => Some(graph),
            _ => None,
        };
        self.nodes.values().filter_map(child).collect()
    }

    fn node(&self, node: NodeHandle) -> Result<&Node, Failure> {
        let foreign = || Code::INVALID_VALUE.because("it is no node of this graph");
        self.nodes.get(&node).ok_or_else(foreign)
    }

    pub fn task(&self, node: NodeHandle) -> Result<&Task, Failure> {
        self.node(node).map(|node| &node.task)
    }

    /// Gives a node other work of the same type.
    pub fn replace(&mut self, node: NodeHandle, task: Task) -> Outcome {
        let old = self.task(node)?.kind();
        if old != task.kind() {
            return Err(Code::INVALID_VALUE.because("the node is of another type"));
        }
        if let Some(node) = self.nodes.get_mut(&node) {
            node.task = task;
        }
        Ok(())
    }

    pub fn insert(&mut self, node: NodeHandle, after: &[NodeHandle], task: Task) -> Outcome {
        self.nodes.insert(node, Node { task, after: Vec::new() });
        let outcome = after.iter().try_for_each(|&before| self.connect(before, node));
        if outcome.is_err() {
            self.nodes.remove(&node);
        }
        outcome
    }

    /// # Errors
    /// Where one is no node of this graph, or the edge is there, or leads from a node to itself. A
    /// cycle of several nodes is found when the graph is instantiated.
    pub fn connect(&mut self, from: NodeHandle, to: NodeHandle) -> Outcome {
        self.node(from)?;
        if from == to || self.node(to)?.after.contains(&from) {
            return Err(Code::INVALID_VALUE.because("the edge is there, or leads nowhere"));
        }
        if let Some(node) = self.nodes.get_mut(&to) {
            node.after.push(from);
        }
        Ok(())
    }

    pub fn disconnect(&mut self, from: NodeHandle, to: NodeHandle) -> Outcome {
        self.node(from)?;
        let missing = || Code::INVALID_VALUE.because("there is no such edge");
        let place = self.node(to)?.after.iter().position(|&node| node == from);
        let place = place.ok_or_else(missing)?;
        if let Some(node) = self.nodes.get_mut(&to) {
            node.after.remove(place);
        }
        Ok(())
    }

    pub fn remove(&mut self, node: NodeHandle) {
        self.nodes.remove(&node);
        self.nodes.values_mut().for_each(|other| other.after.retain(|&before| before != node));
    }

    pub fn roots(&self) -> Vec<NodeHandle> {
        let first = self.nodes.iter().filter(|(_, node)| node.after.is_empty());
        first.map(|(&node, _)| node).collect()
    }

    pub fn before(&self, node: NodeHandle) -> Result<&[NodeHandle], Failure> {
        self.node(node).map(|node| node.after.as_slice())
    }

    pub fn behind(&self, node: NodeHandle) -> Result<Vec<NodeHandle>, Failure> {
        self.node(node)?;
        let depends = |other: &&NodeHandle| self.nodes[*other].after.contains(&node);
        Ok(self.nodes.keys().filter(depends).copied().collect())
    }

    /// From and to.
    pub fn edges(&self) -> Vec<(NodeHandle, NodeHandle)> {
        let of = |(&to, node): (&NodeHandle, &Node)| {
            node.after.iter().map(|&from| (from, to)).collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of).collect()
    }

    /// These nodes and all that must be done before them.
    pub fn up_to(&self, last: &[NodeHandle]) -> BTreeSet<NodeHandle> {
        let mut found = BTreeSet::new();
        let mut open = last.to_vec();
        while let Some(node) = open.pop() {
            if let Some(known) = self.nodes.get(&node)
                && found.insert(node)
            {
                open.extend(&known.after);
            }
        }
        found
    }

    /// An order that the edges allow: of several nodes that may come next, the oldest.
    ///
    /// # Errors
    /// Where nodes wait for each other in a circle.
    pub fn order(&self) -> Result<Vec<NodeHandle>, Failure> {
        let mut missing: BTreeMap<_, _> =
            self.nodes.iter().map(|(&node, known)| (node, known.after.len())).collect();
        let mut behind: BTreeMap<NodeHandle, Vec<NodeHandle>> = BTreeMap::new();
        for (from, to) in self.edges() {
            behind.entry(from).or_default().push(to);
        }
        let mut ready: BTreeSet<_> = self.roots().into_iter().collect();
        let mut order = Vec::new();
        while let Some(node) = ready.pop_first() {
            order.push(node);
            for next in behind.get(&node).into_iter().flatten() {
                if let Some(count) = missing.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        ready.insert(*next);
                    }
                }
            }
        }
        if order.len() < self.nodes.len() {
            return Err(Code::INVALID_VALUE.because("its nodes wait for each other in a circle"));
        }
        Ok(order)
    }

    /// The same graph with nodes of its own.
    pub fn renamed(&self, mut handle: impl FnMut() -> NodeHandle) -> Self {
        let twins: BTreeMap<_, _> = self.nodes.keys().map(|&node| (node, handle())).collect();
        let twin = |(old, node): (&NodeHandle, &Node)| {
            let after = node.after.iter().map(|before| twins[before]).collect();
            (twins[old], Node { task: node.task.clone(), after })
        };
        Self { nodes: self.nodes.iter().map(twin).collect(), twins }
    }

    /// Of a clone, the node that was made from this one, if both are still there.
    pub fn twin(&self, original: NodeHandle) -> Option<NodeHandle> {
        self.twins.get(&original).copied().filter(|node| self.has(*node))
    }
}

//! What a node does.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use crate::abi::{Address, Copy3D, EventHandle, GraphHandle};
use crate::error::Outcome;
use crate::launch::Prepared;
use crate::protocol::geometry::Fill;
use crate::session::{self, Session};

/// A function of the program's, to be called without the session's lock.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub function: unsafe extern "C" fn(data: *mut c_void),
    /// A pointer that only the function understands.
    pub data: usize,
}

impl HostCall {
    pub fn run(self) {
        // SAFETY: the program passed a function and the argument it wants.
        timed(|| unsafe { (self.function)(self.data as *mut c_void) });
    }
}

/// Calls a function of the program's that the device waits for, which counts as time of the device's.
pub(crate) fn timed(function: impl FnOnce()) {
    let start = Instant::now();
    function();
    // Where the device is gone nobody needs it.
    session::with(|session| session.connection.host_time(start.elapsed()).ok());
}

/// Work that can be done again and again.
#[derive(Clone)]
pub(crate) enum Task {
    Kernel(Arc<Prepared>),
    Copy(Copy3D),
    Fill(Fill),
    Host(HostCall),
    /// A graph of the node's own.
    Child(GraphHandle),
    Empty,
    Wait(EventHandle),
    Record(EventHandle),
    /// The graph's memory at this address begins, and ends (`memory.rs`).
    Allocate(Address),
    Free(Address),
}

impl Task {
    /// `cudaGraphNodeType`
    pub fn kind(&self) -> u32 {
        match self {
            Self::Kernel(_) => 0,
            Self::Copy(_) => 1,
            Self::Fill(_) => 2,
            Self::Host(_) => 3,
            Self::Child(_) => 4,
            Self::Empty => 5,
            Self::Wait(_) => 6,
            Self::Record(_) => 7,
            Self::Allocate(_) => 10,
            Self::Free(_) => 11,
        }
    }
}

impl Session {
    /// Does what needs no code of the program: functions are called without the session's lock, and
    /// the tasks of a child graph stand in the executable one by one.
    pub fn perform(&mut self, task: &Task) -> Outcome {
        match task {
            Task::Kernel(prepared) => self.run(prepared),
            Task::Copy(copy) => self.copy_3d(copy),
            Task::Fill(fill) => self.connection.fill(*fill),
            Task::Record(event) => self.record_now(*event),
            // What came before is done already.
            Task::Wait(_) | Task::Empty | Task::Host(_) | Task::Child(_) => Ok(()),
            Task::Allocate(address) => self.begin_graph_memory(*address),
            Task::Free(address) => self.free(*address),
        }
    }
}

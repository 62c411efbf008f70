//! The C structures that describe nodes, as `driver_types.h` of CUDA 13.0 lays them out, and the tasks
//! that they stand for.

use std::ffi::c_void;
use std::sync::Arc;

use super::{HostCall, Task};
use crate::abi::{Address, Copy3D, Dim3, EventHandle, FunctionHandle, GraphHandle, In, NodeHandle};
use crate::error::{Code, Failure};
use crate::fill::of_elements;
use crate::launch::{Prepared, Request};
use crate::protocol::geometry::Fill;
use crate::protocol::launch::Launch;
use crate::session::Session;

/// `cudaKernelNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct KernelParameters {
    function: FunctionHandle,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: u32,
    arguments: In<*const c_void>,
    /// Arguments in one buffer, which the emulator does not take.
    extra: usize,
}

/// `cudaMemsetParams`: width in elements of 1, 2 or 4 bytes, pitch in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct FillParameters {
    start: Address,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

/// `cudaHostNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HostParameters {
    function: Option<unsafe extern "C" fn(data: *mut c_void)>,
    data: usize,
}

/// `cudaMemcpyNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
struct CopyParameters {
    flags: [i32; 4],
    copy: Copy3D,
}

/// `cudaGraphNodeParams`: a type, and a union of which each member is one of the above or a handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NodeParameters {
    kind: u32,
    reserved: [u32; 3],
    member: [u64; 29],
    reserved_too: u64,
}

const _: () = {
    assert!(size_of::<KernelParameters>() == 56);
    assert!(std::mem::offset_of!(KernelParameters, arguments) == 40);
    assert!(size_of::<FillParameters>() == 40);
    assert!(size_of::<CopyParameters>() == 176);
    assert!(size_of::<NodeParameters>() == 256);
    assert!(std::mem::offset_of!(NodeParameters, member) == 16);
};

impl Session {
    pub(super) fn kernel_task(&self, given: &KernelParameters) -> Result<Task, Failure> {
        if given.extra != 0 {
            let detail = "arguments in a buffer (`extra`); pass a pointer to each instead";
            return Err(Code::NOT_SUPPORTED.because(detail));
        }
        let extents = (given.grid, given.block);
        let shared = given.dynamic_shared as usize;
        let request = Request::new(given.function, extents, shared, 0);
        Ok(Task::Kernel(Arc::new(self.prepare(request, given.arguments)?)))
    }

    pub(super) fn copy_task(&self, given: Copy3D) -> Result<Task, Failure> {
        crate::copy::Direction::of(given.kind)?;
        Ok(Task::Copy(given))
    }

    pub(super) fn event_task(
        &self,
        event: EventHandle,
        of: impl Fn(EventHandle) -> Task,
    ) -> Result<Task, Failure> {
        self.event(event)?;
        Ok(of(event))
    }

    /// A child node has a copy of the graph.
    pub(super) fn child_task(&mut self, graph: GraphHandle) -> Result<Task, Failure> {
        self.copy_of(graph).map(Task::Child)
    }

    /// What a `cudaGraphNodeParams` stands for.
    pub(super) fn task(&mut self, given: In<NodeParameters>) -> Result<Task, Failure> {
        let kind = given.get()?.kind;
        let handle = || given.member::<NodeHandle>(16).get();
        match kind {
            0 => self.kernel_task(&given.member::<KernelParameters>(16).get()?),
            1 => self.copy_task(given.member::<CopyParameters>(16).get()?.copy),
            2 => given.member::<FillParameters>(16).get()?.task(),
            3 => given.member::<HostParameters>(16).get()?.task(),
            4 => self.child_task(handle()?),
            5 => Ok(Task::Empty),
            6 => self.event_task(handle()?, Task::Wait),
            7 => self.event_task(handle()?, Task::Record),
            _ => Err(Code::NOT_SUPPORTED.because(format!("a node of type {kind}"))),
        }
    }
}

impl FillParameters {
    pub fn task(&self) -> Result<Task, Failure> {
        let Self { start, pitch, value, element, width, height } = *self;
        if !matches!(element, 1 | 2 | 4) {
            return Err(Code::INVALID_VALUE.because(format!("elements of {element} bytes")));
        }
        Ok(Task::Fill(of_elements(start, pitch, (value, element), (width, height))))
    }
}

impl HostParameters {
    pub fn task(&self) -> Result<Task, Failure> {
        let missing = || Code::INVALID_VALUE.because("the function is null");
        let function = self.function.ok_or_else(missing)?;
        Ok(Task::Host(HostCall { function, data: self.data }))
    }
}

/// What `cuda…GetParams` tells of a node.
impl From<&Prepared> for KernelParameters {
    fn from(prepared: &Prepared) -> Self {
        let Launch { grid, block, dynamic_shared, .. } = prepared.launch;
        let function = prepared.function;
        let arguments = In::to_array(&prepared.arguments);
        let [grid, block] = [grid, block].map(|[x, y, z]| Dim3 { x, y, z });
        Self { function, grid, block, dynamic_shared, arguments, extra: 0 }
    }
}

impl From<Fill> for FillParameters {
    fn from(fill: Fill) -> Self {
        let Fill { start, pitch, value, element, width, height, .. } = fill;
        Self { start, pitch, value, element, width, height }
    }
}

impl From<HostCall> for HostParameters {
    fn from(call: HostCall) -> Self {
        Self { function: Some(call.function), data: call.data }
    }
}

//! Streams, events and graphs: the runtime's.

use crate::abi::{EventHandle, GraphExecHandle, GraphHandle, Out, StreamHandle};
use crate::event::*;
use crate::graph::*;
use crate::stream::*;

driver! {
    fn cuStreamCreate(stream: Out<StreamHandle>, flags: u32) {
        cudaStreamCreateWithFlags(stream, flags)
    }

    fn cuStreamCreateWithPriority(stream: Out<StreamHandle>, flags: u32, priority: i32) {
        cudaStreamCreateWithPriority(stream, flags, priority)
    }

    fn cuStreamDestroy_v2(stream: StreamHandle) { cudaStreamDestroy(stream) }

    fn cuStreamSynchronize(stream: StreamHandle) { cudaStreamSynchronize(stream) }

    fn cuStreamQuery(stream: StreamHandle) { cudaStreamQuery(stream) }

    fn cuStreamWaitEvent(stream: StreamHandle, event: EventHandle, flags: u32) {
        cudaStreamWaitEvent(stream, event, flags)
    }

    fn cuStreamGetFlags(stream: StreamHandle, flags: Out<u32>) { cudaStreamGetFlags(stream, flags) }

    fn cuStreamGetPriority(stream: StreamHandle, priority: Out<i32>) {
        cudaStreamGetPriority(stream, priority)
    }

    fn cuLaunchHostFunc(stream: StreamHandle, function: HostFunction, data: *mut std::ffi::c_void) {
        cudaLaunchHostFunc(stream, function, data)
    }

    fn cuStreamAddCallback(
        stream: StreamHandle, function: StreamCallback, data: *mut std::ffi::c_void, flags: u32,
    ) {
        cudaStreamAddCallback(stream, function, data, flags)
    }

    fn cuStreamBeginCapture_v2(stream: StreamHandle, mode: u32) {
        capture::cudaStreamBeginCapture(stream, mode)
    }

    fn cuStreamEndCapture(stream: StreamHandle, graph: Out<GraphHandle>) {
        capture::cudaStreamEndCapture(stream, graph)
    }

    fn cuStreamIsCapturing(stream: StreamHandle, status: Out<u32>) {
        capture::cudaStreamIsCapturing(stream, status)
    }

    fn cuGraphInstantiateWithFlags(
        executable: Out<GraphExecHandle>, graph: GraphHandle, flags: u64,
    ) {
        cudaGraphInstantiateWithFlags(executable, graph, flags)
    }

    fn cuGraphLaunch(executable: GraphExecHandle, stream: StreamHandle) {
        cudaGraphLaunch(executable, stream)
    }

    fn cuGraphDestroy(graph: GraphHandle) { cudaGraphDestroy(graph) }

    fn cuGraphExecDestroy(executable: GraphExecHandle) { cudaGraphExecDestroy(executable) }

    fn cuEventCreate(event: Out<EventHandle>, flags: u32) { cudaEventCreateWithFlags(event, flags) }

    fn cuEventRecord(event: EventHandle, stream: StreamHandle) { cudaEventRecord(event, stream) }

    fn cuEventSynchronize(event: EventHandle) { cudaEventSynchronize(event) }

    fn cuEventQuery(event: EventHandle) { cudaEventQuery(event) }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: EventHandle, end: EventHandle) {
        cudaEventElapsedTime(milliseconds, start, end)
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: EventHandle, end: EventHandle) {
        cudaEventElapsedTime(milliseconds, start, end)
    }

    fn cuEventDestroy_v2(event: EventHandle) { cudaEventDestroy(event) }
}

//! Every name that the runtime of CUDA 13.0 exports: the one table of them.
//!
//! The first part says which file implements what. The second becomes stubs.

use std::ffi::c_void;

use super::error::Code;
use super::graph::{
    build as graph_build, capture as graph_capture, change as graph_change, memory as graph_memory,
    query as graph_query,
};
use super::*;

/// An exported function. The address is there so that the linker keeps the function.
struct Export {
    name: &'static str,
    address: *const c_void,
}

// SAFETY: the address of a function is the same, and as valid, on every thread.
unsafe impl Sync for Export {}

macro_rules! exports {
    (
        implemented { $($family:ident: [$($name:ident,)*])* }
        missing [$($missing:ident,)*]
    ) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $missing() -> Code {
                session::unsupported(stringify!($missing))
            }
        )*

        static EXPORTS: &[Export] = &[
            $($(Export {
                name: stringify!($name),
                address: $family::$name as *const c_void,
            },)*)*
            $(Export { name: stringify!($missing), address: $missing as *const c_void },)*
        ];

        /// Names of the runtime's functions, those that are stubs last.
        pub const NAMES: &[&str] = &[$($(stringify!($name),)*)* $(stringify!($missing),)*];
    };
}

/// Makes the executable contain every function, although nothing in it calls them.
pub(super) fn keep() {
    for export in std::hint::black_box(EXPORTS) {
        debug_assert!(!export.address.is_null(), "{}", export.name);
    }
}

exports! {
    implemented {
        allocation: [
            cudaFree, cudaFreeAsync, cudaFreeAsync_ptsz, cudaFreeHost, cudaHostAlloc,
            cudaHostGetDevicePointer, cudaHostGetFlags, cudaHostRegister,
            cudaHostUnregister, cudaMalloc, cudaMalloc3D, cudaMallocAsync,
            cudaMallocAsync_ptsz, cudaMallocFromPoolAsync,
            cudaMallocFromPoolAsync_ptsz, cudaMallocHost, cudaMallocManaged,
            cudaMallocPitch, cudaMemAdvise, cudaMemGetInfo, cudaMemPrefetchAsync,
            cudaMemPrefetchAsync_ptsz, cudaPointerGetAttributes,
            cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz,
        ]
        channel: [
            cudaCreateChannelDesc,
        ]
        copy: [
            cudaMemcpy, cudaMemcpy2D, cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz,
            cudaMemcpy2D_ptds, cudaMemcpy3D, cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz,
            cudaMemcpy3D_ptds, cudaMemcpyAsync, cudaMemcpyAsync_ptsz, cudaMemcpyBatchAsync,
            cudaMemcpyBatchAsync_ptsz, cudaMemcpyPeer, cudaMemcpyPeerAsync, cudaMemcpy_ptds,
        ]
        device: [
            cudaChooseDevice, cudaCtxResetPersistingL2Cache, cudaDeviceCanAccessPeer,
            cudaDeviceDisablePeerAccess, cudaDeviceEnablePeerAccess,
            cudaDeviceFlushGPUDirectRDMAWrites, cudaDeviceGetByPCIBusId,
            cudaDeviceGetCacheConfig, cudaDeviceGetLimit, cudaDeviceGetP2PAttribute,
            cudaDeviceGetPCIBusId, cudaDeviceGetSharedMemConfig, cudaDeviceGetStreamPriorityRange,
            cudaDeviceReset, cudaDeviceSetCacheConfig, cudaDeviceSetLimit,
            cudaDeviceSetSharedMemConfig, cudaDeviceSynchronize, cudaDriverGetVersion,
            cudaGetDevice, cudaGetDeviceCount, cudaGetDeviceFlags, cudaInitDevice,
            cudaProfilerStart, cudaProfilerStop, cudaRuntimeGetVersion, cudaSetDevice,
            cudaSetDeviceFlags, cudaSetValidDevices,
        ]
        entry_point: [
            cudaGetDriverEntryPoint, cudaGetDriverEntryPointByVersion,
            cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPoint_ptsz,
        ]
        error: [
            cudaGetErrorName, cudaGetErrorString, cudaGetLastError,
            cudaPeekAtLastError,
        ]
        event: [
            cudaEventCreate, cudaEventCreateWithFlags, cudaEventDestroy,
            cudaEventElapsedTime, cudaEventQuery, cudaEventRecord,
            cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz,
            cudaEventRecord_ptsz, cudaEventSynchronize,
        ]
        fill: [
            cudaMemset, cudaMemset2D, cudaMemset2DAsync, cudaMemset2DAsync_ptsz,
            cudaMemset2D_ptds, cudaMemset3D, cudaMemset3DAsync, cudaMemset3DAsync_ptsz,
            cudaMemset3D_ptds, cudaMemsetAsync, cudaMemsetAsync_ptsz, cudaMemset_ptds,
        ]
        function: [
            cudaFuncGetAttributes, cudaFuncGetName, cudaFuncGetParamInfo,
            cudaFuncSetAttribute, cudaFuncSetCacheConfig, cudaFuncSetSharedMemConfig,
            cudaGetFuncBySymbol, cudaKernelSetAttributeForDevice,
        ]
        graph: [
            cudaGraphDestroy, cudaGraphExecDestroy, cudaGraphExecGetFlags, cudaGraphInstantiate,
            cudaGraphInstantiateWithFlags, cudaGraphInstantiateWithParams,
            cudaGraphInstantiateWithParams_ptsz, cudaGraphLaunch, cudaGraphLaunch_ptsz,
            cudaGraphUpload, cudaGraphUpload_ptsz,
        ]
        graph_build: [
            cudaGraphAddChildGraphNode, cudaGraphAddDependencies, cudaGraphAddEmptyNode,
            cudaGraphAddEventRecordNode, cudaGraphAddEventWaitNode, cudaGraphAddHostNode,
            cudaGraphAddKernelNode, cudaGraphAddMemcpyNode, cudaGraphAddMemcpyNode1D,
            cudaGraphAddMemcpyNodeFromSymbol, cudaGraphAddMemcpyNodeToSymbol,
            cudaGraphAddMemsetNode, cudaGraphAddNode, cudaGraphClone, cudaGraphCreate,
            cudaGraphDestroyNode, cudaGraphRemoveDependencies,
        ]
        graph_capture: [
            cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz, cudaStreamEndCapture,
            cudaStreamEndCapture_ptsz, cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz,
            cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz,
            cudaThreadExchangeStreamCaptureMode,
        ]
        graph_change: [
            cudaGraphEventRecordNodeSetEvent, cudaGraphEventWaitNodeSetEvent,
            cudaGraphExecEventRecordNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent,
            cudaGraphExecHostNodeSetParams, cudaGraphExecKernelNodeSetParams,
            cudaGraphExecMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams1D,
            cudaGraphExecMemsetNodeSetParams, cudaGraphExecNodeSetParams, cudaGraphExecUpdate,
            cudaGraphHostNodeSetParams, cudaGraphKernelNodeSetParams,
            cudaGraphMemcpyNodeSetParams, cudaGraphMemcpyNodeSetParams1D,
            cudaGraphMemsetNodeSetParams, cudaGraphNodeSetEnabled, cudaGraphNodeSetParams,
        ]
        graph_memory: [
            cudaDeviceGetGraphMemAttribute, cudaDeviceGraphMemTrim,
            cudaDeviceSetGraphMemAttribute, cudaGraphAddMemAllocNode,
            cudaGraphAddMemFreeNode,
        ]
        graph_query: [
            cudaGraphChildGraphNodeGetGraph, cudaGraphEventRecordNodeGetEvent,
            cudaGraphEventWaitNodeGetEvent, cudaGraphGetEdges, cudaGraphGetNodes,
            cudaGraphGetRootNodes, cudaGraphHostNodeGetParams, cudaGraphKernelNodeGetParams,
            cudaGraphMemcpyNodeGetParams, cudaGraphMemsetNodeGetParams,
            cudaGraphNodeFindInClone, cudaGraphNodeGetDependencies,
            cudaGraphNodeGetDependentNodes, cudaGraphNodeGetEnabled, cudaGraphNodeGetType,
        ]
        launch: [
            __cudaGetKernel, __cudaLaunchKernel, __cudaLaunchKernel_ptsz,
            __cudaPopCallConfiguration, __cudaPushCallConfiguration, cudaGetKernel,
            cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz,
            cudaLaunchKernel, cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz,
            cudaLaunchKernel_ptsz,
        ]
        library: [
            cudaLibraryEnumerateKernels, cudaLibraryGetGlobal, cudaLibraryGetKernel,
            cudaLibraryGetKernelCount, cudaLibraryGetManaged, cudaLibraryLoadData,
            cudaLibraryLoadFromFile, cudaLibraryUnload,
        ]
        occupancy: [
            cudaOccupancyAvailableDynamicSMemPerBlock,
            cudaOccupancyMaxActiveBlocksPerMultiprocessor,
            cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            cudaOccupancyMaxActiveClusters, cudaOccupancyMaxPotentialClusterSize,
        ]
        pool: [
            cudaDeviceGetDefaultMemPool, cudaDeviceGetMemPool, cudaDeviceSetMemPool,
            cudaMemGetDefaultMemPool, cudaMemGetMemPool, cudaMemPoolCreate,
            cudaMemPoolDestroy, cudaMemPoolGetAccess, cudaMemPoolGetAttribute,
            cudaMemPoolSetAccess, cudaMemPoolSetAttribute, cudaMemPoolTrimTo,
            cudaMemSetMemPool,
        ]
        properties: [
            cudaDeviceGetAttribute, cudaGetDeviceProperties,
        ]
        registration: [
            __cudaInitModule, __cudaRegisterFatBinary, __cudaRegisterFatBinaryEnd,
            __cudaRegisterFunction, __cudaRegisterManagedVar, __cudaRegisterVar,
            __cudaUnregisterFatBinary,
        ]
        stream: [
            cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz, cudaStreamAddCallback,
            cudaStreamAddCallback_ptsz, cudaStreamCopyAttributes,
            cudaStreamCopyAttributes_ptsz, cudaStreamCreate, cudaStreamCreateWithFlags,
            cudaStreamCreateWithPriority, cudaStreamDestroy, cudaStreamGetDevice,
            cudaStreamGetDevice_ptsz, cudaStreamGetFlags, cudaStreamGetFlags_ptsz,
            cudaStreamGetId, cudaStreamGetId_ptsz, cudaStreamGetPriority,
            cudaStreamGetPriority_ptsz, cudaStreamQuery, cudaStreamQuery_ptsz,
            cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz, cudaStreamSynchronize,
            cudaStreamSynchronize_ptsz, cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz,
        ]
        symbol: [
            cudaGetSymbolAddress, cudaGetSymbolSize, cudaMemcpyFromSymbol,
            cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz,
            cudaMemcpyFromSymbol_ptds, cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync,
            cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbol_ptds,
        ]
    }
    missing [
        __cudaGetProcAddress, __cudaRegisterHostVar, __cudaRegisterUnifiedTable,
        cudaArrayGetInfo, cudaArrayGetMemoryRequirements, cudaArrayGetPlane,
        cudaArrayGetSparseProperties, cudaCreateSurfaceObject, cudaCreateTextureObject,
        cudaDestroyExternalMemory, cudaDestroyExternalSemaphore,
        cudaDestroySurfaceObject, cudaDestroyTextureObject,
        cudaDeviceGetHostAtomicCapabilities, cudaDeviceGetNvSciSyncAttributes,
        cudaDeviceGetP2PAtomicCapabilities, cudaDeviceGetTexture1DLinearMaxWidth,
        cudaDeviceRegisterAsyncNotification, cudaDeviceUnregisterAsyncNotification,
        cudaEGLStreamConsumerAcquireFrame, cudaEGLStreamConsumerConnect,
        cudaEGLStreamConsumerConnectWithFlags, cudaEGLStreamConsumerDisconnect,
        cudaEGLStreamConsumerReleaseFrame, cudaEGLStreamProducerConnect,
        cudaEGLStreamProducerDisconnect, cudaEGLStreamProducerPresentFrame,
        cudaEGLStreamProducerReturnFrame, cudaEventCreateFromEGLSync,
        cudaExternalMemoryGetMappedBuffer, cudaExternalMemoryGetMappedMipmappedArray,
        cudaFreeArray, cudaFreeMipmappedArray, cudaGLGetDevices, cudaGLMapBufferObject,
        cudaGLMapBufferObjectAsync, cudaGLRegisterBufferObject,
        cudaGLSetBufferObjectMapFlags, cudaGLSetGLDevice, cudaGLUnmapBufferObject,
        cudaGLUnmapBufferObjectAsync, cudaGLUnregisterBufferObject, cudaGetChannelDesc,
        cudaGetExportTable, cudaGetMipmappedArrayLevel,
        cudaGetSurfaceObjectResourceDesc, cudaGetTextureObjectResourceDesc,
        cudaGetTextureObjectResourceViewDesc, cudaGetTextureObjectTextureDesc,
        cudaGraphAddExternalSemaphoresSignalNode,
        cudaGraphAddExternalSemaphoresWaitNode, cudaGraphConditionalHandleCreate,
        cudaGraphDebugDotPrint, cudaGraphExecChildGraphNodeSetParams,
        cudaGraphExecExternalSemaphoresSignalNodeSetParams,
        cudaGraphExecExternalSemaphoresWaitNodeSetParams,
        cudaGraphExecMemcpyNodeSetParamsFromSymbol,
        cudaGraphExecMemcpyNodeSetParamsToSymbol,
        cudaGraphExternalSemaphoresSignalNodeGetParams,
        cudaGraphExternalSemaphoresSignalNodeSetParams,
        cudaGraphExternalSemaphoresWaitNodeGetParams,
        cudaGraphExternalSemaphoresWaitNodeSetParams, cudaGraphKernelNodeCopyAttributes,
        cudaGraphKernelNodeGetAttribute, cudaGraphKernelNodeSetAttribute,
        cudaGraphMemAllocNodeGetParams, cudaGraphMemFreeNodeGetParams,
        cudaGraphMemcpyNodeSetParamsFromSymbol, cudaGraphMemcpyNodeSetParamsToSymbol,
        cudaGraphReleaseUserObject, cudaGraphRetainUserObject,
        cudaGraphicsEGLRegisterImage, cudaGraphicsGLRegisterBuffer,
        cudaGraphicsGLRegisterImage, cudaGraphicsMapResources,
        cudaGraphicsResourceGetMappedEglFrame,
        cudaGraphicsResourceGetMappedMipmappedArray,
        cudaGraphicsResourceGetMappedPointer, cudaGraphicsResourceSetMapFlags,
        cudaGraphicsSubResourceGetMappedArray, cudaGraphicsUnmapResources,
        cudaGraphicsUnregisterResource, cudaGraphicsVDPAURegisterOutputSurface,
        cudaGraphicsVDPAURegisterVideoSurface, cudaImportExternalMemory,
        cudaImportExternalSemaphore, cudaIpcCloseMemHandle, cudaIpcGetEventHandle,
        cudaIpcGetMemHandle, cudaIpcOpenEventHandle, cudaIpcOpenMemHandle,
        cudaLibraryGetUnifiedFunction, cudaLogsCurrent, cudaLogsDumpToFile,
        cudaLogsDumpToMemory, cudaLogsRegisterCallback, cudaLogsUnregisterCallback,
        cudaMalloc3DArray, cudaMallocArray, cudaMallocMipmappedArray,
        cudaMemDiscardAndPrefetchBatchAsync, cudaMemDiscardAndPrefetchBatchAsync_ptsz,
        cudaMemDiscardBatchAsync, cudaMemDiscardBatchAsync_ptsz,
        cudaMemPoolExportPointer, cudaMemPoolExportToShareableHandle,
        cudaMemPoolImportFromShareableHandle, cudaMemPoolImportPointer,
        cudaMemPrefetchBatchAsync, cudaMemPrefetchBatchAsync_ptsz,
        cudaMemRangeGetAttribute, cudaMemRangeGetAttributes, cudaMemcpy2DArrayToArray,
        cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DFromArray,
        cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz,
        cudaMemcpy2DFromArray_ptds, cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync,
        cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArray_ptds, cudaMemcpy3DBatchAsync,
        cudaMemcpy3DBatchAsync_ptsz, cudaMemcpy3DPeer, cudaMemcpy3DPeerAsync,
        cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeer_ptds, cudaMemcpyArrayToArray,
        cudaMemcpyArrayToArray_ptds, cudaMemcpyFromArray, cudaMemcpyFromArrayAsync,
        cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArray_ptds, cudaMemcpyToArray,
        cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArray_ptds,
        cudaMipmappedArrayGetMemoryRequirements, cudaMipmappedArrayGetSparseProperties,
        cudaSignalExternalSemaphoresAsync, cudaSignalExternalSemaphoresAsync_ptsz,
        cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz,
        cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz,
        cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz,
        cudaUserObjectCreate, cudaUserObjectRelease, cudaUserObjectRetain,
        cudaVDPAUGetDevice, cudaVDPAUSetVDPAUDevice, cudaWaitExternalSemaphoresAsync,
        cudaWaitExternalSemaphoresAsync_ptsz,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_every_name_once() {
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        // `nm -D libcudart.so.13` of the 13.0 wheel.
        assert_eq!(names.len(), 422);
        assert_eq!(EXPORTS.len(), 422);
    }
}

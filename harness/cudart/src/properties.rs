//! What the device says of itself, as a structure and attribute by attribute.

use super::abi::Out;
use super::device_model::{
    BLOCK_EXTENT, CLUSTERS_SINCE, CONSTANT_BYTES, GRID_EXTENT, Limits, REGISTERS_PER_SM,
    SHARED_PER_BLOCK_DEFAULT, SHARED_RESERVED, THREADS_PER_BLOCK, WARP,
};
use super::error::{Code, Failure};
use super::session::Session;
use crate::protocol::Model;

pub(super) const UUID: [u8; 16] = *b"nibble emulator\0";

/// `cudaDeviceProp` of CUDA 13.0.
#[repr(C)]
pub(super) struct DeviceProperties {
    name: [u8; 256],
    uuid: [u8; 16],
    luid: [u8; 8],
    luid_device_node_mask: u32,
    total_global: usize,
    shared_per_block: usize,
    registers_per_block: i32,
    warp_size: i32,
    max_pitch: usize,
    max_threads_per_block: i32,
    max_threads_extent: [i32; 3],
    max_grid: [i32; 3],
    total_constant: usize,
    major: i32,
    minor: i32,
    texture_alignment: usize,
    texture_pitch_alignment: usize,
    sms: i32,
    integrated: i32,
    can_map_host_memory: i32,
    /// Limits of textures and surfaces, none of which exist here.
    texture_limits: [i32; 38],
    surface_alignment: usize,
    concurrent_kernels: i32,
    ecc_enabled: i32,
    pci: [i32; 3],
    tcc_driver: i32,
    async_engines: i32,
    unified_addressing: i32,
    memory_bus_bits: i32,
    l2_bytes: i32,
    persisting_l2_max: i32,
    max_threads_per_sm: i32,
    stream_priorities: i32,
    global_l1_cache: i32,
    local_l1_cache: i32,
    shared_per_sm: usize,
    registers_per_sm: i32,
    managed_memory: i32,
    multi_gpu_board: i32,
    multi_gpu_board_group: i32,
    host_native_atomics: i32,
    pageable_memory_access: i32,
    concurrent_managed_access: i32,
    compute_preemption: i32,
    host_pointer_for_registered: i32,
    cooperative_launch: i32,
    shared_per_block_optin: usize,
    pageable_uses_host_tables: i32,
    direct_managed_from_host: i32,
    max_blocks_per_sm: i32,
    access_policy_max_window: i32,
    reserved_shared_per_block: usize,
    host_register: i32,
    sparse_arrays: i32,
    host_register_read_only: i32,
    timeline_semaphores: i32,
    memory_pools: i32,
    gpu_direct_rdma: [i32; 3],
    memory_pool_handle_types: u32,
    deferred_arrays: i32,
    ipc_events: i32,
    cluster_launch: i32,
    unified_function_pointers: i32,
    numa: [i32; 2],
    mps: i32,
    host_numa_id: i32,
    gpu_pci: [u32; 2],
    host_numa_multinode_ipc: i32,
    reserved: [i32; 56],
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<DeviceProperties>() == 1008);
    assert!(offset_of!(DeviceProperties, total_global) == 288);
    assert!(offset_of!(DeviceProperties, max_threads_per_block) == 320);
    assert!(offset_of!(DeviceProperties, major) == 360);
    assert!(offset_of!(DeviceProperties, sms) == 384);
    assert!(offset_of!(DeviceProperties, surface_alignment) == 552);
    assert!(offset_of!(DeviceProperties, unified_addressing) == 588);
    assert!(offset_of!(DeviceProperties, l2_bytes) == 596);
    assert!(offset_of!(DeviceProperties, shared_per_sm) == 624);
    assert!(offset_of!(DeviceProperties, shared_per_block_optin) == 672);
    assert!(offset_of!(DeviceProperties, reserved_shared_per_block) == 696);
    assert!(offset_of!(DeviceProperties, cluster_launch) == 748);
    assert!(offset_of!(DeviceProperties, gpu_pci) == 772);
    assert!(offset_of!(DeviceProperties, reserved) == 784);
};

impl Session {
    fn properties(&self) -> DeviceProperties {
        let Model { device, capability, sms, memory } = &self.connection.model;
        let limits = Limits::of(*capability);
        let mut name = [0; 256];
        let written = device.name.bytes().take(255);
        name.iter_mut().zip(written).for_each(|(to, from)| *to = from);
        DeviceProperties {
            name,
            uuid: UUID,
            luid: [0; 8],
            luid_device_node_mask: 0,
            total_global: *memory as usize,
            shared_per_block: SHARED_PER_BLOCK_DEFAULT as usize,
            registers_per_block: REGISTERS_PER_SM as i32,
            warp_size: WARP as i32,
            max_pitch: i32::MAX as usize,
            max_threads_per_block: THREADS_PER_BLOCK as i32,
            max_threads_extent: BLOCK_EXTENT.map(|extent| extent as i32),
            max_grid: GRID_EXTENT.map(|extent| extent as i32),
            total_constant: CONSTANT_BYTES,
            major: capability.0 as i32,
            minor: capability.1 as i32,
            texture_alignment: 512,
            texture_pitch_alignment: 32,
            sms: *sms as i32,
            integrated: 0,
            can_map_host_memory: 1,
            texture_limits: [0; 38],
            surface_alignment: 512,
            concurrent_kernels: 1,
            ecc_enabled: 0,
            pci: [1, 0, 0],
            tcc_driver: 0,
            async_engines: 2,
            unified_addressing: 1,
            memory_bus_bits: device.memory_bus_bits as i32,
            l2_bytes: device.l2_bytes as i32,
            persisting_l2_max: 0,
            max_threads_per_sm: limits.threads_per_sm as i32,
            stream_priorities: 1,
            global_l1_cache: 1,
            local_l1_cache: 1,
            shared_per_sm: limits.shared_per_sm as usize,
            registers_per_sm: REGISTERS_PER_SM as i32,
            managed_memory: 1,
            multi_gpu_board: 0,
            multi_gpu_board_group: 0,
            host_native_atomics: 0,
            pageable_memory_access: 0,
            concurrent_managed_access: 1,
            compute_preemption: 1,
            host_pointer_for_registered: 1,
            cooperative_launch: 1,
            shared_per_block_optin: limits.shared_per_block as usize,
            pageable_uses_host_tables: 0,
            direct_managed_from_host: 0,
            max_blocks_per_sm: limits.blocks_per_sm as i32,
            access_policy_max_window: 0,
            reserved_shared_per_block: SHARED_RESERVED as usize,
            host_register: 1,
            sparse_arrays: 0,
            host_register_read_only: 0,
            timeline_semaphores: 0,
            memory_pools: 1,
            gpu_direct_rdma: [0; 3],
            memory_pool_handle_types: 0,
            deferred_arrays: 0,
            ipc_events: 0,
            cluster_launch: i32::from(*capability >= CLUSTERS_SINCE),
            unified_function_pointers: 0,
            numa: [0; 2],
            mps: 0,
            host_numa_id: -1,
            gpu_pci: [0; 2],
            host_numa_multinode_ipc: 0,
            reserved: [0; 56],
        }
    }

    /// `cudaDeviceAttr` by number.
    fn attribute(&self, id: u32) -> Result<i32, Failure> {
        let device = &self.connection.model.device;
        let all = self.properties();
        Ok(match id {
            1 => all.max_threads_per_block,
            2..=4 => all.max_threads_extent[id as usize - 2],
            5..=7 => all.max_grid[id as usize - 5],
            8 => all.shared_per_block as i32,
            9 => all.total_constant as i32,
            10 => all.warp_size,
            11 => all.max_pitch as i32,
            12 => all.registers_per_block,
            13 => device.clock_khz as i32,
            14 => all.texture_alignment as i32,
            15 => 1,
            16 => all.sms,
            19 => all.can_map_host_memory,
            30 => all.surface_alignment as i32,
            31 => all.concurrent_kernels,
            33 => all.pci[0],
            36 => device.memory_clock_khz as i32,
            37 => all.memory_bus_bits,
            38 => all.l2_bytes,
            39 => all.max_threads_per_sm,
            40 => all.async_engines,
            41 => all.unified_addressing,
            51 => all.texture_pitch_alignment as i32,
            75 => all.major,
            76 => all.minor,
            78 => all.stream_priorities,
            79 => all.global_l1_cache,
            80 => all.local_l1_cache,
            81 => all.shared_per_sm as i32,
            82 => all.registers_per_sm,
            83 => all.managed_memory,
            87 => 64,
            89 => all.concurrent_managed_access,
            90 => all.compute_preemption,
            91 => all.host_pointer_for_registered,
            95 => all.cooperative_launch,
            97 => all.shared_per_block_optin as i32,
            99 => all.host_register,
            106 => all.max_blocks_per_sm,
            111 => all.reserved_shared_per_block as i32,
            115 => all.memory_pools,
            120 => all.cluster_launch,
            126 => 1,
            134 => all.host_numa_id,
            // Whatever else there is, this device has none of it.
            17..=147 => 0,
            _ => return Err(Code::INVALID_VALUE.because(format!("no attribute {id}"))),
        })
    }
}

runtime! {
    fn cudaGetDeviceProperties(properties: Out<DeviceProperties>, device: i32) |session| {
        session.device(device)?;
        properties.set(session.properties())
    }

    fn cudaDeviceGetAttribute(value: Out<i32>, id: u32, device: i32) |session| {
        session.device(device)?;
        value.set(session.attribute(id)?)
    }
}

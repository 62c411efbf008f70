//! The GPU that the program believes it has: what the machine's configuration does not say.

use serde::{Deserialize, Serialize};

/// What varies between GPUs of one compute capability, and does not matter to the emulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceModel {
    pub name: String,
    pub clock_khz: u32,
    pub memory_clock_khz: u32,
    pub memory_bus_bits: u32,
    pub l2_bytes: u32,
}

/// CUDA C++ Programming Guide, "Features and Technical Specifications", of one capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub threads_per_sm: u32,
    pub blocks_per_sm: u32,
    pub shared_per_sm: u32,
    /// With `cudaFuncAttributeMaxDynamicSharedMemorySize`.
    pub shared_per_block: u32,
}

/// Without that attribute.
pub(super) const SHARED_PER_BLOCK_DEFAULT: u32 = 48 << 10;
/// What the system takes of each block's shared memory.
pub(super) const SHARED_RESERVED: u32 = 1 << 10;
pub(super) const THREADS_PER_BLOCK: u32 = 1024;
pub(super) const BLOCK_EXTENT: [u32; 3] = [1024, 1024, 64];
pub(super) const GRID_EXTENT: [u32; 3] = [i32::MAX as u32, 65535, 65535];
pub(super) const REGISTERS_PER_SM: u32 = 64 << 10;
pub(super) const WARP: u32 = 32;
/// From which capability on there are clusters.
pub(super) const CLUSTERS_SINCE: (u32, u32) = (9, 0);
pub(super) const CONSTANT_BYTES: usize = 64 << 10;
/// Portable limit; 16 with `cudaFuncAttributeNonPortableClusterSizeAllowed`.
pub(super) const CLUSTER_BLOCKS: u32 = 8;
pub(super) const CLUSTER_BLOCKS_NON_PORTABLE: u32 = 16;

impl Limits {
    pub fn of(capability: (u32, u32)) -> Self {
        let (threads_per_sm, blocks_per_sm, shared_per_sm) = match capability {
            (8, 6) => (1536, 16, 100 << 10),
            (8, 7) => (1536, 16, 164 << 10),
            (8, 9) => (1536, 24, 100 << 10),
            (8, _) => (2048, 32, 164 << 10),
            (12, _) => (1536, 24, 100 << 10),
            _ => (2048, 32, 228 << 10),
        };
        let shared_per_block = shared_per_sm - SHARED_RESERVED;
        Self { threads_per_sm, blocks_per_sm, shared_per_sm, shared_per_block }
    }
}

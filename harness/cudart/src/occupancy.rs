//! Occupancy: how many blocks fit on a multiprocessor (CUDA C++ Programming Guide 5.2.3).

use super::abi::{FunctionHandle, In, LaunchAttribute, LaunchConfiguration, Out};
use super::device_model::{
    CLUSTER_BLOCKS, CLUSTER_BLOCKS_NON_PORTABLE, CLUSTERS_SINCE, Limits, REGISTERS_PER_SM,
    SHARED_RESERVED, WARP,
};
use super::error::{Code, Failure, Outcome};
use super::session::Session;
use crate::protocol::KernelInfo;

/// Registers are given to warps in units of this many.
const REGISTER_UNIT: u32 = 256;
/// And to the four quarters of a multiprocessor separately.
const QUARTERS: u32 = 4;
const SHARED_UNIT: u32 = 128;

/// Warps of a multiprocessor whose registers it has: each quarter gives them to its own warps.
fn warps_by_registers(registers: u32) -> u32 {
    let of_warp = (registers * WARP).next_multiple_of(REGISTER_UNIT);
    let quarter = (REGISTERS_PER_SM / QUARTERS).checked_div(of_warp);
    quarter.map_or(u32::MAX / WARP, |quarter| quarter * QUARTERS)
}

/// Threads of the largest block that has room with so many registers each.
pub(super) fn threads_by_registers(registers: u32) -> u32 {
    warps_by_registers(registers) * WARP
}

/// Blocks of `threads` threads that fit on a multiprocessor; 0 where not even one does.
pub(super) fn blocks_per_sm(
    kernel: &KernelInfo,
    limits: Limits,
    threads: u32,
    dynamic_shared: u32,
) -> u32 {
    let warps = threads.div_ceil(WARP).max(1);
    if threads > kernel.max_threads() {
        return 0;
    }
    let by_warps = limits.threads_per_sm / WARP / warps;
    let by_registers = warps_by_registers(kernel.registers) / warps;
    let shared = kernel.static_shared.saturating_add(dynamic_shared);
    if shared > limits.shared_per_block {
        return 0;
    }
    let by_shared = limits.shared_per_sm / (shared + SHARED_RESERVED).next_multiple_of(SHARED_UNIT);
    limits.blocks_per_sm.min(by_warps).min(by_registers).min(by_shared)
}

impl Session {
    fn max_active_blocks(
        &self,
        blocks: Out<i32>,
        function: FunctionHandle,
        threads: i32,
        dynamic_shared: usize,
    ) -> Outcome {
        let threads = positive(threads)?;
        let (_, kernel) = self.kernel(function)?;
        let dynamic_shared = u32::try_from(dynamic_shared).unwrap_or(u32::MAX);
        blocks.set(blocks_per_sm(&kernel, self.limits(), threads, dynamic_shared) as i32)
    }

    /// Blocks of a cluster that a launch asks for.
    fn cluster_of(&self, configuration: &LaunchConfiguration) -> Result<u32, Failure> {
        let mut blocks = 1;
        for index in 0..configuration.attribute_count as usize {
            let attribute = configuration.attributes.at(index)?;
            if attribute.id == LaunchAttribute::CLUSTER_DIMENSION {
                let [x, y, z, ..] = attribute.value;
                blocks = x.saturating_mul(y).saturating_mul(z).max(1);
            }
        }
        Ok(blocks)
    }
}

fn positive(threads: i32) -> Result<u32, Failure> {
    let refuse = || Code::INVALID_VALUE.because(format!("a block of {threads} threads"));
    u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or_else(refuse)
}

runtime! {
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<i32>, function: FunctionHandle, threads: i32, dynamic_shared: usize,
    ) |session| {
        session.max_active_blocks(blocks, function, threads, dynamic_shared)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>, function: FunctionHandle, threads: i32, dynamic_shared: usize,
        _flags: u32,
    ) |session| {
        session.max_active_blocks(blocks, function, threads, dynamic_shared)
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>, function: FunctionHandle, blocks: i32, threads: i32,
    ) |session| {
        positive(threads)?;
        let blocks = positive(blocks)?;
        let (_, kernel) = session.kernel(function)?;
        let limits = session.limits();
        let share = limits.shared_per_sm / blocks / SHARED_UNIT * SHARED_UNIT;
        let room = share.saturating_sub(SHARED_RESERVED).min(limits.shared_per_block);
        bytes.set(room.saturating_sub(kernel.static_shared) as usize)
    }

    fn cudaOccupancyMaxPotentialClusterSize(
        blocks: Out<i32>, function: FunctionHandle, _configuration: In<LaunchConfiguration>,
    ) |session| {
        let (function, _) = session.kernel(function)?;
        blocks.set(match session.connection.model.capability >= CLUSTERS_SINCE {
            true if function.non_portable_cluster => CLUSTER_BLOCKS_NON_PORTABLE as i32,
            true => CLUSTER_BLOCKS as i32,
            false => 1,
        })
    }

    fn cudaOccupancyMaxActiveClusters(
        clusters: Out<i32>, function: FunctionHandle, configuration: In<LaunchConfiguration>,
    ) |session| {
        let configuration = configuration.get()?;
        let (_, kernel) = session.kernel(function)?;
        let threads = configuration.block.array().iter().fold(1u32, |a, &b| a.saturating_mul(b));
        let shared = u32::try_from(configuration.dynamic_shared).unwrap_or(u32::MAX);
        let blocks = blocks_per_sm(&kernel, session.limits(), threads, shared);
        let resident = blocks.saturating_mul(session.connection.model.sms);
        clusters.set((resident / session.cluster_of(&configuration)?) as i32)
    }
}

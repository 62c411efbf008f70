//! A launch, and what can be wrong with one before its kernel begins.
//!
//! Both sides look: the client to tell the program, with what the program has set for the kernel, and the
//! device because it cannot believe the client, with the most that anybody can set.

use serde::{Deserialize, Serialize};

use super::{KernelId, KernelInfo};
use crate::device_model::{
    BLOCK_EXTENT, CLUSTER_BLOCKS_NON_PORTABLE, GRID_EXTENT, Limits, THREADS_PER_BLOCK,
};
use crate::error::{Code, Failure, Outcome};
use crate::occupancy::{blocks_per_sm, threads_by_registers};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub kernel: KernelId,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub cluster: Option<[u32; 3]>,
    pub cooperative: bool,
    /// Laid out as the kernel says.
    pub parameters: Vec<u8>,
}

/// What a launch asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: usize,
    pub cluster: Option<[u32; 3]>,
    pub cooperative: bool,
}

/// What it may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    pub limits: Limits,
    pub sms: u32,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Blocks of a cluster.
    pub cluster: u32,
}

impl Allowance {
    /// With all that a program can ask for.
    pub fn most(limits: Limits, sms: u32, kernel: &KernelInfo) -> Self {
        let dynamic_shared = limits.shared_per_block.saturating_sub(kernel.static_shared);
        Self { limits, sms, dynamic_shared, cluster: CLUSTER_BLOCKS_NON_PORTABLE }
    }
}

pub(crate) fn product(extents: [u32; 3]) -> u64 {
    extents.iter().fold(1, |product, &extent| product.saturating_mul(u64::from(extent)))
}

impl Extents {
    /// Limits that no kernel can have lifted. The code is what an H200 gives (driver 580, CUDA 13.0);
    /// the manual would have `cudaErrorInvalidConfiguration`.
    pub fn check(&self) -> Outcome {
        let invalid = |detail: String| Err(Code::INVALID_VALUE.because(detail));
        let Self { grid, block, .. } = self;
        if grid.contains(&0) || block.contains(&0) {
            return invalid(format!("grid {grid:?} and block {block:?} must not be empty"));
        }
        if product(*block) > u64::from(THREADS_PER_BLOCK)
            || block.iter().zip(BLOCK_EXTENT).any(|(&extent, limit)| extent > limit)
        {
            return invalid(format!(
                "a block of {block:?} threads; at most {BLOCK_EXTENT:?} and {THREADS_PER_BLOCK} \
                 in all"
            ));
        }
        if grid.iter().zip(GRID_EXTENT).any(|(&extent, limit)| extent > limit) {
            return invalid(format!("a grid of {grid:?} blocks; at most {GRID_EXTENT:?}"));
        }
        Ok(())
    }

    /// What this kernel, with these settings, cannot be launched with; else the cluster's extents, from
    /// the launch or the kernel.
    pub fn check_for(
        &self,
        kernel: &KernelInfo,
        allowed: Allowance,
    ) -> Result<Option<[u32; 3]>, Failure> {
        self.check_block(kernel, allowed)?;
        let cluster = self.checked_cluster(kernel, allowed)?;
        if self.cooperative {
            let (threads, shared) = (product(self.block) as u32, self.dynamic_shared as u32);
            let blocks = blocks_per_sm(kernel, allowed.limits, threads, shared);
            let resident = u64::from(blocks) * u64::from(allowed.sms);
            if product(self.grid) > resident {
                let detail = format!("{:?} blocks; {resident} can be resident", self.grid);
                return Err(Code::COOPERATIVE_LAUNCH_TOO_LARGE.because(detail));
            }
        }
        Ok(cluster)
    }

    fn check_block(&self, kernel: &KernelInfo, allowed: Allowance) -> Outcome {
        let threads = product(self.block);
        let bound = kernel.max_threads();
        if threads > u64::from(bound) {
            let detail = format!("{threads} threads; {} was compiled for {bound}", kernel.name);
            return Err(Code::INVALID_VALUE.because(detail));
        }
        if let Some(required) = kernel.reqntid.filter(|&block| block != self.block) {
            let detail = format!("{} needs blocks of {required:?} threads", kernel.name);
            return Err(Code::INVALID_VALUE.because(detail));
        }
        let limit = allowed.dynamic_shared;
        if self.dynamic_shared > limit as usize {
            let most = allowed.limits.shared_per_block.saturating_sub(kernel.static_shared);
            let wanted = self.dynamic_shared;
            let detail = match wanted > most as usize {
                true => format!(
                    "{wanted} bytes of dynamic shared memory; a block may have {most}, beside {} \
                     static ones",
                    kernel.static_shared
                ),
                false => format!(
                    "{wanted} bytes of dynamic shared memory; {limit} until cudaFuncSetAttribute(\
                     cudaFuncAttributeMaxDynamicSharedMemorySize) raises it, to {most} at most"
                ),
            };
            return Err(Code::INVALID_VALUE.because(detail));
        }
        let (registers, fitting) = (kernel.registers, threads_by_registers(kernel.registers));
        if threads > u64::from(fitting) {
            let detail = format!(
                "{threads} threads of {registers} registers; {fitting} have room, or more with \
                 __launch_bounds__({threads}), which makes the compiler use fewer"
            );
            return Err(Code::LAUNCH_OUT_OF_RESOURCES.because(detail));
        }
        Ok(())
    }

    fn checked_cluster(
        &self,
        kernel: &KernelInfo,
        allowed: Allowance,
    ) -> Result<Option<[u32; 3]>, Failure> {
        let invalid = |detail: String| Err(Code::INVALID_CLUSTER_SIZE.because(detail));
        let compiled = kernel.reqnctapercluster;
        if self.cluster.is_some() && compiled.is_some() && self.cluster != compiled {
            return invalid(format!("{} was compiled for clusters of {compiled:?}", kernel.name));
        }
        let Some(cluster) = self.cluster.or(compiled) else {
            if kernel.explicitcluster {
                return invalid(format!("{} must be launched in clusters", kernel.name));
            }
            return Ok(None);
        };
        let limit = allowed.cluster;
        let bound = kernel.maxclusterrank.map_or(limit, |rank| rank.min(limit));
        if product(cluster) > u64::from(bound) || cluster.contains(&0) {
            return invalid(format!("a cluster of {cluster:?} blocks; at most {bound}"));
        }
        if self.grid.iter().zip(cluster).any(|(grid, cluster)| !grid.is_multiple_of(cluster)) {
            return invalid(format!("a grid of {:?} in clusters of {cluster:?}", self.grid));
        }
        Ok(Some(cluster))
    }
}

impl KernelInfo {
    /// Threads of a block that the kernel was compiled for.
    pub fn max_threads(&self) -> u32 {
        let product = |extents: [u32; 3]| extents.iter().fold(1u32, |a, &b| a.saturating_mul(b));
        let bound = self.reqntid.or(self.maxntid).map(product);
        bound.unwrap_or(THREADS_PER_BLOCK).min(THREADS_PER_BLOCK)
    }
}

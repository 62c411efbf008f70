//! How many CTAs of a kernel fit on one SM, and what stops the next.
//!
//! The rules are those of NVIDIA's occupancy calculator for compute capability 8.0 and later:
//! registers are handed out to warps in portions of 256, a warp belongs to one of four schedulers
//! with a quarter of the register file each, shared memory comes in portions of 128 bytes, and
//! the system keeps 1 KiB of it for each CTA.
//!
//! Worked example: 256 threads with 40 registers on a B200. A warp takes 40 × 32 = 1280 registers,
//! a scheduler's quarter of 16384 holds 12 warps, the SM 48; that is 6 CTAs of 8 warps. Threads
//! would allow 8, so registers are the limit, and 48 of 64 warps are resident: 75 %.

use crate::gpus::Gpu;

/// What a kernel asks of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    pub threads: u32,
    /// Of a thread.
    pub registers: u32,
    /// Static and dynamic, bytes of a CTA.
    pub shared: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Warps,
    Ctas,
    Registers,
    SharedMemory,
}

impl Limit {
    pub fn name(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Ctas => "CTAs",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
        }
    }
}

/// What is resident on one SM when there is enough to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// 0 where the kernel cannot run at all.
    pub ctas: u32,
    pub warps: u32,
    /// What stops the next CTA.
    pub limit: Limit,
}

const SCHEDULERS: u32 = 4;
const REGISTER_PORTION: u32 = 256;
const SHARED_PORTION: u32 = 128;
const SHARED_RESERVED: u32 = 1024;

/// Occupancy of `demand` on one SM of `gpu`.
pub fn occupancy(gpu: &Gpu, demand: Demand) -> Occupancy {
    let warps = demand.threads.div_ceil(32).max(1);
    let per_warp = (demand.registers * 32).next_multiple_of(REGISTER_PORTION).max(REGISTER_PORTION);
    let by_registers = gpu.registers / SCHEDULERS / per_warp * SCHEDULERS / warps;
    let shared = (demand.shared + SHARED_RESERVED).next_multiple_of(SHARED_PORTION);
    // The tightest; of equal ones the one that no change of the kernel's resources moves.
    let limits = [
        (gpu.warps / warps, Limit::Warps),
        (gpu.ctas, Limit::Ctas),
        (by_registers, Limit::Registers),
        (gpu.shared / shared, Limit::SharedMemory),
    ];
    let mut tightest = limits[0];
    for limit in limits {
        if limit.0 < tightest.0 {
            tightest = limit;
        }
    }
    Occupancy { ctas: tightest.0, warps: tightest.0 * warps, limit: tightest.1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus::for_arch;

    /// From NVIDIA's CUDA Occupancy Calculator (8.0 and 9.0), and the example above.
    #[test]
    fn as_the_calculator_says() {
        let cases = [
            ("sm_100a", (256, 40, 0), (6, 48, Limit::Registers)),
            ("sm_100a", (256, 32, 0), (8, 64, Limit::Warps)),
            ("sm_100a", (32, 16, 0), (32, 32, Limit::Ctas)),
            ("sm_100a", (1024, 64, 0), (1, 32, Limit::Registers)),
            ("sm_100a", (128, 32, 49152), (4, 16, Limit::SharedMemory)),
            ("sm_80", (128, 32, 49152), (3, 12, Limit::SharedMemory)),
            ("sm_80", (256, 255, 0), (1, 8, Limit::Registers)),
            ("sm_120a", (256, 32, 0), (6, 48, Limit::Warps)),
            ("sm_90a", (1, 1, 0), (32, 32, Limit::Ctas)),
        ];
        for (arch, (threads, registers, shared), (ctas, warps, limit)) in cases {
            let demand = Demand { threads, registers, shared };
            let got = occupancy(for_arch(arch).unwrap(), demand);
            assert_eq!(got, Occupancy { ctas, warps, limit }, "{arch} {demand:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_zero() {
        let demand = Demand { threads: 1024, registers: 255, shared: 0 };
        assert_eq!(occupancy(for_arch("sm_80").unwrap(), demand).ctas, 0);
    }
}

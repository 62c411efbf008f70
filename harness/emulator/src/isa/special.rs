//! Special registers (PTX ISA 10): values that a warp has from its start.

use crate::exec::Launch;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSharedSize,
    TotalSharedSize,
    /// A CTA that belongs to no cluster is a cluster of one.
    ClusterZero,
    ClusterOne,
}

impl Special {
    /// By name as written, with the axis: `%ctaid.x`.
    pub fn named(name: &str) -> Option<Self> {
        let axis = |base: &str| match name.strip_prefix(base)? {
            ".x" => Some(0),
            ".y" => Some(1),
            ".z" => Some(2),
            _ => None,
        };
        type ByAxis = fn(u8) -> Special;
        let by_axis: [(&str, ByAxis); 7] = [
            ("%tid", Self::Tid),
            ("%ntid", Self::Ntid),
            ("%ctaid", Self::Ctaid),
            ("%nctaid", Self::Nctaid),
            ("%clusterid", Self::Ctaid),
            ("%nclusterid", Self::Nctaid),
            ("%cluster_ctaid", |_| Self::ClusterZero),
        ];
        if let Some((make, axis)) =
            by_axis.iter().find_map(|(base, make)| axis(base).map(|a| (make, a)))
        {
            return Some(make(axis));
        }
        if axis("%cluster_nctaid").is_some() {
            return Some(Self::ClusterOne);
        }
        Some(match name {
            "%laneid" => Self::LaneId,
            "%warpid" => Self::WarpId,
            "%nwarpid" => Self::NwarpId,
            "%smid" => Self::SmId,
            "%nsmid" => Self::NsmId,
            "%gridid" => Self::GridId,
            "%lanemask_eq" => Self::LanemaskEq,
            "%lanemask_le" => Self::LanemaskLe,
            "%lanemask_lt" => Self::LanemaskLt,
            "%lanemask_ge" => Self::LanemaskGe,
            "%lanemask_gt" => Self::LanemaskGt,
            "%dynamic_smem_size" => Self::DynamicSharedSize,
            "%total_smem_size" => Self::TotalSharedSize,
            "%cluster_ctarank" => Self::ClusterZero,
            "%cluster_nctarank" => Self::ClusterOne,
            _ => return None,
        })
    }

    /// A 64-bit register.
    pub fn is_wide(self) -> bool {
        self == Self::GridId
    }

    /// The value of a register that is the same in all lanes and CTAs.
    pub fn uniform(self, launch: &Launch) -> u64 {
        match self {
            Self::Ntid(axis) => u64::from(launch.block[axis as usize]),
            Self::Nctaid(axis) => u64::from(launch.grid[axis as usize]),
            Self::NwarpId => u64::from(launch.threads().div_ceil(32)),
            Self::NsmId => u64::from(launch.sms),
            Self::GridId => 1,
            Self::DynamicSharedSize => u64::from(launch.dynamic_shared),
            Self::TotalSharedSize => u64::from(launch.shared_bytes()),
            Self::ClusterOne => 1,
            _ => 0,
        }
    }

    /// The value in `lane` of warp `warp`. `%ctaid` is filled in when a CTA starts.
    pub fn of_lane(self, launch: &Launch, warp: u32, lane: u32) -> u32 {
        let [width, height, _] = launch.block;
        let thread = warp * 32 + lane;
        match self {
            Self::Tid(0) => thread % width,
            Self::Tid(1) => thread / width % height,
            Self::Tid(_) => thread / (width * height),
            Self::LaneId => lane,
            Self::WarpId => warp,
            Self::LanemaskEq => 1 << lane,
            Self::LanemaskLt => (1 << lane) - 1,
            Self::LanemaskLe => u32::MAX >> (31 - lane),
            Self::LanemaskGe => u32::MAX << lane,
            Self::LanemaskGt => !(u32::MAX >> (31 - lane)),
            _ => self.uniform(launch) as u32,
        }
    }
}

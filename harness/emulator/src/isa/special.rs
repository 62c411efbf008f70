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
    /// `%reserved_smem_offset_0` and `_1`, and where it all begins and ends: shared memory that the
    /// system keeps for libraries.
    ReservedShared(Reserved),
    Clusterid(u8),
    Nclusterid(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    /// Whether the launch has clusters.
    IsExplicitCluster,
    /// `%envreg1` and `%envreg2`: the halves of the address of the grid barrier's words.
    Envreg(u8),
}

/// Which place in the reserved shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reserved {
    Begin,
    /// What cooperative groups have to themselves; 288 bytes are promised.
    Groups,
    End,
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
        let by_axis: [(&str, ByAxis); 8] = [
            ("%tid", Self::Tid),
            ("%ntid", Self::Ntid),
            ("%ctaid", Self::Ctaid),
            ("%nctaid", Self::Nctaid),
            ("%clusterid", Self::Clusterid),
            ("%nclusterid", Self::Nclusterid),
            ("%cluster_ctaid", Self::ClusterCtaid),
            ("%cluster_nctaid", Self::ClusterNctaid),
        ];
        if let Some((make, axis)) =
            by_axis.iter().find_map(|(base, make)| axis(base).map(|a| (make, a)))
        {
            return Some(make(axis));
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
            "%total_smem_size" | "%aggr_smem_size" => Self::TotalSharedSize,
            "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" => {
                Self::ReservedShared(Reserved::Begin)
            }
            "%reserved_smem_offset_1" => Self::ReservedShared(Reserved::Groups),
            "%reserved_smem_offset_end" | "%reserved_smem_offset_cap" => {
                Self::ReservedShared(Reserved::End)
            }
            "%cluster_ctarank" => Self::ClusterCtarank,
            "%cluster_nctarank" => Self::ClusterNctarank,
            "%is_explicit_cluster" => Self::IsExplicitCluster,
            "%envreg1" => Self::Envreg(1),
            "%envreg2" => Self::Envreg(2),
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
            Self::ReservedShared(place) => u64::from(launch.reserved_shared(place)),
            Self::Nclusterid(axis) => {
                u64::from(launch.grid[axis as usize] / launch.cluster[axis as usize])
            }
            Self::ClusterNctaid(axis) => u64::from(launch.cluster[axis as usize]),
            Self::ClusterNctarank => launch.cluster_size(),
            Self::IsExplicitCluster => u64::from(launch.cluster_size() > 1),
            Self::Envreg(1) => launch.workspace >> 32,
            Self::Envreg(_) => launch.workspace & 0xffff_ffff,
            _ => 0,
        }
    }

    /// The value in `lane` of warp `warp`. What differs between CTAs is filled in when
    /// they start.
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

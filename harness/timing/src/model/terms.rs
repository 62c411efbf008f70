//! What bounds a launch, and how the bounds make a time.

use serde::Serialize;

use crate::gpus::Gpu;

/// What limits a launch, or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    Dram,
    L2,
    Lsu,
    Issue,
    Units,
    Tensor,
    Constants,
    Latency,
    Dispatch,
    Atomics,
    /// Starting takes longer than all that runs.
    Launch,
}

impl Limiter {
    pub fn name(self) -> &'static str {
        match self {
            Self::Dram => "dram",
            Self::L2 => "l2",
            Self::Lsu => "lsu",
            Self::Issue => "issue",
            Self::Units => "units",
            Self::Tensor => "tensor",
            Self::Constants => "constants",
            Self::Latency => "latency",
            Self::Dispatch => "dispatch",
            Self::Atomics => "atomics",
            Self::Launch => "launch",
        }
    }
}

/// What bounds a launch from below, seconds each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Terms {
    pub dram: f64,
    pub l2: f64,
    pub lsu: f64,
    pub issue: f64,
    pub units: f64,
    pub tensor: f64,
    pub constants: f64,
    pub latency: f64,
    pub dispatch: f64,
    pub atomics: f64,
    /// What nothing hides: filling the GPU with the first warps, barriers of the whole grid.
    #[serde(skip)]
    pub added: f64,
}

impl Terms {
    /// That one of them.
    pub fn of(&self, limiter: Limiter) -> f64 {
        self.named().into_iter().find(|(of, _)| *of == limiter).map_or(0.0, |(_, term)| term)
    }

    /// Each with that of another.
    pub fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            dram: f(self.dram, other.dram),
            l2: f(self.l2, other.l2),
            lsu: f(self.lsu, other.lsu),
            issue: f(self.issue, other.issue),
            units: f(self.units, other.units),
            tensor: f(self.tensor, other.tensor),
            constants: f(self.constants, other.constants),
            latency: f(self.latency, other.latency),
            dispatch: f(self.dispatch, other.dispatch),
            atomics: f(self.atomics, other.atomics),
            added: f(self.added, other.added),
        }
    }

    pub fn named(&self) -> [(Limiter, f64); 10] {
        [
            (Limiter::Dram, self.dram),
            (Limiter::L2, self.l2),
            (Limiter::Lsu, self.lsu),
            (Limiter::Issue, self.issue),
            (Limiter::Units, self.units),
            (Limiter::Tensor, self.tensor),
            (Limiter::Constants, self.constants),
            (Limiter::Latency, self.latency),
            (Limiter::Dispatch, self.dispatch),
            (Limiter::Atomics, self.atomics),
        ]
    }

    /// The slowest.
    pub fn limiter(&self) -> Limiter {
        let slowest = self.named().into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        slowest.map_or(Limiter::Launch, |(limiter, _)| limiter)
    }

    /// The launch's time: the slowest, and a little for those that come near it.
    pub fn seconds(&self, gpu: &Gpu) -> f64 {
        let overlap = gpu.figures.overlap;
        let slowest = self.of(self.limiter());
        if slowest == 0.0 {
            return self.added;
        }
        let sum: f64 = self.named().iter().map(|(_, term)| (term / slowest).powf(overlap)).sum();
        slowest * sum.powf(1.0 / overlap) + self.added
    }
}

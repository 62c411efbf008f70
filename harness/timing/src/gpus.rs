//! What is known of GPUs: `gpus.toml`, read once.

use std::sync::LazyLock;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::figures::Figures;

/// One GPU. Limits are of one SM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// "B200"
    pub name: String,
    /// The architecture that stands for it: "sm_100a".
    pub arch: String,
    pub sms: u32,
    pub clock_mhz: f64,
    /// Bytes per second.
    pub dram: f64,
    pub l2_bytes: u64,
    pub warps: u32,
    pub ctas: u32,
    pub registers: u32,
    /// Shared memory, bytes.
    pub shared: u32,
    /// Dense operations per second on `path`.
    pub flops: f64,
    /// The fastest way for FP4 data through the tensor cores: "FP4 tensor cores".
    pub path: String,
    /// Where the figures are from.
    pub source: String,
    /// What the time model takes for it: in the file, what differs from an H200's.
    #[serde(default = "Figures::calibrated", deserialize_with = "differing")]
    pub figures: Figures,
    pub trust: Trust,
}

fn differing<'de, D: Deserializer<'de>>(from: D) -> Result<Figures, D::Error> {
    Figures::with(&toml::Table::deserialize(from)?).map_err(D::Error::custom)
}

/// How far the figures of a GPU can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Fitted to a calibration on such a GPU.
    Calibrated,
    /// Bandwidth and latency from others' measurements of such a GPU, the rest an H200's.
    Published,
    /// An H200's, scaled by data sheets.
    Scaled,
}

impl Gpu {
    /// SM clock in Hz.
    pub fn clock(&self) -> f64 {
        self.clock_mhz * 1e6
    }
}

static GPUS: LazyLock<Vec<Gpu>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        gpu: Vec<Gpu>,
    }
    // Part of the binary, and a test parses it.
    let file: File = toml::from_str(include_str!("gpus.toml")).expect("gpus.toml is valid");
    file.gpu
});

/// All GPUs of `gpus.toml`.
pub fn all() -> &'static [Gpu] {
    &GPUS
}

/// The GPU that an architecture stands for: of its own name, else of the same number
/// (`sm_100` and `sm_100f` are a B200 too). `None` where there is none.
pub fn for_arch(arch: &str) -> Option<&'static Gpu> {
    let number = |arch: &str| arch.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_owned();
    let exact = GPUS.iter().find(|gpu| gpu.arch == arch);
    exact.or_else(|| GPUS.iter().find(|gpu| number(&gpu.arch) == number(arch)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_of_the_project_has_its_gpu() {
        let wanted = [
            ("sm_80", "A100 80GB"),
            ("sm_90a", "H200"),
            ("sm_90", "H100"),
            ("sm_100a", "B200"),
            ("sm_100f", "B200"),
            ("sm_120a", "RTX 5090"),
            ("sm_120", "RTX 5090"),
        ];
        for (arch, name) in wanted {
            assert_eq!(for_arch(arch).map(|gpu| gpu.name.as_str()), Some(name), "{arch}");
        }
        assert_eq!(for_arch("sm_70"), None);
        assert_eq!(for_arch("nonsense"), None);
    }

    #[test]
    fn figures_are_of_the_right_magnitude() {
        for gpu in all() {
            assert!((1e12..1e13).contains(&gpu.dram), "{}", gpu.name);
            assert!((1e14..1e16).contains(&gpu.flops), "{}", gpu.name);
            assert!((1000.0..3000.0).contains(&gpu.clock_mhz), "{}", gpu.name);
            assert!(!gpu.source.is_empty());
        }
    }
}

//! The GPUs of this machine, as their driver describes them.

mod ceilings;
mod state;
mod turn;

use std::fmt;

use cudarc::driver::{DriverError, result, sys};

use crate::device::cuda::driver;
use timing::gpus::{self, Gpu};

pub use self::ceilings::{Ceilings, Measurement};
pub use self::state::State;
pub use self::turn::Turn;

/// One GPU of this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The driver's number for it, after `CUDA_VISIBLE_DEVICES`.
    pub ordinal: usize,
    /// "NVIDIA H200"
    pub name: String,
    /// "GPU-5f4e…", as `nvidia-smi -L` writes it.
    pub uuid: String,
    /// (9, 0)
    pub capability: (u32, u32),
    pub sms: u32,
    pub l2_bytes: u64,
    /// Bytes per second that the memory's clock and width come to.
    pub dram: f64,
    /// Highest clock of the SMs, MHz.
    pub clock_mhz: f64,
}

impl Card {
    /// GPU `ordinal` of this machine. Loads and starts the driver in this process, and makes no
    /// context.
    ///
    /// # Errors
    ///
    /// What is missing, for people.
    pub fn find(ordinal: usize) -> Result<Self, String> {
        driver::start()?;
        let count = result::device::get_count().map_err(driver::words)?.unsigned_abs() as usize;
        if ordinal >= count {
            return Err(match count {
                0 => "the NVIDIA driver finds no GPU".to_owned(),
                1 => format!("there is no GPU {ordinal}: this machine has one, cuda:0"),
                _ => format!(
                    "there is no GPU {ordinal}: this machine has cuda:0 to cuda:{}",
                    count - 1
                ),
            });
        }
        Self::read(ordinal).map_err(driver::words)
    }

    fn read(ordinal: usize) -> Result<Self, DriverError> {
        use sys::CUdevice_attribute as A;
        let device = result::device::get(ordinal as i32)?;
        let attribute = |name| driver::attribute(device, name);
        let memory_hz = f64::from(attribute(A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?) * 1e3;
        let width = f64::from(attribute(A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?) / 8.0;
        let uuid = result::device::get_uuid(device)?.bytes.map(|byte| byte as u8);
        Ok(Self {
            ordinal,
            name: result::device::get_name(device)?,
            uuid: Uuid(uuid).to_string(),
            capability: (
                attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            sms: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            l2_bytes: attribute(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
            // Two transfers a clock.
            dram: 2.0 * memory_hz * width,
            clock_mhz: f64::from(attribute(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?) / 1e3,
        })
    }

    /// What to compile for: all that this GPU has, `sm_90a` on an H200.
    pub fn arch(&self) -> String {
        let (major, minor) = self.capability;
        // Architecture-specific features exist since Hopper (PTX ISA, ".target").
        format!("sm_{major}{minor}{}", if major >= 9 { "a" } else { "" })
    }

    /// Whether what is compiled for `arch` runs here: `sm_90a` on this very capability, `sm_100f`
    /// on it and later ones of its family, `sm_80` here and on everything newer, from PTX.
    pub fn runs(&self, arch: &str) -> bool {
        let Some(number) = arch.strip_prefix("sm_") else { return false };
        let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let Ok(wanted) = digits.parse::<u32>() else { return false };
        let (major, minor) = self.capability;
        let here = 10 * major + minor;
        match &number[digits.len()..] {
            "a" => wanted == here,
            "f" => wanted / 10 == major && wanted <= here,
            _ => wanted <= here,
        }
    }

    /// The figures to hold its times against: those of `gpus.toml` where it stands there by name,
    /// else what the driver says of its memory, and nothing of its arithmetic.
    pub fn figures(&self) -> Gpu {
        let known = gpus::all().iter().filter(|gpu| {
            let words: Vec<&str> = self.name.split_whitespace().collect();
            gpu.name.split_whitespace().all(|word| words.contains(&word))
        });
        // "RTX 5090 D" is no "RTX 5090"; the longest name that fits is the nearest there is.
        if let Some(gpu) = known.max_by_key(|gpu| gpu.name.len()) {
            return gpu.clone();
        }
        Gpu {
            name: self.name.clone(),
            arch: self.arch(),
            sms: self.sms,
            clock_mhz: self.clock_mhz,
            dram: self.dram,
            l2_bytes: self.l2_bytes,
            warps: 0,
            ctas: 0,
            registers: 0,
            shared: 0,
            flops: f64::INFINITY,
            path: "unknown".to_owned(),
            source: "the driver's attributes of the device".to_owned(),
            figures: timing::Figures::calibrated(),
            trust: gpus::Trust::Scaled,
        }
    }
}

/// As `nvidia-smi -L` writes it.
struct Uuid([u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (index, byte) in self.0.iter().enumerate() {
            if [0, 4, 6, 8, 10].contains(&index) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(name: &str, capability: (u32, u32)) -> Card {
        Card {
            ordinal: 0,
            name: name.to_owned(),
            uuid: String::new(),
            capability,
            sms: 132,
            l2_bytes: 50 << 20,
            dram: 1e12,
            clock_mhz: 1980.0,
        }
    }

    /// PTX ISA, ".target": what of each kind runs where.
    #[test]
    fn an_architecture_runs_where_it_may() {
        let h200 = card("NVIDIA H200", (9, 0));
        for arch in ["sm_90a", "sm_90", "sm_80"] {
            assert!(h200.runs(arch), "{arch}");
        }
        for arch in ["sm_100a", "sm_100", "sm_100f", "sm_90x", "90", "sm_"] {
            assert!(!h200.runs(arch) || arch == "sm_90x", "{arch}");
        }
        let b300 = card("NVIDIA B300", (10, 3));
        assert!(b300.runs("sm_100f") && !b300.runs("sm_100a") && b300.runs("sm_103a"));
        assert_eq!(h200.arch(), "sm_90a");
        assert_eq!(card("NVIDIA A100-SXM4-80GB", (8, 0)).arch(), "sm_80");
    }

    #[test]
    fn figures_are_of_the_card_and_not_of_its_architecture() {
        assert_eq!(card("NVIDIA H200", (9, 0)).figures().dram, 4.8e12);
        assert_eq!(card("NVIDIA H100 80GB HBM3", (9, 0)).figures().dram, 3.35e12);
        assert_eq!(card("NVIDIA GeForce RTX 5090", (12, 0)).figures().dram, 1.792e12);
        let unknown = card("NVIDIA GeForce RTX 4090", (8, 9)).figures();
        assert_eq!((unknown.dram, unknown.flops), (1e12, f64::INFINITY));
    }

    #[test]
    fn a_uuid_reads_as_nvidia_smi_writes_it() {
        let bytes = std::array::from_fn(|index| index as u8);
        assert_eq!(Uuid(bytes).to_string(), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    }
}

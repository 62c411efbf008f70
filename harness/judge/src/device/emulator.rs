//! nibble's own GPU: the solution's CUDA runtime calls reach the emulator in this process.
//!
//! Shared memory is registered with the emulator as it is, each buffer an array of exact size
//! under its parameter's name; nothing is copied up or down.

use std::path::Path;
use std::time::{Duration, Instant};

use ::emulator::{Config, Machine};
use cudart::DeviceModel;
use cudart::session::{self, LaunchRecord, Options};

use super::entry::offsets;
use super::{Argument, Buffer, Call, Device, Entry, Scrutiny};
use crate::shared::Map;
use ptx::KernelFacts;
use timing::Launch;
use timing::gpus::{self, Gpu};
use timing::model;

pub struct Emulator {
    entry: Entry,
}

impl Emulator {
    /// Starts a session and opens the library in it: its constructors register its kernels.
    pub fn open(
        library: &Path,
        arch: &str,
        kernels: &[KernelFacts],
        scrutiny: Scrutiny,
    ) -> Result<Box<dyn Device>, String> {
        start(arch, kernels, scrutiny)?;
        Ok(Box::new(Self { entry: Entry::open(library)? }))
    }
}

/// Starts a session: from here on CUDA runtime calls of this process reach an emulated GPU for `arch`.
pub fn start(arch: &str, kernels: &[KernelFacts], scrutiny: Scrutiny) -> Result<(), String> {
    let gpu = gpus::for_arch(arch).ok_or_else(|| format!("no GPU is known for {arch}"))?;
    let capability = capability(arch).ok_or_else(|| format!("{arch} is no architecture"))?;
    let usual = Config::default();
    let Scrutiny { sanitize, seed, profile } = scrutiny;
    // With one thread, the line that touches a sector first is the same every time.
    let threads = if profile { 1 } else { usual.threads };
    let config = Config { sms: gpu.sms, capability, threads, sanitize, seed, ..usual };
    let known = kernels.to_vec();
    session::start(
        Machine::new(config),
        Options {
            device: device(gpu),
            registers: kernels.iter().map(|k| (k.mangled.clone(), k.registers)).collect(),
            profile,
            time: Some(Box::new(move |record| {
                model::terms(gpu, &launch(record.clone()), &known).seconds() * 1e9
            })),
        },
    );
    Ok(())
}

/// Part of the limit after which a launch is given up; the rest is for saying where.
const IN_TIME: f64 = 0.9;

impl Device for Emulator {
    fn call(
        &mut self,
        memory: &Map,
        buffers: &[Buffer],
        arguments: &[Argument],
        limit: Duration,
    ) -> Call {
        let addresses = offsets(memory.base().addr() as u64, buffers);
        session::with_machine(|machine| {
            machine.give_up_at(Instant::now().checked_add(limit.mul_f64(IN_TIME)));
            for (buffer, address) in buffers.iter().zip(&addresses) {
                let Buffer { name, len, blank, .. } = buffer;
                machine.memory().register(*address, *len as u64, name, *blank);
            }
        });
        // What constructors did is not this call's.
        session::report();
        self.entry.call(&addresses, arguments);
        let report = session::report();
        session::with_machine(|machine| {
            for address in &addresses {
                machine.memory().unregister(*address);
            }
        });
        match report.fault {
            Some(fault) => Call::Faulted(Box::new(fault)),
            None => Call::Returned {
                sample: None,
                launches: report.launches.into_iter().map(launch).collect(),
                profiles: report.profiles,
                unsupported: report.unsupported,
                errors: report.errors,
            },
        }
    }
}

pub(crate) fn launch(record: LaunchRecord) -> Launch {
    let LaunchRecord { kernel, grid, block, dynamic_shared, counters, .. } = record;
    Launch { kernel, grid, block, dynamic_shared, counters }
}

/// `sm_100a` is (10, 0).
fn capability(arch: &str) -> Option<(u32, u32)> {
    let number = arch.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let number: u32 = number.parse().ok()?;
    Some((number / 10, number % 10))
}

/// What the solution is told of the device when it asks.
fn device(gpu: &Gpu) -> DeviceModel {
    // Bandwidth is what is known; programs multiply clock and width to get it back.
    let bus_bits = 8192;
    let memory_clock = gpu.dram / (2.0 * f64::from(bus_bits) / 8.0);
    DeviceModel {
        name: format!("NVIDIA {}", gpu.name),
        clock_khz: (gpu.clock_mhz * 1e3) as u32,
        memory_clock_khz: (memory_clock / 1e3) as u32,
        memory_bus_bits: bus_bits,
        l2_bytes: gpu.l2_bytes as u32,
    }
}

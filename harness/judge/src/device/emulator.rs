//! nibble's own GPU: the solution's CUDA runtime calls reach the emulator in this process.
//!
//! Shared memory gets device addresses, and each buffer is registered with the emulator as an array of
//! exact size under its parameter's name; nothing is copied up or down.

use std::path::Path;
use std::time::{Duration, Instant};

use ::emulator::{Config, Machine};
use cudart::DeviceModel;
use cudart::session::{self, LaunchRecord, Options};

use super::entry::offsets;
use super::{Argument, Buffer, Call, Device, Entry, Mishap, Scrutiny};
use crate::shared::Map;
use ptx::KernelFacts;
use timing::gpus::{self, Gpu};
use timing::model;
use timing::{Launch, Transfers};

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
    let config = Config { sms: gpu.sms, capability, threads, apart: true, sanitize, seed, ..usual };
    let known = kernels.to_vec();
    session::start(
        Machine::new(config),
        Options {
            device: device(gpu),
            registers: kernels.iter().map(|k| (k.mangled.clone(), k.registers)).collect(),
            profile,
            time: Some(Box::new(move |record| {
                model::terms(gpu, &launch(record.clone()), &known).seconds(gpu) * 1e9
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
        let (host, len) = (memory.base().expose_provenance() as u64, memory.len() as u64);
        let adopted = session::with_machine(|machine| machine.memory().adopt(host, len));
        let base = match adopted {
            Some(Ok(base)) => base,
            Some(Err(error)) => return Call::Failed(Mishap::other(error.to_string())),
            None => return Call::Failed(Mishap::other("there is no session")),
        };
        let addresses = offsets(base, buffers);
        // What constructors did is not this call's. What a thread that they left does from here on is:
        // the buffers can be reached only after this and before the report below.
        session::report();
        session::with_machine(|machine| {
            machine.give_up_at(Instant::now().checked_add(limit.mul_f64(IN_TIME)));
            for (buffer, address) in buffers.iter().zip(&addresses) {
                let Buffer { name, len, blank, .. } = buffer;
                machine.memory().register(*address, *len as u64, name, *blank);
            }
        });
        self.entry.call(&addresses, arguments);
        session::with_machine(|machine| {
            for address in &addresses {
                machine.memory().unregister(*address);
            }
            machine.memory().forsake(base, len);
        });
        let report = session::report();
        match report.fault {
            Some(fault) => Call::Faulted(Box::new(fault)),
            None => Call::Returned {
                sample: None,
                launches: report.launches.into_iter().map(launch).collect(),
                transfers: transfers(report.transfers),
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

fn transfers(counted: cudart::Transfers) -> Transfers {
    let cudart::Transfers { operations, bus_bytes, device_bytes, host } = counted;
    Transfers { operations, bus_bytes, device_bytes, host_seconds: host.as_secs_f64() }
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

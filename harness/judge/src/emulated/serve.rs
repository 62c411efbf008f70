//! The device's process: one thread for its owner, one for its client.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ::emulator::{Config, Machine};
use cudart::DeviceModel;
use cudart::protocol::segment::{Segment, Side};
use cudart::server::{self, Device, Options};
use rustix::event::{PollFd, PollFlags, poll};

use super::link::launch;
use super::protocol::{Answer, Order};
use crate::device::{Buffer, Scrutiny, offsets};
use crate::shared::Map;
use crate::worker::protocol;
use ptx::KernelFacts;
use timing::gpus::{self, Gpu};
use timing::model;

/// Part of the limit after which a launch is given up; the rest is for saying where.
const IN_TIME: f64 = 0.9;

/// Bytes of the stack on which modules are parsed and lowered.
const STACK: usize = 64 << 20;

/// Serves until the owner hangs up.
pub fn serve() -> io::Result<()> {
    let owner = rustix::stdio::stdin();
    let watched = rustix::io::fcntl_dupfd_cloexec(owner, 3)?;
    thread::Builder::new().spawn(move || end_with(&watched))?;
    let mut host = Host::default();
    while let Some((order, descriptor)) = protocol::receive::<Order>(owner)? {
        let answer = host.obey(order, descriptor).unwrap_or_else(Answer::Refused);
        protocol::send(owner, &answer, None)?;
    }
    Ok(())
}

/// Ends this process with its owner, whatever it is doing.
fn end_with(owner: &OwnedFd) {
    loop {
        let mut waiting = [PollFd::new(owner, PollFlags::RDHUP)];
        if poll(&mut waiting, None).is_ok() && !waiting[0].revents().is_empty() {
            // SAFETY: ends the process without running anything of it.
            unsafe { libc::_exit(0) }
        }
    }
}

/// The device, once it was started, and what it was lent.
#[derive(Default)]
struct Host {
    device: Option<Arc<Mutex<Device>>>,
    lent: Option<Loan>,
}

/// The memory of a call.
struct Loan {
    base: u64,
    addresses: Vec<u64>,
    map: Map,
}

impl Host {
    fn obey(&mut self, order: Order, descriptor: Option<OwnedFd>) -> Result<Answer, String> {
        let given = || descriptor.as_ref().map(AsFd::as_fd).ok_or("a descriptor is missing");
        match order {
            Order::Start { arch, kernels, scrutiny } => {
                let file = given()?.try_clone_to_owned().map_err(words)?;
                self.start(file, &arch, &kernels, scrutiny)?;
                Ok(Answer::Done)
            }
            Order::Begin { len, buffers, limit } => {
                let base = self.begin(given()?, len, &buffers, limit)?;
                Ok(Answer::Begun { base })
            }
            Order::End => {
                let lent = self.lent.take();
                let mut device = self.device()?;
                if let Some(Loan { base, addresses, map }) = lent {
                    let memory = device.machine().memory();
                    for address in addresses {
                        memory.unregister(address);
                    }
                    memory.forsake(base, map.len() as u64);
                }
                Ok(Answer::Happened(Box::new(device.report())))
            }
            Order::Report => Ok(Answer::Happened(Box::new(self.device()?.report()))),
        }
    }

    /// The device, when it has done what its client asks for now.
    fn device(&self) -> Result<MutexGuard<'_, Device>, String> {
        let device = self.device.as_ref().ok_or("it was not started")?;
        Ok(device.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn start(
        &mut self,
        file: OwnedFd,
        arch: &str,
        kernels: &[KernelFacts],
        scrutiny: Scrutiny,
    ) -> Result<(), String> {
        let segment = Segment::map(file, Side::Device).map_err(words)?;
        let device = Arc::new(Mutex::new(device(arch, kernels, scrutiny)?));
        self.device = Some(Arc::clone(&device));
        thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || {
                // A defect of the device's own; what it was, the panic has said.
                let _ = catch_unwind(AssertUnwindSafe(|| server::serve(&segment, &device)));
                // SAFETY: ends the process without running anything of it.
                unsafe { libc::_exit(101) }
            })
            .map_err(words)?;
        Ok(())
    }

    fn begin(
        &mut self,
        memory: BorrowedFd<'_>,
        len: usize,
        buffers: &[Buffer],
        limit: Duration,
    ) -> Result<u64, String> {
        let map = Map::new(memory, len).map_err(words)?;
        let mut device = self.device()?;
        let machine = device.machine();
        let host = map.base().expose_provenance() as u64;
        let base = machine.memory().adopt(host, len as u64).map_err(words)?;
        machine.give_up_at(Instant::now().checked_add(limit.mul_f64(IN_TIME)));
        let addresses = offsets(base, buffers);
        for (Buffer { name, len, blank, .. }, address) in buffers.iter().zip(&addresses) {
            machine.memory().register(*address, *len as u64, name, *blank);
        }
        // What constructors did is not this call's. What a thread that they left does from here on is:
        // the buffers can be reached only from here on until they are taken back.
        device.report();
        drop(device);
        self.lent = Some(Loan { base, addresses, map });
        Ok(base)
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn device(arch: &str, kernels: &[KernelFacts], scrutiny: Scrutiny) -> Result<Device, String> {
    let gpu = gpus::for_arch(arch).ok_or_else(|| format!("no GPU is known for {arch}"))?;
    let capability = capability(arch).ok_or_else(|| format!("{arch} is no architecture"))?;
    let usual = Config::default();
    let Scrutiny { sanitize, seed, profile } = scrutiny;
    // With one thread, the line that touches a sector first is the same every time.
    let threads = if profile { 1 } else { usual.threads };
    let config = Config { sms: gpu.sms, capability, threads, apart: true, sanitize, seed, ..usual };
    let known = kernels.to_vec();
    let options = Options {
        device: told(gpu),
        registers: kernels.iter().map(|k| (k.mangled.clone(), k.registers)).collect(),
        profile,
        time: Some(Box::new(move |record| {
            model::terms(gpu, &launch(record.clone()), &known).seconds(gpu) * 1e9
        })),
    };
    Ok(Device::new(Machine::new(config), options))
}

/// `sm_100a` is (10, 0).
fn capability(arch: &str) -> Option<(u32, u32)> {
    let number = arch.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let number: u32 = number.parse().ok()?;
    Some((number / 10, number % 10))
}

/// What a program is told of the device when it asks.
fn told(gpu: &Gpu) -> DeviceModel {
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

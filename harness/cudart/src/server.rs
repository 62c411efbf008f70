//! The device: what is trusted. It has the memory, the modules and the kernels, and says what happened.
//!
//! ```text
//! server.rs         requests, one by one; what happened
//!  memory.rs        allocations, and what kernels may reach of them
//!  host_window.rs   memory that the host has, too
//!  copies.rs        copies and fills
//!  modules.rs       modules, kernels and variables
//!  launches.rs      launches
//! ```
//!
//! Everything is synchronous: a request is done when it is answered, which is one of the orders that a GPU
//! allows. Hence data races between streams are not found.

mod copies;
mod host_window;
mod launches;
mod memory;
mod modules;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::device_model::{DeviceModel, Limits};
use crate::error::{Code, Failure, Outcome};
use crate::protocol::segment::Segment;
use crate::protocol::{Address, Model, Request};
use crate::transfers::Transfers;
use copies::Stream;
use emulator::{Counters, Fault, KernelProfile, Machine};
use host_window::HostWindow;
use memory::Live;
use modules::Modules;

/// How a launch's time is modelled, in nanoseconds.
pub type TimeModel = Box<dyn Fn(&LaunchRecord) -> f64 + Send>;

pub struct Options {
    pub device: DeviceModel,
    /// Registers of a thread by kernel, as `ptxas` reports them: what occupancy depends on. A
    /// kernel that is not there counts with 32.
    pub registers: HashMap<String, u32>,
    /// Without it, events measure the host's time.
    pub time: Option<TimeModel>,
    /// Whether the report says what each place in the source cost.
    pub profile: bool,
}

/// A launch that ended well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub counters: Counters,
    /// Host time of the emulation, nanoseconds.
    pub host_ns: u64,
}

/// What happened since the report before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    pub launches: Vec<LaunchRecord>,
    pub transfers: Transfers,
    /// One for each kernel, where they were asked for.
    pub profiles: Vec<KernelProfile>,
    pub fault: Option<Fault>,
}

impl DeviceReport {
    /// Add a launch to its kernel's profile.
    fn add(&mut self, profile: KernelProfile) {
        match self.profiles.iter_mut().find(|known| known.kernel == profile.kernel) {
            Some(known) => known.add(profile),
            None => self.profiles.push(profile),
        }
    }
}

/// An emulated GPU, and all that one client has on it.
pub struct Device {
    machine: Machine,
    options: Options,
    window: HostWindow,
    live: BTreeMap<Address, Live>,
    /// Of the window, in use.
    host_bytes: u64,
    /// Addresses for memory of graphs, with the bytes of each.
    reserved: BTreeMap<Address, u64>,
    /// Allocations made so far, which number their names.
    allocated: usize,
    modules: Modules,
    /// The copy that the last request was a part of.
    stream: Option<Stream>,
    /// What kernels have printed and nobody has fetched.
    printed: Vec<u8>,
    /// Launches so far, in nanoseconds of the time model.
    clock: f64,
    report: DeviceReport,
    /// Set by a fault, for good.
    broken: Option<Code>,
}

impl Device {
    pub fn new(machine: Machine, options: Options) -> Self {
        Self {
            machine,
            options,
            window: HostWindow::default(),
            live: BTreeMap::new(),
            host_bytes: 0,
            reserved: BTreeMap::new(),
            allocated: 0,
            modules: Modules::default(),
            stream: None,
            printed: Vec::new(),
            clock: 0.0,
            report: DeviceReport::default(),
            broken: None,
        }
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What happened since the device began or was last asked. A copy that the client is in the middle of
    /// ends here.
    pub fn report(&mut self) -> DeviceReport {
        self.stream = None;
        std::mem::take(&mut self.report)
    }

    fn limits(&self) -> Limits {
        Limits::of(self.machine.config().capability)
    }

    fn model(&self) -> Model {
        let config = self.machine.config();
        Model {
            device: self.options.device.clone(),
            capability: config.capability,
            sms: config.sms,
            memory: self.machine.memory().room().1,
        }
    }

    fn host_time(&mut self, took: Duration) -> Outcome {
        let transfers = &mut self.report.transfers;
        transfers.host = transfers.host.saturating_add(took);
        Ok(())
    }

    /// Does what a frame asks for; the frame of the reply.
    fn answer(&mut self, frame: &[u8], segment: &Segment) -> Vec<u8> {
        let Ok(request) = postcard::from_bytes(frame) else {
            return reply::<()>(Err(Code::INVALID_VALUE.because("it is no request")));
        };
        let of_the_past = matches!(request, Request::Output | Request::Find { .. });
        if let Some(code) = self.broken.filter(|_| !of_the_past) {
            return reply::<()>(Err(code.because("an earlier kernel's fault is for good")));
        }
        // A copy is in one go: what it was checked against may be gone after anything else.
        let stream = self.stream.take();
        match request {
            Request::Hello => reply(Ok(self.model())),
            Request::Allocate { wanted, bytes } => reply(self.allocate(wanted, bytes)),
            Request::Free { address } => reply(self.free(address, segment)),
            Request::Mirror { address, bytes, backing } => {
                reply(self.mirror(address, bytes, backing, segment))
            }
            Request::Unmirror { address } => reply(self.unmirror(address)),
            Request::Register { address, bytes } => reply(self.register(address, bytes)),
            Request::Unregister { address } => reply(self.unregister(address)),
            Request::Reserve { bytes } => reply(self.reserve(bytes)),
            Request::Begin { address } => reply(self.begin(address)),
            Request::Room => reply(Ok(self.machine.memory().room())),
            Request::Find { address } => reply(Ok(self.find(address))),
            Request::Heap { bytes } => reply(self.resize_heap(bytes)),
            Request::Stack { bytes } => reply(self.provide_stack(bytes)),
            Request::Copy { to, from, shape } => reply(self.copy(to, from, shape)),
            Request::Upload { to, shape, piece } => reply(self.upload(to, shape, piece, segment)),
            Request::Download { from, shape, piece } => {
                reply(self.download(from, shape, piece, segment))
            }
            Request::More { piece } => reply(self.more(stream, piece, segment)),
            Request::Fill(fill) => reply(self.fill(&fill)),
            Request::Text { piece } => reply(self.text(piece, segment)),
            Request::Load => reply(self.load()),
            Request::Unload { module } => reply(self.unload(module)),
            Request::Kernels { module } => reply(self.kernels(module)),
            Request::Kernel { module, name } => reply(self.kernel(module, &name)),
            Request::Symbol { module, name } => reply(self.symbol(module, &name, segment)),
            Request::Launch(launch) => reply(self.launch(&launch, segment)),
            Request::Output => reply(Ok(self.output(segment))),
            Request::HostTime(took) => reply(self.host_time(took)),
        }
    }
}

fn reply<T: Serialize>(result: Result<T, Failure>) -> Vec<u8> {
    // An empty frame, which is no reply, where there is no memory.
    postcard::to_allocvec(&result).unwrap_or_default()
}

/// Answers the client at the other end of the segment, for as long as this process lives.
pub fn serve(segment: &Segment, device: &Mutex<Device>) -> ! {
    let mut turn = 0;
    loop {
        let request;
        (turn, request) = segment.next(turn);
        let answer =
            device.lock().unwrap_or_else(PoisonError::into_inner).answer(&request, segment);
        segment.answer(&answer, turn);
    }
}

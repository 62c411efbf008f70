//! What the runtime knows: the machine, what was registered and allocated, and what happened.
//!
//! One for the process, behind a lock that every call takes. The lock is held during a launch, so
//! host threads of a solution take turns; callbacks into the solution run without it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::abi::{Address, EventHandle, FunctionHandle, PoolHandle, StreamHandle};
use super::allocation::Allocation;
use super::device_model::DeviceModel;
use super::error::{self, Code, Failure, Outcome};
use super::event::Event;
use super::exports;
use super::function::Function;
use super::graph::Graphs;
use super::registration::Module;
use super::stream::{self, Stream};
use super::symbol::Variable;
use super::transfers::Transfers;
use emulator::Counters;
use emulator::DeviceWindow;
use emulator::Fault;
use emulator::KernelProfile;
use emulator::Machine;

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
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchRecord {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub counters: Counters,
    /// Host time of the emulation, nanoseconds.
    pub host_ns: u64,
}

/// A launch that never began, since it asks for more than the device or the kernel allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub kernel: String,
    /// Which limit, and what the launch asks for.
    pub why: String,
    /// The program has looked at the last error since.
    pub asked: bool,
}

/// What happened since the report before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionReport {
    pub launches: Vec<LaunchRecord>,
    pub transfers: Transfers,
    /// One for each kernel, where they were asked for.
    pub profiles: Vec<KernelProfile>,
    pub fault: Option<Fault>,
    /// Runtime functions called that do not exist here, each once.
    pub unsupported: Vec<String>,
    /// Launches that were refused, oldest first.
    pub refused: Vec<Refused>,
    /// Errors that calls returned, oldest first: `cudaMalloc: cudaErrorMemoryAllocation (…)`.
    pub errors: Vec<String>,
}

impl SessionReport {
    /// Add a launch to its kernel's profile.
    pub(super) fn add(&mut self, profile: KernelProfile) {
        match self.profiles.iter_mut().find(|known| known.kernel == profile.kernel) {
            Some(known) => known.add(profile),
            None => self.profiles.push(profile),
        }
    }
}

/// Errors kept for a report: a loop that fails need not fill memory.
const ERRORS_KEPT: usize = 64;

pub(super) struct Session {
    pub machine: Machine,
    pub options: Options,
    pub modules: Vec<Module>,
    pub functions: HashMap<FunctionHandle, Function>,
    /// By the address of the host's shadow variable.
    pub variables: HashMap<usize, Variable>,
    pub allocations: BTreeMap<Address, Allocation>,
    /// Allocations made so far, which number their names.
    pub allocated: usize,
    pub streams: BTreeMap<StreamHandle, Stream>,
    pub events: BTreeMap<EventHandle, Event>,
    pub pools: BTreeMap<PoolHandle, u64>,
    /// The program's own, from the driver.
    pub contexts: BTreeSet<usize>,
    pub graphs: Graphs,
    pub limits: [usize; 7],
    pub device_flags: u32,
    /// Launches so far, in nanoseconds of the time model.
    pub clock: f64,
    pub report: SessionReport,
    /// Set by a fault, for good.
    permanent: Option<Code>,
    next_handle: usize,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Begins a session: call it before the solution is loaded. One that is under way ends.
pub fn start(machine: Machine, options: Options) {
    exports::keep();
    error::remember(Code::SUCCESS);
    *lock() = Some(Session {
        machine,
        options,
        modules: Vec::new(),
        functions: HashMap::new(),
        variables: HashMap::new(),
        allocations: BTreeMap::new(),
        allocated: 0,
        streams: stream::at_first(),
        events: BTreeMap::new(),
        pools: BTreeMap::new(),
        contexts: BTreeSet::new(),
        graphs: Graphs::default(),
        // Stack, printf buffer, heap, depth, pending launches, L2 granularity, persisting L2.
        limits: [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0],
        device_flags: 0,
        clock: 0.0,
        report: SessionReport::default(),
        permanent: None,
        next_handle: 0x1000,
    });
}

/// What happened since the session began or was last asked; empty without a session.
pub fn report() -> SessionReport {
    lock().as_mut().map(|session| std::mem::take(&mut session.report)).unwrap_or_default()
}

/// Whether no call is under way, so that a report can be had at once.
pub fn is_free() -> bool {
    !matches!(SESSION.try_lock(), Err(TryLockError::WouldBlock))
}

/// Ends the session. Calls of a solution that is still loaded then fail with
/// `cudaErrorInitializationError`.
pub fn finish() -> SessionReport {
    lock().take().map(|session| session.report).unwrap_or_default()
}

/// Does something with the machine of the session, such as registering buffers.
pub fn with_machine<T>(act: impl FnOnce(&Machine) -> T) -> Option<T> {
    lock().as_ref().map(|session| act(&session.machine))
}

/// What to call the device memory at an address that the host has followed; `None` for an address that
/// is no device memory's. May be asked at any moment, in a signal handler, too: it waits for nobody, and
/// in the middle of a call it knows no name.
pub fn device_memory_at(address: u64) -> Option<String> {
    if !DeviceWindow::holds(address) {
        return None;
    }
    let session = SESSION.try_lock().ok();
    let memory = session.as_ref().and_then(|session| Some(session.as_ref()?.machine.memory()));
    let known = memory.and_then(|memory| memory.find(address));
    Some(known.map_or_else(|| format!("{address:#x}"), |info| format!("`{}`", info.name)))
}

/// The frame of every exported function.
pub(super) fn call(name: &str, act: impl FnOnce(&mut Session) -> Outcome) -> Code {
    let mut guard = lock();
    let code = match guard.as_mut() {
        None => Code::INITIALIZATION,
        Some(Session { permanent: Some(code), .. }) => *code,
        Some(session) => match act(session) {
            Ok(()) => return Code::SUCCESS,
            Err(failure) => {
                session.note(name, &failure);
                failure.code
            }
        },
    };
    error::remember(code);
    code
}

/// For what must work after a fault too: registration and cleaning up. `None` without a session.
pub(super) fn with<T>(act: impl FnOnce(&mut Session) -> T) -> Option<T> {
    lock().as_mut().map(act)
}

pub(super) fn permanent_error() -> Option<Code> {
    lock().as_ref()?.permanent
}

/// The program has looked at the last error.
pub(super) fn asked() {
    with(|session| session.report.refused.iter_mut().for_each(|refused| refused.asked = true));
}

/// A stub was called.
pub(super) fn unsupported(name: &str) -> Code {
    with(|session| session.lacks(name));
    error::remember(Code::NOT_SUPPORTED);
    Code::NOT_SUPPORTED
}

impl Session {
    pub fn note(&mut self, name: &str, failure: &Failure) {
        if self.report.errors.len() < ERRORS_KEPT {
            self.report.errors.push(format!("{name}: {} ({})", failure.code, failure.detail));
        }
    }

    /// The program wants something that does not exist here.
    pub fn lacks(&mut self, what: &str) {
        if !self.report.unsupported.iter().any(|known| known == what) {
            self.report.unsupported.push(what.to_owned());
        }
    }

    /// A value no other handle has.
    pub fn handle(&mut self) -> usize {
        self.next_handle += 0x10;
        self.next_handle
    }

    /// Ends all work for good: the calls that follow return `code`.
    pub fn break_down(&mut self, code: Code, fault: Option<Fault>) {
        self.permanent = Some(code);
        if self.report.fault.is_none() {
            self.report.fault = fault;
        }
    }
}

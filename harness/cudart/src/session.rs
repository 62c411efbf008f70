//! What the client knows: the handles that the program has, and what it was told.
//!
//! One for the process, behind a lock that every call takes, since the C functions have no argument to find
//! theirs by. Host threads of a program take turns; callbacks into it run without the lock. Nothing here is
//! trusted: what happened, the device says.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, TryLockError};

use serde::{Deserialize, Serialize};

use super::abi::{Address, EventHandle, FunctionHandle, PoolHandle, StreamHandle};
use super::allocation::Allocation;
use super::connection::Connection;
use super::error::{self, Code, Failure, Outcome};
use super::event::Event;
use super::exports;
use super::function::Function;
use super::graph::Graphs;
use super::registration::Module;
use super::stream::{self, Stream};
use super::symbol::Variable;
use emulator::DeviceWindow;

/// A launch that never began, since it asks for more than the device or the kernel allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub kernel: String,
    /// Which limit, and what the launch asks for.
    pub why: String,
    /// The program has looked at the last error since.
    pub asked: bool,
}

/// What calls complained of since it was last asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaints {
    /// Runtime functions called that do not exist here, each once.
    pub unsupported: Vec<String>,
    /// Launches that were refused, oldest first.
    pub refused: Vec<Refused>,
    /// Errors that calls returned, oldest first: `cudaMalloc: cudaErrorMemoryAllocation (…)`.
    pub errors: Vec<String>,
}

/// Errors kept: a loop that fails need not fill memory.
const ERRORS_KEPT: usize = 64;

pub(super) struct Session {
    pub connection: Connection,
    pub modules: Vec<Module>,
    pub functions: HashMap<FunctionHandle, Function>,
    /// By the address of the host's shadow variable.
    pub variables: HashMap<usize, Variable>,
    pub allocations: BTreeMap<Address, Allocation>,
    /// Pages of the program's own that the device has, too, with their bytes and where it has them.
    pub mirrors: BTreeMap<Address, (u64, Address)>,
    /// Where the pages of managed variables begin.
    pub variable_pages: BTreeSet<Address>,
    pub streams: BTreeMap<StreamHandle, Stream>,
    pub events: BTreeMap<EventHandle, Event>,
    pub pools: BTreeMap<PoolHandle, u64>,
    /// The program's own, from the driver.
    pub contexts: BTreeSet<usize>,
    pub graphs: Graphs,
    pub limits: [usize; 7],
    pub device_flags: u32,
    /// The device's, when the last launch had ended.
    pub clock: f64,
    pub complaints: Complaints,
    /// Set by a fault, for good.
    permanent: Option<Code>,
    next_handle: usize,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Begins a session: call it before the solution is loaded. One that is under way ends.
pub fn start(connection: Connection) {
    exports::keep();
    error::remember(Code::SUCCESS);
    *lock() = Some(Session {
        connection,
        modules: Vec::new(),
        functions: HashMap::new(),
        variables: HashMap::new(),
        allocations: BTreeMap::new(),
        mirrors: BTreeMap::new(),
        variable_pages: BTreeSet::new(),
        streams: stream::at_first(),
        events: BTreeMap::new(),
        pools: BTreeMap::new(),
        contexts: BTreeSet::new(),
        graphs: Graphs::default(),
        // Stack, printf buffer, heap, depth, pending launches, L2 granularity, persisting L2.
        limits: [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0],
        device_flags: 0,
        clock: 0.0,
        complaints: Complaints::default(),
        permanent: None,
        next_handle: 0x1000,
    });
}

/// What calls complained of since the session began or was last asked; nothing without a session.
pub fn complaints() -> Complaints {
    lock().as_mut().map(|session| std::mem::take(&mut session.complaints)).unwrap_or_default()
}

/// Whether no call is under way, so that a report can be had at once.
pub fn is_free() -> bool {
    !matches!(SESSION.try_lock(), Err(TryLockError::WouldBlock))
}

/// Ends the session. Calls of a solution that is still loaded then fail with
/// `cudaErrorInitializationError`.
pub fn finish() -> Complaints {
    lock().take().map(|session| session.complaints).unwrap_or_default()
}

/// What to call the device memory at an address that the host has followed; `None` for an address that
/// is no device memory's. May be asked at any moment, in a signal handler, too: it waits for nobody, and
/// in the middle of a call it knows no name.
pub fn device_memory_at(address: u64) -> Option<String> {
    if !DeviceWindow::holds(address) {
        return None;
    }
    let session = SESSION.try_lock().ok();
    let connection = session.as_ref().and_then(|session| Some(&session.as_ref()?.connection));
    let known = connection.and_then(|connection| connection.find(address).ok()?);
    Some(known.map_or_else(|| format!("{address:#x}"), |found| format!("`{}`", found.name)))
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
    with(|session| session.complaints.refused.iter_mut().for_each(|refused| refused.asked = true));
}

/// A stub was called.
pub(super) fn unsupported(name: &str) -> Code {
    with(|session| session.lacks(name));
    error::remember(Code::NOT_SUPPORTED);
    Code::NOT_SUPPORTED
}

impl Session {
    pub fn note(&mut self, name: &str, failure: &Failure) {
        if self.complaints.errors.len() < ERRORS_KEPT {
            self.complaints.errors.push(format!("{name}: {} ({})", failure.code, failure.detail));
        }
    }

    /// The program wants something that does not exist here.
    pub fn lacks(&mut self, what: &str) {
        if !self.complaints.unsupported.iter().any(|known| known == what) {
            self.complaints.unsupported.push(what.to_owned());
        }
    }

    /// A value no other handle has.
    pub fn handle(&mut self) -> usize {
        self.next_handle += 0x10;
        self.next_handle
    }

    /// Ends all work for good: the calls that follow return `code`.
    pub fn break_down(&mut self, code: Code) {
        self.permanent = Some(code);
    }
}

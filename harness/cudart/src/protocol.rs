//! What client and device say to each other.
//!
//! ```text
//! solution ─ cudaMalloc, k<<<…>>>(), … ─► client ═══ Request ═══►  device: memory, modules, kernels
//!            (handles, streams, graphs,          ◄══ reply ════    (what happened: the judge asks it)
//!             errors: session)
//! ```
//!
//! The client is in the solution's process and can be made to say anything. So nothing that decides a
//! verdict or a time is on its side, and the device takes every request for a stranger's: whatever it
//! names is looked up, whatever it measures is checked.
//!
//! The client asks one thing at a time and waits for the answer, which is a `Result` of what the request
//! names, in postcard's format, in a [segment](segment) of memory that both have. Bytes of the host go
//! through the staging area of that segment, a [`Piece`] at a time.

pub(crate) mod geometry;
pub(crate) mod launch;
pub mod segment;

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::device_model::DeviceModel;
use crate::error::Failure;
use geometry::{Fill, Grid, Shape};
use launch::Launch;

/// A pointer of the program, to host or device memory.
pub(crate) type Address = u64;

/// Of a module that the device has loaded.
pub(crate) type ModuleId = u32;
/// Of a kernel of such a module.
pub(crate) type KernelId = u32;

/// What the device is, told once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Model {
    pub device: DeviceModel,
    pub capability: (u32, u32),
    pub sms: u32,
    /// Bytes.
    pub memory: u64,
}

/// Which memory the program wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wanted {
    Device,
    Pinned,
    Managed,
    /// Pages of the host's window that take the place of the program's own (`Mirror`).
    Backing,
}

/// Bytes of the staging area.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub start: usize,
    pub bytes: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request<'a> {
    /// `Model`
    Hello,
    /// `Address`
    Allocate {
        wanted: Wanted,
        bytes: u64,
    },
    /// Ends an allocation, or what a graph keeps at an address.
    Free {
        address: Address,
    },
    /// Have the pages at `backing` at `address`, too.
    Mirror {
        address: Address,
        bytes: u64,
        backing: Address,
    },
    Unmirror {
        address: Address,
    },
    /// Let kernels reach mirrored memory.
    Register {
        address: Address,
        bytes: u64,
    },
    Unregister {
        address: Address,
    },
    /// An address for a graph, at which nothing is yet: `Address`.
    Reserve {
        bytes: u64,
    },
    /// From here on there is something, with no defined content.
    Begin {
        address: Address,
    },
    /// Bytes free and in all: `(u64, u64)`.
    Room,
    /// The live allocation that holds the address: `Option<Found>`.
    Find {
        address: Address,
    },
    /// Bytes of the kernels' heap; false once a kernel has used it: `bool`.
    Heap {
        bytes: u64,
    },
    /// Bytes of a thread's stack.
    Stack {
        bytes: u32,
    },
    /// Both ends are the device's, or memory of the host that it reaches.
    Copy {
        to: Grid,
        from: Grid,
        shape: Shape,
    },
    /// The first bytes of a copy from the host.
    Upload {
        to: Grid,
        shape: Shape,
        piece: Piece,
    },
    /// The first bytes of a copy to the host.
    Download {
        from: Grid,
        shape: Shape,
        piece: Piece,
    },
    /// The next bytes of the copy that the last request was of.
    More {
        piece: Piece,
    },
    Fill(Fill),
    /// The next bytes of a module's text.
    Text {
        piece: Piece,
    },
    /// Loads the text: `ModuleId`.
    Load,
    Unload {
        module: ModuleId,
    },
    /// Names of the kernels: `Vec<String>`.
    Kernels {
        module: ModuleId,
    },
    /// `Option<KernelInfo>`
    Kernel {
        module: ModuleId,
        name: String,
    },
    /// `Option<Symbol>`
    Symbol {
        module: ModuleId,
        name: String,
    },
    /// `Launched`
    Launch(Cow<'a, Launch>),
    /// What kernels have printed and `Launched` had no room for: its bytes in the staging area, `usize`.
    Output,
    /// The program's functions between the device's work took so long.
    HostTime(Duration),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub base: Address,
    pub bytes: u64,
    pub name: String,
}

/// A variable of a module.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Symbol {
    pub address: Address,
    pub bytes: u64,
    /// Of a managed one: where its pages are in the host's window. They are to be at `address`.
    pub backing: Option<Address>,
}

/// What a host needs to know of a kernel to launch it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KernelInfo {
    pub id: KernelId,
    pub name: String,
    /// Offset and bytes of each.
    pub params: Vec<(u32, u32)>,
    pub param_bytes: u32,
    pub static_shared: u32,
    pub local_bytes: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// PTX ISA 11.4 and 11.7.
    pub reqntid: Option<[u32; 3]>,
    pub maxntid: Option<[u32; 3]>,
    pub reqnctapercluster: Option<[u32; 3]>,
    pub maxclusterrank: Option<u32>,
    pub explicitcluster: bool,
}

/// A kernel has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launched {
    /// Nanoseconds of all launches so far, by the time model.
    pub clock: f64,
    /// Bytes in the staging area that the kernel has printed.
    pub printed: usize,
    /// From here on nothing works any more. Without words where the kernel's fault says it.
    pub broken: Option<Failure>,
}

//! A GPU without one: PTX text in, memory or a fault out. Knows no problem and never prints.
//!
//! ```text
//! PTX text ─ ptx ─► tree ─ lower ─► Program ─ exec ─► memory, Counters
//!                            ▲                  └───► Fault
//!                           isa: the one table of instructions
//! ```
//!
//! [`Machine`] is the front door: [`Machine::load`] a module, [`LoadedModule::kernel`],
//! [`Machine::launch`]. The crate `cudart` puts NVIDIA's runtime interface in front of it; whoever
//! links only this crate gets none of its names.

mod counters;
mod exec;
mod fault;
mod isa;
mod lower;
mod machine;
mod memory;
mod profile;
mod program;
mod sanitize;

pub use counters::Counters;
pub use exec::{Level, Moved, Traffic};
pub use fault::{
    Access, Blame, Fault, FaultKind, MemorySpace, Near, Other, Site, SourcePoint, Use,
};
pub use isa::Class;
pub use machine::{Config, Kernel, LaunchConfig, LoadError, LoadedModule, Machine};
pub use memory::{
    AllocationInfo, AllocationKind, DeviceWindow, GlobalMemory, Im2col, Interleave, OutOfMemory,
    Swizzle, TensorMap,
};
pub use profile::{KernelProfile, LineCounters, Place};
pub use program::ParamLayout;

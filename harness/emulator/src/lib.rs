//! A GPU without one: PTX text in, memory or a fault out. Knows no problem and never prints.
//!
//! ```text
//! PTX text ─ ptx ─► tree ─ lower ─► Program ─ exec ─► memory, Counters
//!                            ▲                  └───► Fault
//!                           isa: the one table of instructions
//! ```
//!
//! [`Machine`] is the front door: [`Machine::load`] a module, [`LoadedModule::kernel`],
//! [`Machine::launch`]. [`cudart`] puts NVIDIA's runtime interface in front of it, so that a
//! compiled CUDA program finds it where it expects `libcudart`.

mod counters;
pub mod cudart;
mod exec;
pub mod fatbin;
mod fault;
mod isa;
mod lower;
mod machine;
mod memory;
mod profile;
mod program;
pub mod ptx;
mod sanitize;

pub use counters::Counters;
pub use exec::{Level, Moved, Traffic};
pub use fault::{
    Access, Blame, Fault, FaultKind, MemorySpace, Near, Other, Site, SourcePoint, Use,
};
pub use isa::Class;
pub use machine::{Config, Kernel, LaunchConfig, LoadError, LoadedModule, Machine};
pub use memory::{AllocationInfo, AllocationKind, GlobalMemory, OutOfMemory};
pub use profile::{KernelProfile, LineCounters, Place};
pub use program::ParamLayout;

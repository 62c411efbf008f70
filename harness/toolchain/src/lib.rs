//! NVIDIA's compiler: find it or install it, compile a solution with it, keep what it made, and read
//! what it says.
//!
//! ```text
//! Search ─ find or install ─► Toolchain ─┐
//! k.cu ─ directive ─► flags ─────────────┼─ compile ─► Artifact (cached), KernelFacts, Diagnostics
//! a problem's parameters ────────────────┘
//! ```

pub mod cache;
pub mod compile;
pub mod diagnose;
pub mod directive;
mod error;
mod event;
mod find;
mod install;
mod integrity;
mod interrupt;
mod pins;
mod pip;
pub mod trampoline;

pub use error::ToolchainError;
pub use event::Event;
pub use find::{OLDEST, Origin, Search, Toolchain, Version};
pub use integrity::Damage;
pub use interrupt::Interrupt;

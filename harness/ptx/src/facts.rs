//! What becomes of a kernel's PTX in machine code, as far as `ptxas` tells.

use serde::{Deserialize, Serialize};

/// What `ptxas` says of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFacts {
    /// As the user wrote it, demangled where the compiler gives both.
    pub name: String,
    pub mangled: String,
    pub registers: u32,
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    /// Static shared memory, bytes.
    pub shared_bytes: u32,
    pub stack_bytes: u32,
}

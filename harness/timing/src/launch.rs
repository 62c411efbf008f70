//! What the time model is told of one launch.

use serde::{Deserialize, Serialize};

/// What one kernel launch did, as the emulator counted it. Absent on a GPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub counters: emulator::Counters,
}

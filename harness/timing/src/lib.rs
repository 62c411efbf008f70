//! What a time is held to: GPUs and their figures, occupancy, the speed of light, the time model, and
//! the statistics of samples. Knows no problem and runs nothing.

mod figures;
pub mod gpus;
mod launch;
pub mod model;
pub mod occupancy;
pub mod roofline;
pub mod stats;
mod transfers;

pub use figures::Figures;
pub use launch::Launch;
pub use transfers::Transfers;

//! Compile a solution, prove it, time it. Emits [`Event`]s, returns a [`Report`]; never prints,
//! never stores.

pub mod bench;
pub mod cache;
pub mod card;
pub mod check;
pub mod compare;
pub mod compile;
pub mod config;
pub mod conformance;
pub mod device;
pub mod diagnose;
pub mod directive;
pub mod error;
pub mod event;
pub mod gpus;
pub mod judge;
pub mod model;
pub mod ncu;
mod noise;
pub mod occupancy;
mod place;
pub mod profile;
pub mod program;
mod random;
pub mod report;
pub mod roofline;
mod run;
pub mod shared;
pub mod stats;
pub mod subject;
pub mod toolchain;
pub mod trampoline;
pub mod worker;

pub use compare::compare;
pub use config::{Config, DeviceChoice, Interrupt, Limits, Stage};
pub use error::Error;
pub use event::Event;
pub use noise::{Noise, noise};
pub use report::Report;
pub use run::run;
pub use worker::worker_main;

//! Compile a solution, prove it, time it. Emits [`Event`]s, returns a [`Report`]; never prints,
//! never stores.

pub mod batch;
pub mod bench;
pub mod card;
pub mod check;
pub mod compare;
pub mod config;
pub mod conformance;
pub mod device;
pub mod emulated;
pub mod error;
pub mod event;
pub mod examination;
pub mod judge;
mod memory;
pub mod ncu;
mod noise;
mod place;
pub mod profile;
pub mod program;
mod random;
mod reference;
pub mod report;
mod run;
mod selection;
pub mod shared;
pub mod subject;
pub mod sweep;
pub mod worker;

pub use compare::compare;
pub use config::{Config, DeviceChoice, Limits, Stage};
pub use emulated::device_main;
pub use error::Error;
pub use event::Event;
pub use noise::{Noise, noise};
pub use reference::reference;
pub use report::Report;
pub use run::{Identity, identity, run};
pub use selection::Selection;
pub use toolchain::Interrupt;
pub use worker::worker_main;

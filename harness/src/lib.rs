//! Compile a solution, prove it, time it. Emits [`Event`]s, returns a [`Report`]; never prints,
//! never stores.

pub mod device;
pub mod event;
pub mod report;

pub use event::Event;
pub use report::Report;

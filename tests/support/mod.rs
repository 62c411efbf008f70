//! Starts nibble in a folder of its own and judges what it did.

mod attempts;
pub mod browser;
mod file;
mod live;
mod mock;
mod nibble;
mod page;
mod processes;
mod redact;
mod run;

pub use attempts::Made;
pub use file::{said, wants};
pub use live::Live;
pub use mock::{ON_MOCK, mock};
pub use nibble::{Nibble, PATIENCE};
pub use page::Page;
pub use processes::{descendants, family};
pub use redact::redacted;
pub use run::Run;

/// A program of `tests/programs`.
pub fn program(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/");
    std::fs::read_to_string(format!("{path}{name}"))
        .unwrap_or_else(|error| panic!("tests/programs/{name}: {error}"))
}

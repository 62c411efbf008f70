//! Types of the libraries become text. Pure functions: what prints it is `terminal`.

pub mod attempt;
pub mod batch;
pub mod bench;
pub mod board;
pub mod cases;
pub mod clean;
pub mod compare;
pub mod diff;
pub mod facts;
pub mod history;
pub mod json;
pub mod markdown;
pub mod profile;
pub mod progress;
pub mod queue;
pub mod report;
#[cfg(test)]
pub mod sample;
pub mod standing;
pub mod style;
pub mod sweep;
pub mod table;
pub mod watch;
pub mod words;

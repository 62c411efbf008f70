//! Types of the libraries become text. Pure functions: what prints it is `terminal`.

pub mod bench;
pub mod cases;
pub mod json;
pub mod progress;
pub mod report;
#[cfg(test)]
pub mod sample;
pub mod style;
pub mod table;
pub mod words;

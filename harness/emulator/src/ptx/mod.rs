//! PTX text to a tree.

pub mod ast;

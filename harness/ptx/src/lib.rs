//! PTX text to a tree and back, and the containers that nvcc keeps it in.
//!
//! The grammar of PTX is small when instructions are read generically: a guard, an opcode, dotted
//! modifiers in any order, operands. No table of instructions stands here, so whatever nvcc emits
//! and whatever inline PTX holds gets through; what an instruction means, and whether there is such
//! a one, is decided when the tree is lowered.

pub mod ast;
mod constant;
mod error;
mod facts;
pub mod fatbin;
mod function;
mod instruction;
mod lexer;
mod location;
mod module;
mod operand;
mod parser;
mod print;
mod source_map;
mod statement;
mod variable;

pub use error::ParseError;
pub use facts::KernelFacts;
pub use module::parse;
pub use source_map::{Position, SourceMap};

//! Exports the executable's symbols to the libraries it opens.
//!
//! A solution for the emulator is linked with `-cudart none`: the CUDA runtime functions it calls
//! are undefined in it, and are found in this executable when the worker opens it. Without
//! `-rdynamic` they would not be in the dynamic symbol table.

fn main() {
    println!("cargo::rustc-link-arg-bins=-rdynamic");
    println!("cargo::rerun-if-changed=build.rs");
}

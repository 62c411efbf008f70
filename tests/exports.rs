//! What the executable offers to a solution that it has opened: CUDA, and nothing else.
//!
//! A function of nibble's own among the exports is a way to cheat: a solution could call the reference,
//! or forget what its launches cost.

use std::collections::BTreeSet;

use object::{Object as _, ObjectSymbol as _};

#[test]
fn only_cuda_is_exported() {
    let bytes = std::fs::read(env!("CARGO_BIN_EXE_nibble")).expect("the executable");
    let file = object::File::parse(&*bytes).expect("an executable");
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let exported: BTreeSet<_> = defined.map(|symbol| symbol.name().expect("a name")).collect();
    let wanted = cudart::NAMES.iter().copied().chain(cudart::driver_names()).collect();
    let difference: Vec<_> = exported.symmetric_difference(&wanted).collect();
    assert!(difference.is_empty(), "{} names: {difference:?}", difference.len());
}

//! Inputs that fuzzing found to reach something new, few and small, once more: in every build, without a
//! fuzzer. How they were chosen: `fuzz/Cargo.toml`.

mod corpus;

use std::panic::catch_unwind;
use std::path::Path;

fn each(folder: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder);
    let mut count = 0;
    let mut failed = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of inputs") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("an input");
        if catch_unwind(|| check(&bytes)).is_err() {
            failed.push(path);
        }
        count += 1;
    }
    assert!(count > 20, "only {count} inputs");
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn any_text_is_parsed_or_refused() {
    each("ptx", |bytes| std::str::from_utf8(bytes).map_or((), corpus::parse));
}

#[test]
fn any_module_is_lowered_or_refused() {
    each("lower", |bytes| std::str::from_utf8(bytes).map_or((), corpus::lower));
}

#[test]
fn any_container_is_read_or_refused() {
    each("fatbin", corpus::fatbin);
}

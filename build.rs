//! Two things that the sources cannot say.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    exports()?;
    rungs()
}

/// A solution for the emulator is linked with `-cudart none`: the CUDA functions it calls are undefined
/// in it, and are found in this executable when the worker opens it. The list puts them into the dynamic
/// symbol table, and nothing else: `-rdynamic` would offer the solution every function of nibble's.
fn exports() -> io::Result<()> {
    let list = manifest()?.join("harness/cudart/exports.list");
    println!("cargo::rerun-if-changed={}", list.display());
    println!("cargo::rustc-link-arg-bins=-Wl,--dynamic-list={}", list.display());
    Ok(())
}

/// Asked when it runs, not when it is compiled: a cached build script outlives a moved checkout.
fn manifest() -> io::Result<PathBuf> {
    env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .ok_or_else(|| io::Error::other("cargo sets CARGO_MANIFEST_DIR"))
}

/// Lists `solutions/<problem>/NN_name.cu` for `src/rungs.rs`, so that they are part of the binary.
fn rungs() -> io::Result<()> {
    let root = manifest()?.join("solutions");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut rungs = Vec::new();
    for folder in fs::read_dir(&root)? {
        let folder = folder?.path();
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in fs::read_dir(&folder)? {
            let file = file?.path();
            let part = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
            if file.extension().is_some_and(|extension| extension == "cu")
                && let (Some(problem), Some(name)) = (part(&folder), part(&file))
            {
                rungs.push((problem, name.trim_end_matches(".cu").to_owned(), file));
            }
        }
    }
    rungs.sort();
    let mut text = String::from("&[\n");
    for (problem, name, file) in rungs {
        text.push_str(&format!(
            "Rung {{ problem: {problem:?}, name: {name:?}, source: include_str!({file:?}) }},\n"
        ));
    }
    text.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("rungs.rs"), text)
}

//! Finds the problems: every folder beside this file that holds a `problem.toml`.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    // Asked when it runs, not when it is compiled: a cached build script outlives a moved checkout.
    let root = variable("CARGO_MANIFEST_DIR")?;
    let mut folders = Vec::new();
    for entry in fs::read_dir(&root)? {
        let folder = entry?.path();
        if folder.join("problem.toml").is_file()
            && let Some(name) = folder.file_name().and_then(|name| name.to_str())
        {
            folders.push((name.to_owned(), folder));
        }
    }
    folders.sort();

    println!("cargo::rerun-if-changed={root}");
    let mut modules = String::new();
    let mut problems = String::from("pub(crate) static FOLDERS: &[Folder] = &[\n");
    for (name, folder) in folders {
        let file = |name: &str| folder.join(name);
        // Of what is not Rust only a kernel can be part of the program.
        let reference = if file("reference.rs").is_file() {
            let path = file("reference.rs");
            modules.push_str(&format!("#[path = {path:?}]\npub(crate) mod {name};\n"));
            format!("FolderReference::Code(&{name}::Reference)")
        } else {
            format!("FolderReference::Kernel(include_str!({:?}))", file("reference.cu"))
        };
        problems.push_str(&format!(
            "Folder {{ name: {name:?}, manifest: include_str!({:?}), spec: include_str!({:?}), \
             starter: include_str!({:?}), reference: {reference} }},\n",
            file("problem.toml"),
            file("spec.md"),
            file("starter.cu"),
        ));
    }
    problems.push_str("];\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("folders.rs"), modules + &problems)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|_| io::Error::other(format!("cargo sets {name}")))
}

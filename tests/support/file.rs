//! Files that say in their first lines how they want to be tested: `// archs: sm_100a sm_120a`.

use std::{fs, path::Path};

/// What follows `// key: ` in the file.
pub fn said(path: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).expect("a file");
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("// {key}: ")))?;
    Some(line.trim().to_owned())
}

/// Whether its `// archs:` line names `arch`; nothing where it has none.
pub fn wants(path: &Path, arch: &str) -> Option<bool> {
    said(path, "archs").map(|archs| archs.split_whitespace().any(|one| one == arch))
}

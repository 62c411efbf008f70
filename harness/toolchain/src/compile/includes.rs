//! Which files a compilation read besides the source, from the rule that nvcc writes for make.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Toolchain;

/// What `-MF` is told, in the folder of the compilation.
pub const FILE: &str = "includes.d";

/// The includes of a compilation in `work`, sorted. Headers of the compiler and the system are left
/// out: the compiler's identity is part of the key, and hashing hundreds of files would cost more
/// than the look-up may.
pub fn read(toolchain: &Toolchain, source: &Path, work: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(work.join(FILE)).unwrap_or_default();
    let root = toolchain.root();
    let mut paths: Vec<PathBuf> = dependencies(&text)
        .into_iter()
        .map(|path| work.join(path))
        .filter(|path| path != source && !path.starts_with(work))
        .filter(|path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            root.as_ref().is_none_or(|root| !real.starts_with(root))
        })
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The prerequisites of a makefile's rule: names with `\ ` for a space, `$$` for a dollar, lines
/// continued by a backslash.
fn dependencies(rule: &str) -> Vec<String> {
    let Some((_, list)) = rule.split_once(" :").or_else(|| rule.split_once(": ")) else {
        return Vec::new();
    };
    let mut names = vec![String::new()];
    let mut characters = list.chars().peekable();
    while let Some(c) = characters.next() {
        let Some(name) = names.last_mut() else { break };
        match (c, characters.peek()) {
            ('\\', Some('\n')) | ('$', Some('$')) => {
                if characters.next() == Some('$') {
                    name.push('$');
                } else {
                    names.push(String::new());
                }
            }
            ('\\', Some(&escaped @ (' ' | '#'))) => {
                characters.next();
                name.push(escaped);
            }
            (c, _) if c.is_whitespace() => names.push(String::new()),
            (c, _) => name.push(c),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_names_of_a_makefile() {
        let rule = "solution.so : solution.cu \\\n    /a/b\\ c.h \\\n  /d$$e.h ../f\\#.cuh\n";
        assert_eq!(dependencies(rule), ["solution.cu", "/a/b c.h", "/d$e.h", "../f#.cuh"]);
        assert_eq!(dependencies(""), [""; 0]);
    }
}

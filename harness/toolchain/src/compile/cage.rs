//! What a compiler may read, while it reads a stranger's source.
//!
//! A source can ask for any file: `#include`, `#embed`, the assembler's `.incbin`. What it gets ends up in
//! the compiler's messages or in the library. So the compiler sees the solution's folder, the folders that
//! its directives name with `-I`, itself, and the system's; not the rest of the user's home, nor `/proc`,
//! where processes keep their environments. Where the kernel has no Landlock (Linux before 5.13) only the
//! environment is kept from it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
};

use super::Request;
use crate::Toolchain;

/// Where compilers and their headers come from on the usual systems.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/opt",
    "/nix/store",
    "/etc/ld.so.cache",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
];

/// What finds the host compiler and its headers where they are not in the usual places.
const ENVIRONMENT: [&str; 8] = [
    "PATH",
    "LANG",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
];

/// Lets `command` read what compiling takes, and write `work`.
pub fn enclose(command: &mut Command, toolchain: &Toolchain, request: &Request<'_>, work: &Path) {
    let kept = ENVIRONMENT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let kept: Vec<(&str, OsString)> = kept.collect();
    command.env_clear().envs(kept);
    // Best effort: what this kernel cannot do is not done.
    let Ok(ruleset) = ruleset(&readable(toolchain, request), work) else { return };
    let mut ruleset = Some(ruleset);
    let restrict = move || match ruleset.take().map(RulesetCreated::restrict_self) {
        Some(Err(_)) => Err(io::ErrorKind::Other.into()),
        _ => Ok(()),
    };
    // SAFETY: between fork and exec only `prctl`, `landlock_restrict_self` and `close` are called; the rules
    // were made before.
    unsafe { command.pre_exec(restrict) };
}

fn readable(toolchain: &Toolchain, request: &Request<'_>) -> Vec<PathBuf> {
    let home = request.source.path.parent().unwrap_or(Path::new("/"));
    let included = request.flags.iter().filter_map(|flag| flag.strip_prefix("-I"));
    let programs = [&toolchain.nvcc, &toolchain.ptxas, &toolchain.host_compiler];
    SYSTEM
        .iter()
        .map(PathBuf::from)
        .chain([home.to_owned()])
        .chain(included.map(|folder| home.join(folder)))
        .chain(programs.into_iter().filter_map(|program| installation(program)))
        .chain(toolchain.include_dirs.iter().cloned())
        .chain(toolchain.library_dir.clone())
        .collect()
}

/// The folder above a program's `bin`, where its parts are.
fn installation(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    Some(real.parent()?.parent()?.to_owned())
}

fn ruleset(readable: &[PathBuf], work: &Path) -> Result<RulesetCreated, landlock::RulesetError> {
    let abi = ABI::V5;
    let (all, read) = (AccessFs::from_all(abi), AccessFs::from_read(abi));
    let files = AccessFs::ReadFile | AccessFs::Execute;
    let mut created = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .create()?;
    for path in readable {
        if let Ok(file) = PathFd::new(path) {
            let access = if path.is_dir() { read } else { files };
            created = created.add_rule(PathBeneath::new(file, access))?;
        }
    }
    for (path, access) in [(work, all), (Path::new("/dev/null"), files | AccessFs::WriteFile)] {
        if let Ok(file) = PathFd::new(path) {
            created = created.add_rule(PathBeneath::new(file, access))?;
        }
    }
    Ok(created)
}

//! What a worker gives up before it opens a stranger's library.
//!
//! This keeps accidents and ordinary mischief from the user's files and processes. It is no
//! jail: the kernel's own bugs and the GPU's driver stay open to the solution. `docs/security.md` says
//! what is promised on which kernel.

use std::fs::OpenOptions;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};
use rustix::process::{Resource, Rlimit, Signal};
use serde::{Deserialize, Serialize};

use super::syscalls;

/// Bytes of the largest file a solution may write.
const LARGEST_FILE: u64 = 1 << 30;
/// Bytes of private memory that a solution may have in its process, where a GPU's driver does not need more.
const MEMORY: u64 = 8 << 30;
/// Descriptors that a solution may have open.
const DESCRIPTORS: u64 = 256;

/// What a solution may read besides its own library and folder: the system's libraries, what the dynamic
/// linker and the C library look up, and what tells how many processors there are. No home folder, no
/// other process, and not this process's own memory map.
const READABLE: [&str; 19] = [
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/lib",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    "/lib",
    "/lib64",
    "/opt",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/proc/self/cgroup",
    "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
];

/// What is really kept from the solution: found by trying, not by what the kernel promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// It writes files in its scratch folder only.
    pub files: bool,
    /// It reads the system's libraries and its own folder only.
    pub reads: bool,
    /// It neither listens nor connects by TCP.
    pub network: bool,
    /// It signals no process but its own.
    pub signals: bool,
    /// System calls that reach other processes are denied.
    pub calls: bool,
}

impl Isolation {
    /// Nothing is left open that this sandbox could close.
    pub fn is_whole(self) -> bool {
        self.files && self.reads && self.network && self.signals && self.calls
    }

    /// Human words: "writes confined, reads confined, network closed, …".
    pub fn describe(self) -> String {
        let say = |yes, good: &str, bad: &str| if yes { good.to_owned() } else { bad.to_owned() };
        [
            say(self.files, "writes confined", "writes not confined"),
            say(self.reads, "reads confined", "reads not confined"),
            say(self.network, "network closed", "network open"),
            say(self.signals, "signals confined", "signals not confined"),
            say(self.calls, "system calls filtered", "system calls not filtered"),
        ]
        .join(", ")
    }
}

/// Limits, a session of its own, and death with its parent. Before anything else in the worker.
///
/// # Errors
///
/// The system's; none is expected of a fresh child.
pub fn detach() -> io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, none)?;
    let files = Rlimit { current: Some(LARGEST_FILE), maximum: Some(LARGEST_FILE) };
    rustix::process::setrlimit(Resource::Fsize, files)?;
    let hard = rustix::process::getrlimit(Resource::Nofile).maximum;
    let most = Some(hard.map_or(DESCRIPTORS, |hard| hard.min(DESCRIPTORS)));
    rustix::process::setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most })?;
    // A solution that takes all memory is the process to end, not the user's editor. Refused in
    // some containers, where the memory limit of the container does the same.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}

/// Confines this process and all its children to `scratch`, as far as this kernel can
/// (Landlock: Linux 5.13 files, 6.7 TCP, 6.12 signals; seccomp: 3.17), and finds out how far that is. It
/// may read `library`, and start no program. With `gpu`, the device files of NVIDIA's driver stay open to
/// it, and so does all that it can read: what the driver opens later, and where, is not known.
pub fn confine(scratch: &Path, library: Option<&Path>, gpu: bool) -> Isolation {
    // Whatever fails leaves less confined, and `probe` then says so.
    let _ = restrict(scratch, library, gpu);
    // The driver has sockets of its own.
    if !gpu {
        let most = Some(MEMORY);
        let _ = rustix::process::setrlimit(Resource::Data, Rlimit { current: most, maximum: most });
        let _ = syscalls::deny();
    }
    probe(scratch)
}

fn restrict(
    scratch: &Path,
    library: Option<&Path>,
    gpu: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let abi = ABI::V6;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let mut write = AccessFs::from_write(abi);
    if !gpu {
        write |= read | AccessFs::Execute;
    }
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new(scratch)?, write & !AccessFs::Execute))?
        .add_rule(PathBeneath::new(PathFd::new("/dev/null")?, AccessFs::WriteFile))?;
    let mut opened = ruleset;
    for path in gpu.then(driver_files).into_iter().flatten() {
        let access = AccessFs::WriteFile | AccessFs::IoctlDev;
        if let Ok(file) = PathFd::new(&path) {
            opened = opened.add_rule(PathBeneath::new(file, access))?;
        }
    }
    let searched = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let searched: Vec<PathBuf> = std::env::split_paths(&searched).collect();
    let readable = READABLE.iter().map(Path::new);
    for path in readable.chain(searched.iter().map(PathBuf::as_path)).chain(library) {
        if let (false, Ok(file)) = (gpu, PathFd::new(path)) {
            let access = if path.is_dir() { read } else { AccessFs::ReadFile.into() };
            opened = opened.add_rule(PathBeneath::new(file, access))?;
        }
    }
    opened.restrict_self()?;
    Ok(())
}

/// What the driver opens again later, from whatever thread, and where it names its threads.
fn driver_files() -> Vec<PathBuf> {
    let devices = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let nvidia = devices
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"nvidia"))
        .map(|entry| entry.path());
    nvidia.chain([PathBuf::from("/proc/self/task")]).collect()
}

fn probe(scratch: &Path) -> Isolation {
    let denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    // Beside the scratch folder this user may write, as the judge just made that folder there.
    let beside = scratch.with_extension("probe");
    let files = match OpenOptions::new().write(true).create_new(true).open(&beside) {
        Ok(_) => {
            let _ = std::fs::remove_file(&beside);
            false
        }
        Err(error) => denied(error),
    };
    let network = TcpListener::bind(("127.0.0.1", 0)).err().is_some_and(denied);
    let signals = rustix::process::getppid()
        .and_then(|warden| rustix::process::test_kill_process(warden).err())
        .is_some_and(|error| error == rustix::io::Errno::PERM);
    // Everyone may read the list of users, unless confined.
    let reads = std::fs::File::open("/etc/passwd").err().is_some_and(denied);
    Isolation { files, reads, network, signals, calls: syscalls::are_denied() }
}

//! What a worker gives up before it opens a stranger's library.
//!
//! This keeps accidents and ordinary mischief from the user's files and processes. It is no
//! jail: the kernel's own bugs, reading files and the GPU's driver stay open to the solution.

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

/// Bytes of the largest file a solution may write.
const LARGEST_FILE: u64 = 1 << 30;

/// What is really kept from the solution: found by trying, not by what the kernel promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// It writes files in its scratch folder only.
    pub files: bool,
    /// It neither listens nor connects by TCP.
    pub network: bool,
    /// It signals no process but its own.
    pub signals: bool,
}

impl Isolation {
    /// Human words: "writes confined, network closed, signals confined".
    pub fn describe(self) -> String {
        let say = |yes, good: &str, bad: &str| if yes { good.to_owned() } else { bad.to_owned() };
        [
            say(self.files, "writes confined", "writes not confined"),
            say(self.network, "network closed", "network open"),
            say(self.signals, "signals confined", "signals not confined"),
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
    // A solution that takes all memory is the process to end, not the user's editor. Refused in
    // some containers, where the memory limit of the container does the same.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}

/// Confines this process and all its children to `scratch`, as far as this kernel can
/// (Landlock: Linux 5.13 files, 6.7 TCP, 6.12 signals), and finds out how far that is. With `gpu`,
/// the device files of NVIDIA's driver stay open to it.
pub fn confine(scratch: &Path, gpu: bool) -> Isolation {
    // Whatever fails leaves less confined, and `probe` then says so.
    let _ = restrict(scratch, gpu);
    probe(scratch)
}

fn restrict(scratch: &Path, gpu: bool) -> Result<(), Box<dyn std::error::Error>> {
    let abi = ABI::V6;
    let write = AccessFs::from_write(abi);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new(scratch)?, write))?
        .add_rule(PathBeneath::new(PathFd::new("/dev/null")?, AccessFs::WriteFile))?;
    let mut opened = ruleset;
    for path in gpu.then(driver_files).into_iter().flatten() {
        let access = AccessFs::WriteFile | AccessFs::IoctlDev;
        if let Ok(file) = PathFd::new(&path) {
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
    Isolation { files, network, signals }
}

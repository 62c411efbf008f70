//! The warden: a trusted process between judge and worker that outlives the worker and leaves
//! nothing behind.
//!
//! ```text
//! judge ──spawns──► warden ──forks──► worker ──forks, daemonises──► ?
//!   ▲                  │ subreaper: every orphan below it becomes its child
//!   └── End ◄──────────┘
//! ```
//!
//! A process group is not enough: a solution may call `setsid`, or fork twice. As child subreaper
//! (prctl(2), PR_SET_CHILD_SUBREAPER) the warden adopts whatever the worker leaves, and it has no
//! other children, so that all it finds after the worker's death is the worker's. When the judge
//! closes its end, or dies however suddenly, the warden kills everything and goes.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::SCRATCH;
use super::protocol::{self, End};

/// What a forked process may take to end by itself once the worker is gone.
const GRACE: Duration = Duration::from_millis(100);

/// Watches `worker`, this process's only child, until it and all it left are gone; then reports.
pub fn watch(worker: Pid, report: &OwnedFd) {
    let status = wait_or_kill(worker, report);
    let end = End {
        exit_code: status.and_then(WaitStatus::exit_status),
        signal: status.and_then(WaitStatus::terminating_signal),
        leftovers: clear(),
    };
    // A judge that is gone needs no report, but cannot clear its scratch folder any more.
    if protocol::send(report.as_fd(), &end, None).is_err() {
        remove_scratch();
    }
}

/// Removes the folder this process was started in, if it looks like the one a judge makes.
fn remove_scratch() {
    let Ok(folder) = std::env::current_dir() else { return };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with(SCRATCH)
        && std::env::var_os("TMPDIR").as_deref() == Some(folder.as_os_str())
    {
        let _ = std::fs::remove_dir_all(&folder);
    }
}

/// The worker's status, once it ended by itself or because the judge hung up.
fn wait_or_kill(worker: Pid, report: &OwnedFd) -> Option<WaitStatus> {
    // Without pidfd (Linux before 5.3, gVisor) a look every few milliseconds must do.
    let pidfd = rustix::process::pidfd_open(worker, PidfdFlags::empty()).ok();
    let tick = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    let mut killed = false;
    loop {
        let ended = rustix::process::waitpid(Some(worker), WaitOptions::NOHANG);
        match ended {
            Ok(Some((_, status))) => return Some(status),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
        let mut waiting = vec![PollFd::new(report, PollFlags::RDHUP)];
        waiting.extend(pidfd.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let limit = (killed || pidfd.is_none()).then_some(&tick);
        let _ = poll(&mut waiting, limit);
        if !killed && !waiting[0].revents().is_empty() {
            // Its group as well: what it forked should not run on while the worker is reaped.
            let _ = rustix::process::kill_process_group(worker, Signal::KILL);
            let _ = rustix::process::kill_process(worker, Signal::KILL);
            killed = true;
        }
    }
}

/// Ends every process that was left, and counts those that did not end by themselves.
fn clear() -> u32 {
    let patience = Instant::now() + GRACE;
    // A process takes a while to die, and is killed again meanwhile: it counts once.
    let mut killed = BTreeSet::new();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => {
                if Instant::now() >= patience {
                    kill_children(&mut killed);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(_) => return killed.len() as u32,
        }
    }
}

/// Kills the direct children that still run; theirs become ours, and are next.
fn kill_children(killed: &mut BTreeSet<i32>) {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // "pid (name) state ppid …", where the name may hold anything (proc_pid_stat(5)).
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let state = fields.next().unwrap_or_default();
        let parent = fields.next().and_then(|field| field.parse().ok());
        if parent == Some(me)
            && state != "Z"
            && let Some(child) = Pid::from_raw(pid)
            && rustix::process::kill_process(child, Signal::KILL).is_ok()
        {
            killed.insert(pid);
        }
    }
}

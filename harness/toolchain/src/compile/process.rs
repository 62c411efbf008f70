//! A child that cannot outstay its welcome: bounded in time, memory and output, and killed with
//! everything it started.
//!
//! nvcc is a driver: it starts gcc, cudafe++, cicc, ptxas. Killing nvcc alone would leave a cicc
//! that unrolls a template bomb for ever. So the child leads a process group of its own and the
//! group is what is killed; limits are set before `exec`, so that everything below inherits them.
//! Output goes to files rather than pipes: a grandchild that survives cannot keep a reader waiting,
//! and `RLIMIT_FSIZE` bounds it.

use std::{
    fs, io,
    os::unix::process::CommandExt as _,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, kill_process_group, set_parent_process_death_signal, setrlimit,
    test_kill_process_group,
};

use crate::Interrupt;

/// What one child, and each process it starts, may use.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub wall: Duration,
    /// Bytes of address space of each process; `None` leaves it as it is.
    pub memory: Option<u64>,
    /// Bytes of each file that is written.
    pub file: Option<u64>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exited(ExitStatus),
    /// It was killed: its wall time was up.
    TimedOut,
    /// It was killed: the interrupt was raised.
    Interrupted,
}

/// Runs `command` to its end, or kills it and all that it started. `tick` is called about every
/// 50 ms, for progress.
///
/// Standard input is empty; where the output goes is the caller's choice.
///
/// # Errors
///
/// Where the child cannot be started.
pub fn run(
    command: &mut Command,
    bounds: &Bounds,
    interrupt: &Interrupt,
    tick: &mut dyn FnMut(),
) -> io::Result<Ended> {
    let mut child = spawn(command, bounds)?;
    let started = Instant::now();
    // Short commands (a warm `ptxas`) end within milliseconds, nvcc within seconds: the pause grows
    // with the time already waited, so that neither is slowed by more than a few percent.
    let mut pause = Duration::from_micros(500);
    let mut ticked = started;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Exited(status));
        }
        let ended = if interrupt.raised() {
            Ended::Interrupted
        } else if started.elapsed() >= bounds.wall {
            Ended::TimedOut
        } else {
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
            if ticked.elapsed() >= Duration::from_millis(50) {
                ticked = Instant::now();
                tick();
            }
            continue;
        };
        kill_group(&mut child)?;
        return Ok(ended);
    }
}

fn spawn(command: &mut Command, bounds: &Bounds) -> io::Result<Child> {
    let Bounds { memory, file, .. } = *bounds;
    let seconds = bounds.wall.as_secs() + 1;
    command.stdin(Stdio::null()).process_group(0);
    // SAFETY: between fork and exec only async-signal-safe system calls are made (`setrlimit`,
    // `prctl`); nothing allocates and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            limit(Resource::Core, 0)?;
            // A process orphaned by a kill of nibble itself ends here at the latest.
            limit(Resource::Cpu, seconds)?;
            if let Some(bytes) = memory {
                limit(Resource::As, bytes)?;
            }
            if let Some(bytes) = file {
                limit(Resource::Fsize, bytes)?;
            }
            set_parent_process_death_signal(Some(Signal::KILL))?;
            Ok(())
        });
    }
    command.spawn()
}

/// Lowers a limit; one that is already lower stays.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let hard = rustix::process::getrlimit(resource).maximum;
    let most = hard.map_or(most, |hard| hard.min(most));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    Ok(())
}

/// Kills the group and waits until nobody of it is left, so that its files can be removed.
fn kill_group(child: &mut Child) -> io::Result<()> {
    // The leader has not been waited for, so its id cannot have been given to anyone else.
    let group = Pid::from_child(child);
    let _ = kill_process_group(group, Signal::KILL);
    child.wait()?;
    let patience = Instant::now() + Duration::from_secs(2);
    while lives(group) && Instant::now() < patience {
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Whether anybody of a group still runs. The dead whom nobody has waited for are of it, too; in a
/// container whose first process waits for nobody they stay.
fn lives(group: Pid) -> bool {
    let group_of = |stat: &str| -> Option<(char, i32)> {
        // `pid (name) state parent group …`, and the name may hold anything.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        Some((fields.next()?.chars().next()?, fields.nth(1)?.parse().ok()?))
    };
    test_kill_process_group(group).is_ok()
        && fs::read_dir("/proc").into_iter().flatten().flatten().any(|process| {
            let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            group_of(&stat)
                .is_some_and(|(state, of)| of == group.as_raw_pid() && !matches!(state, 'Z' | 'X'))
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const FREE: Bounds = Bounds { wall: Duration::from_secs(60), memory: None, file: None };

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn alive(pid: &str) -> bool {
        fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn a_child_that_ends_is_not_killed() {
        let ended = run(&mut sh("exit 3"), &FREE, &Interrupt::default(), &mut || ()).unwrap();
        assert!(matches!(ended, Ended::Exited(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_grandchild_dies_with_the_group() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", pid.display());
        let bounds = Bounds { wall: Duration::from_millis(300), ..FREE };
        let ended = run(&mut sh(&script), &bounds, &Interrupt::default(), &mut || ()).unwrap();
        assert_eq!(ended, Ended::TimedOut);
        let pid = fs::read_to_string(pid).unwrap();
        assert!(!alive(&pid), "process {pid} outlived its group");
    }

    #[test]
    fn the_dead_whom_nobody_waits_for_are_not_waited_for() {
        // The shell's child ends and becomes its zombie, in a group of its own.
        let mut shell = sh("sleep 0 & exec sleep 600").process_group(0).spawn().unwrap();
        let group = Pid::from_child(&shell);
        assert!(lives(group));
        kill_process_group(group, Signal::KILL).unwrap();
        // Until it is waited for, both are in the table of processes.
        let patience = Instant::now() + Duration::from_secs(20);
        while lives(group) {
            assert!(Instant::now() < patience, "the dead live");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(test_kill_process_group(group).is_ok());
        shell.wait().unwrap();
    }

    #[test]
    fn the_interrupt_ends_a_child() {
        let interrupt = Interrupt::default();
        let mut ticks = 0;
        let ended = run(&mut sh("sleep 600"), &FREE, &interrupt, &mut || {
            ticks += 1;
            if ticks == 2 {
                interrupt.raise();
            }
        });
        assert_eq!(ended.unwrap(), Ended::Interrupted);
    }

    #[test]
    fn memory_and_files_are_bounded() {
        let memory = Bounds { memory: Some(256 << 20), ..FREE };
        // `head -c` of one unlimited line: `tail` keeps all of it.
        let mut hog = sh("head -c 1000000000 /dev/zero | tail > /dev/null");
        let ended = run(&mut hog, &memory, &Interrupt::default(), &mut || ()).unwrap();
        assert!(matches!(ended, Ended::Exited(status) if !status.success()), "{ended:?}");

        let folder = tempfile::tempdir().unwrap();
        let big = folder.path().join("big");
        let file = Bounds { file: Some(4096), ..FREE };
        let mut writer = sh(&format!("head -c 100000 /dev/zero > {}", big.display()));
        let ended = run(&mut writer, &file, &Interrupt::default(), &mut || ()).unwrap();
        assert!(matches!(ended, Ended::Exited(status) if !status.success()), "{ended:?}");
        assert_eq!(fs::metadata(big).unwrap().len(), 4096);
    }
}

//! One worker, seen from the judge: three descriptors, a deadline and a finger on the trigger.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, socketpair};
use rustix::pipe::PipeFlags;

use super::log::Log;
use crate::Interrupt;
use crate::emulated::Emulated;
use crate::worker::VERB;
use crate::worker::protocol::{self, End, Inbox, Outcome, Request};

/// How often a wait looks at the clock and at Ctrl-C.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What a warden may take to clear up, before it is killed itself.
const CLEARING: Duration = Duration::from_secs(5);

/// The environment a solution gets. No secret of the user's. Some machines find NVIDIA's driver
/// through `LD_LIBRARY_PATH` only.
const ENVIRONMENT: [&str; 5] =
    ["PATH", "LANG", "CUDA_VISIBLE_DEVICES", "RAYON_NUM_THREADS", "LD_LIBRARY_PATH"];

/// Why a worker gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It is gone.
    Ended(End),
    /// Killed: it took longer than this.
    TimedOut(Duration),
    /// Killed: the user asked for it.
    Interrupted,
    /// Killed: what it wrote is no answer.
    Nonsense(String),
    /// Killed: the device it used is gone, or would not serve.
    Deviceless(String),
}

/// A running worker. Dropped, it is killed, with all it started.
#[derive(Debug)]
pub struct Link {
    warden: Child,
    claims: OwnedFd,
    report: OwnedFd,
    printed: OwnedFd,
    inbox: Inbox,
    log: Log,
    interrupt: Interrupt,
    end: Option<End>,
    /// What it runs kernels on, where that is a process.
    pub device: Option<Emulated>,
}

impl Link {
    /// Starts `executable`'s hidden verb with a clean environment in the folder `scratch`. What
    /// it prints is added to `log`.
    ///
    /// # Errors
    ///
    /// The system's: too many processes or descriptors, for example.
    pub fn spawn(
        executable: &Path,
        scratch: &Path,
        log: Log,
        interrupt: Interrupt,
    ) -> io::Result<Self> {
        let (claims, worker_claims) = pair()?;
        let (report, warden_report) = pair()?;
        let (printed, worker_prints) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        // Larger than the default, for solutions that print a lot; where it is refused the
        // default does.
        let _ = rustix::pipe::fcntl_setpipe_size(&printed, 1 << 20);
        rustix::fs::fcntl_setfl(&printed, OFlags::NONBLOCK)?;
        let kept = ENVIRONMENT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let warden = Command::new(executable)
            .arg(VERB)
            .env_clear()
            .envs(kept)
            .env("HOME", scratch)
            .env("TMPDIR", scratch)
            .current_dir(scratch)
            .stdin(Stdio::from(worker_claims))
            .stdout(Stdio::from(worker_prints))
            .stderr(Stdio::from(warden_report))
            // Ctrl-C on the terminal is the judge's to handle.
            .process_group(0)
            .spawn()?;
        Ok(Self {
            warden,
            claims,
            report,
            printed,
            inbox: Inbox::default(),
            log,
            interrupt,
            end: None,
            device: None,
        })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// [`Failure`]; the worker is gone then.
    pub fn ask(
        &mut self,
        request: &Request,
        descriptor: Option<BorrowedFd<'_>>,
        limit: Duration,
    ) -> Result<Outcome, Failure> {
        if let Some(end) = self.end {
            return Err(Failure::Ended(end));
        }
        let deadline = Instant::now() + limit;
        // Where this fails the worker is gone, and the wait finds out how.
        let _ = protocol::send(self.claims.as_fd(), request, descriptor);
        loop {
            let open = self.read();
            match self.inbox.take() {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => {}
                Err(error) => return Err(self.kill(Failure::Nonsense(error.to_string()))),
            }
            match open {
                Ok(true) if self.end.is_none() => {}
                Ok(_) => return Err(Failure::Ended(self.wait_for_end())),
                Err(error) => return Err(self.kill(Failure::Nonsense(error.to_string()))),
            }
            if self.interrupt.raised() {
                return Err(self.kill(Failure::Interrupted));
            }
            if self.device.as_mut().is_some_and(Emulated::is_gone) {
                return Err(self.kill(Failure::Deviceless("its process ended".to_owned())));
            }
            if Instant::now() >= deadline {
                return Err(self.kill(Failure::TimedOut(limit)));
            }
            self.sleep();
        }
    }

    /// Ends the worker in peace, and says what it left behind.
    pub fn finish(&mut self) -> End {
        let _ = rustix::net::shutdown(&self.claims, Shutdown::Both);
        self.wait_for_end()
    }

    /// What was printed so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Takes the log, for the next worker to go on with.
    pub fn take_log(&mut self) -> Log {
        std::mem::take(&mut self.log)
    }

    /// Ends the worker at once; the reason is returned.
    pub fn kill(&mut self, failure: Failure) -> Failure {
        let _ = rustix::net::shutdown(&self.report, Shutdown::Write);
        self.wait_for_end();
        failure
    }

    /// Waits until the warden has cleared up. A warden that does not is killed.
    fn wait_for_end(&mut self) -> End {
        let mut patience = Instant::now() + CLEARING;
        let mut hung_up = false;
        loop {
            let open = self.read();
            if let Some(end) = self.end {
                let _ = self.warden.wait();
                // Whatever was printed last is still in the pipe.
                self.read_log();
                return end;
            }
            let gone = matches!(self.warden.try_wait(), Ok(Some(_)) | Err(_));
            if gone && !matches!(open, Ok(true)) {
                break;
            }
            if Instant::now() >= patience {
                if hung_up {
                    break;
                }
                let _ = rustix::net::shutdown(&self.report, Shutdown::Write);
                (hung_up, patience) = (true, Instant::now() + CLEARING);
            }
            self.sleep();
        }
        // The warden itself was killed, or cannot go on.
        let _ = self.warden.kill();
        let _ = self.warden.wait();
        let end = End { exit_code: None, signal: None, leftovers: 0 };
        self.end = Some(end);
        end
    }

    /// Takes in whatever has arrived. `false` once the worker's end of the socket is closed.
    fn read(&mut self) -> io::Result<bool> {
        self.read_log();
        // The end first: what the worker claimed before it ended is then complete.
        if self.end.is_none() {
            // One small frame arrives in one piece, and the end of the stream right behind it.
            let mut report = Inbox::default();
            protocol::drain(&self.report, &mut report)?;
            self.end = report.take()?;
        }
        protocol::drain(&self.claims, &mut self.inbox)
    }

    fn read_log(&mut self) {
        let mut bytes = vec![0; 1 << 16];
        // A bounded amount, so that a flood of text does not keep the judge from its clock.
        for _ in 0..64 {
            match rustix::io::read(&self.printed, &mut bytes[..]) {
                Ok(0) => return,
                Ok(read) => self.log.extend(&bytes[..read]),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    fn sleep(&self) {
        let mut waiting = [
            PollFd::new(&self.claims, PollFlags::IN),
            PollFd::new(&self.report, PollFlags::IN),
            PollFd::new(&self.printed, PollFlags::IN),
        ];
        let _ = poll(&mut waiting, Some(&TICK));
        // A closed pipe is always ready: nothing to wait for there, but the others need time.
        let hung = |fd: &PollFd<'_>| fd.revents().contains(PollFlags::HUP);
        if waiting.iter().any(hung) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.kill(Failure::Interrupted);
        }
    }
}

fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok((ours, theirs))
}

//! A device, seen from its owner.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cudart::protocol::segment;
use cudart::server::{DeviceReport, LaunchRecord};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::VERB;
use super::protocol::{Answer, Order};
use crate::Interrupt;
use crate::worker::protocol::{self, Inbox};
use timing::{Launch, Transfers};

/// How often a wait looks at the clock and at Ctrl-C.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Of the owner's environment: how many threads it takes.
const ENVIRONMENT: [&str; 3] = ["PATH", "LANG", "RAYON_NUM_THREADS"];

/// Why a device gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its process is gone, or in disorder.
    Gone,
    /// It took longer than this.
    TimedOut(Duration),
    /// The user asked to end.
    Interrupted,
    Refused(String),
}

/// A running device. Dropped, it is killed.
#[derive(Debug)]
pub struct Emulated {
    process: Child,
    owner: OwnedFd,
    inbox: Inbox,
    segment: OwnedFd,
    interrupt: Interrupt,
}

impl Emulated {
    /// Starts `executable`'s hidden verb.
    ///
    /// # Errors
    ///
    /// The system's: too many processes or descriptors, for example.
    pub fn spawn(executable: &Path, interrupt: Interrupt) -> io::Result<Self> {
        let (owner, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let segment = segment::create()?;
        let kept = ENVIRONMENT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let process = Command::new(executable)
            .arg(VERB)
            .env_clear()
            .envs(kept)
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            // Ctrl-C on the terminal is the owner's to handle.
            .process_group(0)
            .spawn()?;
        Ok(Self { process, owner, inbox: Inbox::of_device(), segment, interrupt })
    }

    /// What the client is to have.
    pub fn segment(&self) -> BorrowedFd<'_> {
        self.segment.as_fd()
    }

    /// Whose other end the device has until it ends.
    pub fn lifeline(&self) -> BorrowedFd<'_> {
        self.owner.as_fd()
    }

    /// Whether its process has ended.
    pub fn is_gone(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Sends [`Order::Start`], with the segment; the answer is to be [awaited](Self::wait).
    pub fn start(&self, order: &Order) {
        // Where this fails the device is gone, and the wait finds out.
        let _ = protocol::send(self.owner.as_fd(), order, Some(self.segment.as_fd()));
    }

    /// Sends an order and waits for its answer.
    ///
    /// # Errors
    ///
    /// [`Lost`]; of use is the device afterwards only where it refused.
    pub fn ask(
        &mut self,
        order: &Order,
        descriptor: Option<BorrowedFd<'_>>,
        limit: Duration,
    ) -> Result<Answer, Lost> {
        let _ = protocol::send(self.owner.as_fd(), order, descriptor);
        self.wait(limit)
    }

    /// Waits for an answer.
    ///
    /// # Errors
    ///
    /// [`Lost`].
    pub fn wait(&mut self, limit: Duration) -> Result<Answer, Lost> {
        let deadline = Instant::now().checked_add(limit);
        loop {
            let open = protocol::drain(&self.owner, &mut self.inbox);
            match self.inbox.take() {
                Ok(Some(Answer::Refused(why))) => return Err(Lost::Refused(why)),
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) if matches!(open, Ok(true)) => {}
                _ => return Err(Lost::Gone),
            }
            if self.interrupt.raised() {
                return Err(Lost::Interrupted);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Lost::TimedOut(limit));
            }
            let mut waiting = [PollFd::new(&self.owner, PollFlags::IN)];
            let _ = poll(&mut waiting, Some(&TICK));
        }
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// For the time model.
pub(crate) fn launch(record: LaunchRecord) -> Launch {
    let LaunchRecord { kernel, grid, block, dynamic_shared, counters, .. } = record;
    Launch { kernel, grid, block, dynamic_shared, counters }
}

/// For the time model.
pub(crate) fn transfers(report: &DeviceReport) -> Transfers {
    let cudart::Transfers { operations, bus_bytes, device_bytes, host } = report.transfers;
    Transfers { operations, bus_bytes, device_bytes, host_seconds: host.as_secs_f64() }
}

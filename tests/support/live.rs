//! A nibble that runs on while the test looks at it.

use std::{
    io::{BufRead as _, BufReader, Read},
    process::{Child, Command},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use super::{PATIENCE, descendants};

/// A started command; killed where the test ends before it.
pub struct Live {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Live {
    pub(super) fn new(mut child: Child) -> Self {
        let (sender, lines) = mpsc::channel();
        let stdout: Box<dyn Read + Send> = Box::new(child.stdout.take().expect("piped"));
        let stderr: Box<dyn Read + Send> = Box::new(child.stderr.take().expect("piped"));
        for stream in [stdout, stderr] {
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        Self { child, lines, seen: Vec::new() }
    }

    /// Waits for a line with `text`; what was printed since the last one, it included.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> String {
        let started = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(started.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let last = line.contains(text);
                    self.seen.push(line);
                    if last {
                        return std::mem::take(&mut self.seen).join("\n");
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("no `{text}` after {:#?}", self.seen),
                Err(RecvTimeoutError::Disconnected) => panic!("it ended with {:#?}", self.seen),
            }
        }
    }

    /// Waits until it would see a Ctrl-C, bit 1 of the caught signals in `/proc`.
    #[track_caller]
    pub fn until_it_catches_ctrl_c(&mut self) {
        let path = format!("/proc/{}/status", self.child.id());
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            assert!(self.child.try_wait().expect("status").is_none(), "it ended before that");
            let status = std::fs::read_to_string(&path).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            if caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0) & 2
                > 0
            {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("it never came to catch Ctrl-C");
    }

    /// Waits until a descendant's command line contains `name`.
    #[track_caller]
    pub fn until_it_runs(&self, name: &str) {
        let started = Instant::now();
        while !descendants(self.child.id()).iter().any(|line| line.contains(name)) {
            assert!(started.elapsed() < PATIENCE, "it never started `{name}`");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, whatever it is; what it printed since the last look.
    #[track_caller]
    pub fn printed(mut self) -> Vec<String> {
        let mut printed = std::mem::take(&mut self.seen);
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => printed.push(line),
                Err(RecvTimeoutError::Disconnected) => return printed,
                Err(RecvTimeoutError::Timeout) => panic!("it never ended"),
            }
        }
    }

    /// Kills it at once; all that it printed, and nobody who would print more is left.
    #[track_caller]
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("killed, or gone already");
        self.child.wait().expect("its status");
        let mut printed = std::mem::take(&mut self.seen);
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => printed.push(line),
                Err(RecvTimeoutError::Disconnected) => return printed,
                Err(RecvTimeoutError::Timeout) => panic!("somebody holds on to its stdout"),
            }
        }
    }

    /// Waits for its end, which must be that.
    #[track_caller]
    pub fn wait(mut self, code: i32) {
        assert_eq!(self.child.wait().expect("its status").code(), Some(code), "{:#?}", self.seen);
    }

    /// Ctrl-C, and its exit code.
    pub fn interrupt(mut self) -> Option<i32> {
        let sent = Command::new("kill").arg("-INT").arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill").success(), "nibble had ended already");
        self.child.wait().expect("its status").code()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

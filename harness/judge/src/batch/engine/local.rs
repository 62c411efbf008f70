//! Processes of this machine.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{End, Engine, Order, State};
use crate::Error;

/// Starts orders as children.
#[derive(Debug)]
pub struct Local {
    capacity: usize,
    children: BTreeMap<String, Child>,
}

impl Local {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, children: BTreeMap::new() }
    }
}

impl Engine for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn pause(&self) -> Duration {
        Duration::from_millis(50)
    }

    fn start(&mut self, order: &Order) -> Result<String, Error> {
        let failed = |error: std::io::Error| {
            Error::machine(
                format!("a part of the batch cannot be started: {error}"),
                "start it again",
            )
        };
        let log = File::create(&order.log).map_err(failed)?;
        let (program, arguments) = order
            .command
            .split_first()
            .ok_or_else(|| Error::Usage("an order without a command".to_owned()))?;
        let child = Command::new(program)
            .args(arguments)
            .current_dir(&order.directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .spawn()
            .map_err(failed)?;
        let job = child.id().to_string();
        self.children.insert(job.clone(), child);
        Ok(job)
    }

    fn look(&mut self, job: &str) -> Result<State, Error> {
        // One that is not ours any more has been waited for, and was told about then.
        let ended = |how| State::Ended { how, node: None };
        let Some(child) = self.children.get_mut(job) else { return Ok(ended(End::Killed)) };
        let state = match child.try_wait() {
            Ok(None) => return Ok(State::Alive),
            Ok(Some(status)) => match (status.code(), status.signal()) {
                (Some(code), None) => ended(End::Exited(code)),
                _ => ended(End::Killed),
            },
            Err(_) => ended(End::Killed),
        };
        self.children.remove(job);
        Ok(state)
    }

    fn stop(&mut self, job: &str) {
        if let Some(mut child) = self.children.remove(job) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        for child in self.children.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

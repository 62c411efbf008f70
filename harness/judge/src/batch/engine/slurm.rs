//! Slurm: `sbatch` starts, `scontrol` tells, `scancel` ends.
//!
//! `scontrol` and not `sacct`, because many clusters keep no accounts and a small one never does. It
//! remembers a job for `MinJobAge` seconds (300 as installed) after its end; one that it has
//! forgotten has ended, and what it did the attempts say. Jobs are not requeued by Slurm: it does so
//! only when a node fails, after minutes, and never when a process was killed, so that both are left
//! to whoever started them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{End, Engine, Order, State};
use crate::Error;

/// Gives orders to a Slurm that is there.
#[derive(Clone, Debug)]
pub struct Slurm {
    /// For `sbatch`, as its user writes them: `--partition=h100`.
    arguments: Vec<OsString>,
}

/// Orders that wait in Slurm at once; more would only make its queue long.
const CAPACITY: usize = 64;

impl Slurm {
    /// # Errors
    ///
    /// [`Error::Machine`] where there is no Slurm, or its controller does not answer.
    pub fn new(arguments: Vec<OsString>) -> Result<Self, Error> {
        say(Command::new("scontrol").arg("ping")).and_then(|ping| match ping.contains(" UP") {
            true => Ok(Self { arguments }),
            false => Err(unreachable(ping.trim())),
        })
    }
}

impl Engine for Slurm {
    fn name(&self) -> &'static str {
        "slurm"
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }

    fn pause(&self) -> Duration {
        Duration::from_millis(500)
    }

    fn start(&mut self, order: &Order) -> Result<String, Error> {
        let mut command = Command::new("sbatch");
        command.args(["--parsable", "--no-requeue", "--job-name=nibble", "--export=ALL"]);
        command.arg("--chdir").arg(&order.directory).arg("--output").arg(&order.log);
        if order.gpu {
            command.args(["--gres=gpu:1", "--exclusive=user"]);
        }
        if !order.excluded.is_empty() {
            command.arg(format!("--exclude={}", order.excluded.join(",")));
        }
        // The user's own come last, so that they count where both say something.
        command.args(&self.arguments).arg("--wrap").arg(line(&order.command));
        let said = say(&mut command)?;
        // "12" or "12;cluster".
        let job = said.trim().split(';').next().unwrap_or_default().to_owned();
        match job.parse::<u64>() {
            Ok(_) => Ok(job),
            Err(_) => Err(Error::Usage(format!("sbatch answered `{}`", said.trim()))),
        }
    }

    fn look(&mut self, job: &str) -> Result<State, Error> {
        let output = Command::new("scontrol").args(["--oneliner", "show", "job", job]).output();
        let output = output.map_err(|error| missing("scontrol", &error))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return match why.contains("Invalid job id") {
                true => Ok(State::Ended { how: End::Killed, node: None }),
                false => Err(unreachable(why.trim())),
            };
        }
        Ok(state(&String::from_utf8_lossy(&output.stdout)))
    }

    fn stop(&mut self, job: &str) {
        let _ = Command::new("scancel").arg(job).output();
    }
}

/// What `scontrol --oneliner show job` says: `… JobState=COMPLETED … ExitCode=0:0 … NodeList=n1 …`, the exit code before the
/// colon and the signal behind it (scontrol(1), "job states": job state codes of squeue(1)).
fn state(line: &str) -> State {
    let fields = line.split_whitespace().filter_map(|field| field.split_once('='));
    let fields: BTreeMap<&str, &str> = fields.collect();
    let field = |name: &str| fields.get(name).copied().unwrap_or_default();
    let node = Some(field("NodeList")).filter(|node| !node.is_empty() && *node != "(null)");
    let node = node.map(str::to_owned);
    let exited = || {
        let (code, signal) = field("ExitCode").split_once(':').unwrap_or_default();
        match (code.parse(), signal) {
            // A shell says 128 and the signal of a command that was killed.
            (Ok(code), "0") if code < 128 => End::Exited(code),
            _ => End::Killed,
        }
    };
    match field("JobState") {
        "PENDING" | "RUNNING" | "CONFIGURING" | "COMPLETING" | "SUSPENDED" | "STOPPED"
        | "REQUEUED" | "RESIZING" | "SIGNALING" | "STAGE_OUT" | "" => State::Alive,
        "COMPLETED" | "FAILED" => State::Ended { how: exited(), node },
        _ => State::Ended { how: End::Killed, node },
    }
}

/// The command as a shell reads it.
fn line(command: &[OsString]) -> String {
    let quoted = command.iter().map(|part| {
        let part = part.to_string_lossy();
        format!("'{}'", part.replace('\'', "'\\''"))
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// What a command of Slurm prints, or why it refused.
fn say(command: &mut Command) -> Result<String, Error> {
    let program = Path::new(command.get_program()).display().to_string();
    let output = command.output().map_err(|error| missing(&program, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    let why = why.lines().next().unwrap_or("it does not say why").trim();
    if why.contains("Unable to contact") || why.contains("Connection refused") {
        return Err(unreachable(why));
    }
    let why = why.trim_start_matches(&format!("{program}: ")).trim_start_matches("error: ");
    Err(Error::Usage(format!("Slurm refuses it: {why}; what stands behind -- goes to sbatch")))
}

fn missing(program: &str, error: &std::io::Error) -> Error {
    Error::machine(
        format!("there is no Slurm here: {program}: {error}"),
        "log in where sbatch is, or try one on this machine: sudo scripts/slurm up 2",
    )
}

fn unreachable(why: &str) -> Error {
    Error::machine(format!("Slurm does not answer: {why}"), "scontrol ping says more")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Slurm 22.05 prints them, shortened.
    #[test]
    fn what_slurm_says_of_a_job() {
        let of = |state_and_code: &str| {
            state(&format!("JobId=2 JobName=j.sh {state_and_code} NodeList=n1 BatchHost=n1"))
        };
        let ended = |how| State::Ended { how, node: Some("n1".to_owned()) };
        assert_eq!(of("JobState=RUNNING ExitCode=0:0"), State::Alive);
        assert_eq!(of("JobState=COMPLETED ExitCode=0:0"), ended(End::Exited(0)));
        assert_eq!(of("JobState=FAILED ExitCode=3:0"), ended(End::Exited(3)));
        assert_eq!(of("JobState=FAILED ExitCode=137:0"), ended(End::Killed));
        assert_eq!(of("JobState=FAILED ExitCode=0:9"), ended(End::Killed));
        assert_eq!(of("JobState=NODE_FAIL ExitCode=0:0"), ended(End::Killed));
        assert_eq!(of("JobState=TIMEOUT ExitCode=0:15"), ended(End::Killed));
    }

    #[test]
    fn a_shell_reads_the_command_as_it_was() {
        let command = ["nibble", "it's", "$HOME"].map(OsString::from);
        assert_eq!(line(&command), r"'nibble' 'it'\''s' '$HOME'");
    }
}

//! Why a worker gave no answer, as a verdict and in words.

use super::link::Failure;
use crate::report::Verdict;
use crate::worker::protocol::End;

/// What the worker was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The library's constructors ran.
    Opening,
    Calling,
}

/// Verdict, sentences for people and stable identifiers.
pub struct WorkerExit {
    pub verdict: Verdict,
    pub explanation: Vec<String>,
    pub reason: &'static str,
}

pub fn worker_exit(failure: &Failure, phase: Phase) -> WorkerExit {
    match failure {
        Failure::Ended(end) => {
            let mut explanation = vec![ending(end, phase)];
            explanation.extend(leftovers(end.leftovers));
            WorkerExit { verdict: Verdict::RuntimeError, explanation, reason: reason(end) }
        }
        Failure::TimedOut(limit) => WorkerExit {
            verdict: Verdict::TimeLimitExceeded,
            explanation: vec![format!(
                "{} took longer than {} s and was stopped",
                match phase {
                    Phase::Opening => "opening the library",
                    Phase::Calling => "the call of `solution`",
                },
                limit.as_secs_f64()
            )],
            reason: "time_limit",
        },
        Failure::Interrupted => WorkerExit {
            verdict: Verdict::Interrupted,
            explanation: vec!["interrupted".to_owned()],
            reason: "interrupted",
        },
        Failure::Deviceless(why) => WorkerExit {
            verdict: Verdict::RuntimeError,
            explanation: vec![format!("the emulated device is lost: {why}")],
            reason: "device_lost",
        },
        Failure::Nonsense(what) => WorkerExit {
            verdict: Verdict::RuntimeError,
            explanation: vec![format!(
                "the solution wrote to nibble's private channel, or damaged the memory of the \
                 process it runs in ({what})"
            )],
            reason: "channel_damaged",
        },
    }
}

/// "left 2 processes running; they were stopped"
pub fn leftovers(count: u32) -> Option<String> {
    let processes = if count == 1 { "1 process".to_owned() } else { format!("{count} processes") };
    (count > 0).then(|| {
        format!(
            "`solution` left {processes} running, which nibble stopped; wait for what you start"
        )
    })
}

fn reason(end: &End) -> &'static str {
    match (end.signal, end.exit_code) {
        (Some(_), _) => "crashed",
        (None, Some(_)) => "exited",
        (None, None) => "lost",
    }
}

fn ending(end: &End, phase: Phase) -> String {
    let when = match phase {
        Phase::Opening => "while the library was opened (a static constructor?)",
        Phase::Calling => "before `solution` returned",
    };
    match (end.signal, end.exit_code) {
        (Some(signal), _) => format!("host code {} {when}", how(signal)),
        (None, Some(code)) => format!("host code called exit({code}) {when}"),
        (None, None) => format!("the process that watches over the solution was killed {when}"),
    }
}

fn how(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "crashed with a segmentation fault (SIGSEGV)".to_owned(),
        libc::SIGABRT => "aborted (SIGABRT): abort(), a failed assert or an uncaught exception \
                          (what it printed says more)"
            .to_owned(),
        libc::SIGBUS => "crashed with a bus error (SIGBUS)".to_owned(),
        libc::SIGFPE => "crashed with an arithmetic error (SIGFPE): a division by zero?".to_owned(),
        libc::SIGILL => "crashed with an illegal instruction (SIGILL)".to_owned(),
        libc::SIGKILL => "was killed (SIGKILL): out of memory?".to_owned(),
        libc::SIGXFSZ => "wrote too large a file (SIGXFSZ)".to_owned(),
        other => format!("ended by signal {other}"),
    }
}

//! The documented exit codes, and errors that carry one.

use std::{fmt, io, process::ExitCode};

use crate::{render::json, terminal::Terminal};

/// What the process tells the shell. Part of the interface: scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for was done; every solution was accepted.
    Accepted = 0,
    /// A solution failed.
    Failed = 1,
    /// The command was used wrongly, or names something that is not there.
    Usage = 2,
    /// This machine lacks something. The message says what mends it.
    Machine = 3,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do its work, in two sentences: what is wrong, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    /// What to do next; a command where one helps.
    pub next: Option<String>,
}

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string(), next: None }
    }

    pub fn machine(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Machine, message: message.to_string(), next: None }
    }

    pub fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, message: "interrupted".into(), next: None }
    }

    pub fn next(mut self, next: impl fmt::Display) -> Self {
        self.next = Some(next.to_string());
        self
    }

    /// Shows the failure, to people on stderr, to programs on stdout, and yields its exit code.
    pub fn report(&self, json: bool, terminal: &Terminal) -> Exit {
        if self.exit == Exit::Accepted {
            // A reader that has seen enough: there is nobody to tell.
        } else if json {
            let _ = terminal.print(&json::failure(None, self));
        } else {
            terminal.error(&self.message, self.next.as_deref());
        }
        self.exit
    }
}

/// The libraries' messages are "what is wrong; what to do next".
impl Failure {
    pub fn from_library(exit: Exit, error: impl fmt::Display) -> Self {
        let text = error.to_string();
        match text.split_once("; ") {
            Some((message, next)) => {
                Self { exit, message: message.into(), next: Some(next.into()) }
            }
            None => Self { exit, message: text, next: None },
        }
    }
}

impl From<judge::Error> for Failure {
    fn from(error: judge::Error) -> Self {
        match error {
            judge::Error::Usage(message) => Self::from_library(Exit::Usage, message),
            judge::Error::Machine { lacks, mend } => Self::machine(lacks).next(mend),
        }
    }
}

impl From<judge::program::EnterError> for Failure {
    fn from(error: judge::program::EnterError) -> Self {
        use judge::program::EnterError::{Link, Machine};
        let exit = match error {
            Link(_) => Exit::Failed,
            Machine(_) => Exit::Machine,
        };
        Self { exit, message: error.to_string(), next: None }
    }
}

impl From<toolchain::ToolchainError> for Failure {
    fn from(error: toolchain::ToolchainError) -> Self {
        judge::Error::from(error).into()
    }
}

impl From<problems::UnknownProblem> for Failure {
    fn from(error: problems::UnknownProblem) -> Self {
        Self::from_library(Exit::Usage, error)
    }
}

impl From<leaderboard::Error> for Failure {
    fn from(error: leaderboard::Error) -> Self {
        use leaderboard::Error::{Ambiguous, NoSuchAttempt, ProblemName};
        let exit = match error {
            NoSuchAttempt { .. } | Ambiguous { .. } | ProblemName(_) => Exit::Usage,
            _ => Exit::Machine,
        };
        Self::from_library(exit, error)
    }
}

/// Writing to stdout failed. A closed pipe means that the reader has seen enough (`nibble
/// leaderboard | head -1`): the command succeeded.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => {
                Self { exit: Exit::Accepted, message: String::new(), next: None }
            }
            _ => Self::machine(format!("cannot write the result: {error}")),
        }
    }
}

//! Which installer this machine has, how to call it, and what its failures mean.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Search, ToolchainError, install::NEEDED_BYTES};

/// A program that installs wheels into a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installer {
    /// `python3 -m pip`
    Python(PathBuf),
    /// `uv pip`
    Uv(PathBuf),
    /// A `pip` whose Python is not called `python3`.
    Pip(PathBuf),
}

impl Installer {
    /// The first one in `PATH` that runs.
    pub fn find(search: &Search) -> Result<Self, ToolchainError> {
        let python = search.in_path("python3").or_else(|| search.in_path("python"));
        if let Some(python) = &python
            && runs(Command::new(python).args(["-m", "pip", "--version"]))
        {
            return Ok(Self::Python(python.clone()));
        }
        if let Some(uv) = search.in_path("uv").filter(|uv| runs(Command::new(uv).arg("--version")))
        {
            return Ok(Self::Uv(uv));
        }
        let pip = search.in_path("pip3").or_else(|| search.in_path("pip"));
        if let Some(pip) = pip.filter(|pip| runs(Command::new(pip).arg("--version"))) {
            return Ok(Self::Pip(pip));
        }
        Err(match python {
            Some(python) => ToolchainError::NoPip { python: python.display().to_string() },
            None => ToolchainError::NoPython,
        })
    }

    /// The command that unpacks `requirements` into `target`, its output in `log` and its own
    /// temporary files in `scratch`, so that a kill leaves nothing elsewhere.
    pub fn command(
        &self,
        search: &Search,
        requirements: &Path,
        target: &Path,
        scratch: &Path,
        log: File,
    ) -> io::Result<Command> {
        let (program, first): (&Path, &[&str]) = match self {
            Self::Python(python) => (python, &["-m", "pip", "install"]),
            Self::Uv(uv) => (uv, &["pip", "install"]),
            Self::Pip(pip) => (pip, &["install"]),
        };
        let mut command = Command::new(program);
        command.args(first).args(["--no-deps", "--require-hashes", "--only-binary", ":all:"]);
        if !matches!(self, Self::Uv(_)) {
            // Five tries with growing pauses make an unplugged cable a matter of minutes.
            let quiet = ["--no-input", "--disable-pip-version-check", "--no-compile"];
            command.args(quiet).args(["--progress-bar", "off", "--retries", "2"]);
        }
        command.arg("--target").arg(target).arg("-r").arg(requirements);
        command
            .env("PATH", &search.path)
            .env("TMPDIR", scratch)
            .env("LC_ALL", "C")
            // `--user` in a user's configuration contradicts `--target`.
            .env("PIP_USER", "0")
            .env("PIP_REQUIRE_VIRTUALENV", "0")
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log));
        Ok(command)
    }
}

fn runs(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// What a failed installer meant. There is no stable interface to ask: the texts are those of pip
/// 20 to 25 and uv 0.4 to 0.13, and an unknown one is passed on.
pub fn explain(output: &str, folder: &Path) -> ToolchainError {
    let says = |patterns: &[&str]| patterns.iter().any(|pattern| output.contains(pattern));
    let tail = tail(output);
    if says(&["No space left on device", "Errno 28", "Disk quota exceeded", "os error 28"]) {
        ToolchainError::DiskFull { folder: folder.to_owned(), needed: NEEDED_BYTES }
    } else if says(&["DO NOT MATCH THE HASHES", "Hash mismatch"]) {
        ToolchainError::WrongHash { tail }
    } else if says(&[
        "NewConnectionError",
        "ConnectTimeoutError",
        "ReadTimeoutError",
        "ProxyError",
        "SSLError",
        "Temporary failure in name resolution",
        "Name or service not known",
        "Connection refused",
        "Network is unreachable",
        "dns error",
        "error sending request",
    ]) {
        ToolchainError::NoNetwork
    } else {
        ToolchainError::InstallFailed { tail }
    }
}

/// The last lines, which say what went wrong; an installer's progress is noise.
fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = lines[lines.len().saturating_sub(4)..].iter().map(|line| {
        let cut = line.char_indices().nth(300).map_or(line.len(), |(at, _)| at);
        format!("    {}", line[..cut].trim_end())
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(output: &str) -> ToolchainError {
        explain(output, Path::new("/cache"))
    }

    #[test]
    fn failures_are_recognised_by_what_installers_print() {
        let pip = "WARNING: Retrying (Retry(total=0)) after connection broken by \
                   'NewConnectionError(': Failed to establish a new connection: [Errno 111] \
                   Connection refused')': /simple/x/\n\
                   ERROR: Could not find a version that satisfies the requirement x==1\n";
        assert!(matches!(explained(pip), ToolchainError::NoNetwork));
        let uv = "error: Request failed after 3 retries in 6.8s\n  cause: client error (Connect)\n\
                  \x20 cause: dns error\n";
        assert!(matches!(explained(uv), ToolchainError::NoNetwork));
        let full =
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left\n";
        assert!(matches!(explained(full), ToolchainError::DiskFull { .. }));
        let hash = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n";
        assert!(matches!(explained(hash), ToolchainError::WrongHash { .. }));
        let other = "noise\n\none\ntwo\nthree\nfour\n";
        let ToolchainError::InstallFailed { tail } = explained(other) else { panic!() };
        assert_eq!(tail, "    one\n    two\n    three\n    four");
    }
}

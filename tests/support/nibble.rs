use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Read as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use leaderboard::{AttemptId, Store};
use tempfile::TempDir;

use super::{Live, Run, descendants};

/// Longer than anything here may take, shorter than anybody waits for a test that hangs.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// A command to run: `Nibble::new(["check", "k.cu"]).file("k.cu", text).run()`.
pub struct Nibble {
    folder: TempDir,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    /// What a shell does before, in a mount namespace of its own.
    mount: Option<&'static str>,
    /// What reads its standard output.
    reader: Option<&'static str>,
}

impl Nibble {
    pub fn new<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let folder = tempfile::Builder::new().prefix("nibble-test-").tempdir().expect("a folder");
        let nibble = Self {
            folder,
            arguments: Vec::new(),
            environment: Vec::new(),
            mount: None,
            reader: None,
        };
        let leaderboard = nibble.folder.path().join("leaderboard");
        nibble
            .args(arguments)
            // What the machine's user has set must not change a test. The compiler's cache is
            // shared with the user on purpose: it is the same for everybody, and large.
            .env("NIBBLE_LEADERBOARD", leaderboard)
            .env("NIBBLE_AUTHOR", "ana")
            .env("TZ", "UTC")
            .without("NO_COLOR")
            .without("CLICOLOR_FORCE")
            .without("CLICOLOR")
    }

    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().into()));
        self
    }

    /// A file in the folder where nibble starts; missing folders are made.
    pub fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), Some(value.as_ref().into())));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// With `mount` done before, as root of a mount namespace that only this run is in.
    pub fn mounted(mut self, mount: &'static str) -> Self {
        self.mount = Some(mount);
        self
    }

    /// With its standard output read by this command of the shell.
    pub fn through(mut self, reader: &'static str) -> Self {
        self.reader = Some(reader);
        self
    }

    /// Where nibble starts.
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The same folder, another command.
    pub fn again<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.clear();
        self.args(arguments)
    }

    /// Another command in the same folder, run to its end, and this one stays as it is.
    #[track_caller]
    pub fn beside(&self, arguments: &[&str]) -> Run {
        self.wait(self.spawn_with(arguments.iter().map(OsString::from)), Instant::now())
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(&self) -> Run {
        self.wait(self.spawn(), Instant::now())
    }

    /// Starts it and lets it run.
    pub fn start(&self) -> Live {
        Live::new(self.spawn())
    }

    /// Runs it, sends `signal` to it as soon as one of its descendants' command lines contains
    /// `when`, and waits for its end.
    #[track_caller]
    pub fn run_and_signal(&self, signal: &str, when: &str) -> Run {
        let started = Instant::now();
        let mut child = self.spawn();
        while !descendants(child.id()).iter().any(|line| line.contains(when)) {
            assert!(started.elapsed() < PATIENCE, "it never started `{when}`");
            assert!(child.try_wait().expect("status").is_none(), "it ended before `{when}`");
            thread::sleep(Duration::from_millis(10));
        }
        let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
        assert!(sent.expect("kill").success(), "nibble had ended already");
        self.wait(child, started)
    }

    /// Oldest first; none where there is no leaderboard, or none that can be read.
    fn attempts(&self) -> Vec<AttemptId> {
        let store = Store::at(self.folder.path().join("leaderboard"));
        let attempts = store.read(None).map(|read| read.attempts).unwrap_or_default();
        attempts.into_iter().map(|attempt| attempt.id).collect()
    }

    fn spawn(&self) -> Child {
        self.spawn_with(self.arguments.iter().cloned())
    }

    fn spawn_with(&self, arguments: impl Iterator<Item = OsString>) -> Child {
        let nibble = env!("CARGO_BIN_EXE_nibble");
        let mut command = match (self.mount, self.reader) {
            (None, None) => Command::new(nibble),
            (None, Some(reader)) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(format!("\"$@\" | {reader}")).args(["sh", nibble]);
                command
            }
            (Some(mount), _) => {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
                command.arg(format!("{mount} && exec \"$@\"")).args(["sh", nibble]);
                command
            }
        };
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.spawn().expect("nibble starts")
    }

    #[track_caller]
    fn wait(&self, mut child: Child, started: Instant) -> Run {
        let mut stdout = child.stdout.take().expect("piped");
        let mut stderr = child.stderr.take().expect("piped");
        let stdout = thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).expect("stdout");
            bytes
        });
        let stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).expect("stderr");
            bytes
        });
        let status = loop {
            if let Some(status) = child.try_wait().expect("nibble's status") {
                break status;
            }
            if started.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("nibble {:?} takes longer than {PATIENCE:?}", self.arguments);
            }
            thread::sleep(Duration::from_millis(5));
        };
        let text = |bytes| String::from_utf8(bytes).expect("nibble prints UTF-8");
        Run {
            folder: self.folder.path().to_owned(),
            attempts: self.attempts(),
            code: status.code(),
            stdout: text(stdout.join().expect("stdout")),
            stderr: text(stderr.join().expect("stderr")),
        }
    }
}

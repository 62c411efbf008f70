use std::path::PathBuf;

use leaderboard::AttemptId;

use super::redacted;

/// What a run of nibble did.
#[derive(Debug)]
pub struct Run {
    pub folder: PathBuf,
    /// Of the folder's leaderboard, in the order they were recorded.
    pub attempts: Vec<AttemptId>,
    /// Absent where a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn stdout_contains(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "stdout lacks `{text}`\n{}", self.stdout);
        self
    }

    #[track_caller]
    pub fn stderr_contains(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "stderr lacks `{text}`\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub fn stdout_is_empty(self) -> Self {
        assert_eq!(self.stdout, "", "{self:#?}");
        self
    }

    #[track_caller]
    pub fn stderr_is_empty(self) -> Self {
        assert_eq!(self.stderr, "", "{self:#?}");
        self
    }

    /// One object for each line of stdout, and nothing else there.
    #[track_caller]
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// Code, stdout and stderr as one text, without what differs from run to run.
    pub fn screen(&self) -> String {
        let short: Vec<String> = self.attempts.iter().map(|id| id.tail()[..4].to_owned()).collect();
        let mut text = match self.code {
            Some(code) => format!("exit code {code}\n"),
            None => "ended by a signal\n".into(),
        };
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !stream.is_empty() {
                text.push_str(&format!("--- {name}\n{}", redacted(stream, &self.folder, &short)));
            }
        }
        text
    }

    /// No line is wider than a terminal of 80 columns. Not for screens that quote a compiler.
    #[track_caller]
    pub fn fits(self) -> Self {
        for line in self.stdout.lines().chain(self.stderr.lines()) {
            let cells = line.chars().count();
            assert!(cells <= 80, "{cells} columns: {line}");
        }
        self
    }
}

//! The folder that remembers every attempt.
//!
//! ```text
//! <leaderboard>/attempts/
//!     mxfp4_quantize/20260812-143015-k7f2qa/   attempt.toml, solution.cu, samples.json
//!     .incoming/     folders that writers are at work in (see incoming.rs)
//!     .index/        derived, disposable (see index.rs)
//!     .gitignore     names those two
//! ```
//!
//! An attempt is never rewritten and no file is shared between two, so that a leaderboard in git
//! merges without conflicts, and writers need no lock against each other or against readers.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::attempt::{Attempt, Samples, Submission};
use crate::collection::{self, Collection};
use crate::incoming::{self, Incoming};
use crate::member::Ids;
use crate::record::{self, Defect, FormatVersion};
use crate::{AttemptId, Error, Member, file};

/// What was submitted, of an attempt's files.
pub(crate) const SOURCE: &str = "solution.cu";

const GITIGNORE: &str =
    "# Work in progress and a derived index; the attempts are all there is to keep.
/.incoming/
/.index/
";
/// The source's hash holds only if git leaves its line ends alone.
const GITATTRIBUTES: &str = "* -text\n";

/// A leaderboard's folder. Nothing is opened or made before it is needed.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SamplesRecord {
    format: FormatVersion,
    sizes: Vec<Samples>,
}

impl Store {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Records an attempt. When this returns, the disk has it.
    ///
    /// The id of a batch's member follows from its place, so that two processes at one place write
    /// one attempt: the second is given what the first recorded.
    pub fn record(&self, submission: Submission) -> Result<Attempt, Error> {
        check_problem_name(&submission.problem)?;
        let failed = |action, path: &Path, error| Error::io(action, path, &self.root, error);
        let incoming = self.incoming();
        incoming::sweep(&incoming);

        let mut ids = Ids::of(&submission);
        let mut attempt = submission.attempt(ids.draw());
        let source = submission.source;
        let samples = SamplesRecord { format: FormatVersion::CURRENT, sizes: submission.samples };
        let samples =
            serde_json::to_vec(&samples).map_err(|error| Error::Invalid(error.to_string()))?;
        let folder = self.attempts().join(&attempt.problem);
        fs::create_dir_all(&folder).map_err(|error| failed("make", &folder, error))?;
        self.write_git_files().map_err(|error| failed("write in", &self.attempts(), error))?;
        loop {
            if self.folder(&attempt.id).is_none() {
                let record = record::encode(&attempt).map_err(Error::Invalid)?;
                let place = folder.join(attempt.id.as_str());
                let files = [
                    ("attempt.toml", record.as_bytes()),
                    (SOURCE, &source),
                    ("samples.json", &samples),
                ];
                match write(&incoming, &files, &place) {
                    Err(error) if is_taken(&error) => {}
                    written => {
                        written.map_err(|error| failed("write", &place, error))?;
                        break;
                    }
                }
            }
            if let Some(recorded) = self.member(&attempt.id, attempt.batch.as_ref()) {
                return Ok(recorded);
            }
            attempt.id = ids.draw();
        }
        // The two above only matter for a first attempt, but another process's first attempt may
        // not have reached the disk yet either.
        let synced = [&folder, &self.attempts(), &self.root]
            .into_iter()
            .map(File::open)
            .collect::<io::Result<Vec<_>>>()
            .and_then(|folders| incoming::sync(folders.iter()));
        synced.map_err(|error| failed("write", &folder, error))?;
        Ok(attempt)
    }

    /// The attempt of that id, where it is the batch's.
    fn member(&self, id: &AttemptId, batch: Option<&Member>) -> Option<Attempt> {
        let there = self.attempt(id).ok()?;
        (batch.is_some() && there.batch.as_ref() == batch).then_some(there)
    }

    /// All attempts of one problem, or of all. A leaderboard that does not exist is empty.
    pub fn read(&self, problem: Option<&str>) -> Result<Collection, Error> {
        let problems = match problem {
            Some(name) => {
                check_problem_name(name)?;
                vec![name.to_owned()]
            }
            None => self.problems()?,
        };
        let mut all = Collection::default();
        for problem in problems {
            let folder = self.attempts().join(&problem);
            match collection::read(&folder, &self.index(&problem), &self.incoming()) {
                Ok(one) => all.append(one),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", &folder, &self.root, error)),
            }
        }
        all.sort();
        Ok(all)
    }

    /// The names of the problems that have a folder, in order.
    pub fn problems(&self) -> Result<Vec<String>, Error> {
        let folder = self.attempts();
        let failed = |error| Error::io("read", &folder, &self.root, error);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().into_string().unwrap_or_default();
            // A link to a folder is none: see `file`.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if check_problem_name(&name).is_ok() && is_folder {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The ids of all attempts, readable or not, oldest first.
    pub fn ids(&self) -> Result<Vec<AttemptId>, Error> {
        let mut ids = Vec::new();
        for problem in self.problems()? {
            let folder = self.attempts().join(problem);
            let listed = collection::list(&folder)
                .map_err(|error| Error::io("read", &folder, &self.root, error))?;
            ids.extend(listed);
        }
        ids.par_sort();
        Ok(ids)
    }

    /// The attempt whose id, or whose id's tail, begins with what was typed.
    pub fn find(&self, typed: &str) -> Result<AttemptId, Error> {
        let wanted = typed.trim().to_ascii_lowercase();
        let mut candidates = self.ids()?;
        candidates.retain(|id| !wanted.is_empty() && id.starts_with(&wanted));
        candidates.reverse();
        match candidates.len() {
            0 => Err(Error::NoSuchAttempt { typed: typed.to_owned() }),
            1 => Ok(candidates.remove(0)),
            _ => Err(Error::Ambiguous { typed: typed.to_owned(), candidates }),
        }
    }

    /// One whole attempt.
    pub fn attempt(&self, id: &AttemptId) -> Result<Attempt, Error> {
        let path = self.existing(id)?;
        collection::load(&path).map_err(|defect| Error::Unreadable { path, defect })
    }

    /// The attempt's `solution.cu`.
    pub fn source(&self, id: &AttemptId) -> Result<Vec<u8>, Error> {
        let folder = self.existing(id)?;
        file::read(&folder, SOURCE, file::LARGEST)
            .map_err(|error| Error::io("read", &folder.join(SOURCE), &self.root, error))
    }

    /// Every single time that was taken; empty for a failed attempt.
    pub fn samples(&self, id: &AttemptId) -> Result<Vec<Samples>, Error> {
        let path = self.existing(id)?;
        read_samples(&path).map_err(|defect| Error::Unreadable { path, defect })
    }

    /// Where the attempt lies, if it does.
    pub fn folder(&self, id: &AttemptId) -> Option<PathBuf> {
        let problems = self.problems().ok()?;
        problems
            .into_iter()
            .map(|problem| self.attempts().join(problem).join(id.as_str()))
            .find(|path| path.exists())
    }

    fn existing(&self, id: &AttemptId) -> Result<PathBuf, Error> {
        self.folder(id).ok_or_else(|| Error::NoSuchAttempt { typed: id.to_string() })
    }

    pub(crate) fn attempts(&self) -> PathBuf {
        self.root.join("attempts")
    }

    pub(crate) fn incoming(&self) -> PathBuf {
        self.root.join("attempts/.incoming")
    }

    pub(crate) fn index(&self, problem: &str) -> PathBuf {
        self.root.join(format!("attempts/.index/{problem}.jsonl"))
    }

    /// Written once; a user's own changes stay.
    pub(crate) fn write_git_files(&self) -> io::Result<()> {
        for (name, content) in [(".gitignore", GITIGNORE), (".gitattributes", GITATTRIBUTES)] {
            let place = self.attempts().join(name);
            if !place.exists() {
                let mut incoming = Incoming::create(&self.incoming())?;
                incoming.write("file", content.as_bytes())?;
                incoming.publish_file("file", &place)?;
            }
        }
        Ok(())
    }
}

pub(crate) fn read_samples(folder: &Path) -> Result<Vec<Samples>, Defect> {
    let damaged = |why: String| Defect::Damaged(format!("samples.json: {why}"));
    let text = file::read(folder, "samples.json", file::LARGEST);
    let text = text.map_err(|error| damaged(error.to_string()))?;
    let record: SamplesRecord =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    record.format.known().map_err(|defect| match defect {
        Defect::Damaged(why) => damaged(why),
        newer @ Defect::Newer(_) => newer,
    })?;
    Ok(record.sizes)
}

fn write(incoming: &Path, files: &[(&str, &[u8])], place: &Path) -> io::Result<()> {
    let mut folder = Incoming::create(incoming)?;
    for (name, content) in files {
        folder.write(name, content)?;
    }
    folder.publish(place)
}

/// Another attempt drew the same id in the same second.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// A problem's name becomes a folder's: nothing that could lead elsewhere.
pub(crate) fn check_problem_name(name: &str) -> Result<(), Error> {
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = name.bytes().next().is_some_and(|byte| byte != b'_');
    if starts && name.len() <= 64 && name.bytes().all(letters) {
        Ok(())
    } else {
        Err(Error::ProblemName(name.to_owned()))
    }
}

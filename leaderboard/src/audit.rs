//! Looking over a leaderboard: everything that is not as it should be, and mending what can be
//! mended without a guess. An attempt is never changed and never deleted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rayon::prelude::*;
use serde::Serialize;

use crate::attempt::source_hash;
use crate::record::Defect;
use crate::store::{SOURCE, check_problem_name, read_samples};
use crate::{AttemptId, Error, Store, Summary, collection, file, incoming, index};

mod times;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub path: PathBuf,
    pub flaw: Flaw,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind", content = "detail")]
pub enum Flaw {
    #[error("{0}")]
    Attempt(Defect),
    #[error("solution.cu is missing or unreadable: {0}")]
    SourceMissing(String),
    #[error("solution.cu is not the source that was recorded")]
    SourceChanged,
    #[error("{0}")]
    Samples(Defect),
    #[error("its numbers do not go together: {0}")]
    Times(String),
    #[error("left by a writer that was killed; it was never reported")]
    Leftover,
    #[error("not an attempt; move it elsewhere")]
    Stray,
    #[error("another attempt has this id here")]
    Taken,
    #[error("the index is wrong: {0}")]
    Index(String),
}

impl Flaw {
    /// Whether [`Store::repair`] removes it. The rest needs a decision, or a backup.
    pub fn mendable(&self) -> bool {
        matches!(self, Self::Leftover | Self::Index(_))
    }
}

/// What [`Store::verify`] saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Attempts looked at, with their sources and samples.
    pub attempts: usize,
    /// In the order of their paths.
    pub findings: Vec<Finding>,
}

/// What [`Store::repair`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repair {
    pub mended: Vec<Finding>,
    /// What is still there afterwards.
    pub left: Vec<Finding>,
}

impl Store {
    /// Reads every file of every attempt, believing nothing. Changes nothing.
    pub fn verify(&self) -> Result<Verification, Error> {
        let mut findings: Vec<Finding> = incoming::leftovers(&self.incoming())
            .into_iter()
            .map(|path| Finding { path, flaw: Flaw::Leftover })
            .collect();
        let mut attempts = 0;
        let root = self.attempts();
        findings.extend(self.strays(&root, |name| {
            name.starts_with('.') || check_problem_name(name).is_ok() && is_folder(&root.join(name))
        })?);
        for problem in self.problems()? {
            let folder = root.join(&problem);
            let strays = self.strays(&folder, |name| name.parse::<AttemptId>().is_ok())?;
            findings.extend(strays);
            let ids = collection::list(&folder)
                .map_err(|error| Error::io("read", &folder, self.root(), error))?;
            attempts += ids.len();
            let seen: Vec<(Vec<Finding>, Option<Summary>)> =
                ids.par_iter().map(|id| inspect(&folder.join(id.as_str()))).collect();
            let mut truth = HashMap::new();
            for (id, (found, summary)) in ids.into_iter().zip(seen) {
                findings.extend(found);
                truth.insert(id, summary);
            }
            findings.extend(self.inspect_index(&problem, &folder, &truth));
        }
        findings.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Verification { attempts, findings })
    }

    /// Sweeps up after killed writers and removes wrong indexes, which the next reading makes anew.
    pub fn repair(&self) -> Result<Repair, Error> {
        let before = self.verify()?.findings;
        incoming::sweep(&self.incoming());
        for finding in before.iter().filter(|finding| matches!(finding.flaw, Flaw::Index(_))) {
            match fs::remove_file(&finding.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &finding.path, self.root(), error));
                }
                _ => {}
            }
        }
        let left = self.verify()?.findings;
        let mended = before.into_iter().filter(|finding| !left.contains(finding)).collect();
        Ok(Repair { mended, left })
    }

    fn strays(&self, folder: &Path, belongs: impl Fn(&str) -> bool) -> Result<Vec<Finding>, Error> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| Error::io("read", folder, self.root(), error))?,
        };
        Ok(entries
            .flatten()
            .filter(|entry| !entry.file_name().to_str().is_some_and(&belongs))
            .map(|entry| Finding { path: entry.path(), flaw: Flaw::Stray })
            .collect())
    }

    fn inspect_index(
        &self,
        problem: &str,
        folder: &Path,
        truth: &HashMap<AttemptId, Option<Summary>>,
    ) -> Option<Finding> {
        let path = self.index(problem);
        let wrong = match index::load(&path) {
            Err(_) if !path.exists() => return None,
            Err(why) => why,
            // An entry whose attempt has another stamp by now, or is gone, is old and harmless;
            // one that was not there when the folder was listed is news.
            Ok(entries) => entries.iter().find_map(|entry| {
                let id = &entry.summary.id;
                let believed = collection::stamp(&folder.join(id.as_str())).ok()? == entry.stamp;
                let known = truth.get(id)?;
                (believed && known.as_ref() != Some(&entry.summary))
                    .then(|| format!("it contradicts attempt {id}"))
            })?,
        };
        Some(Finding { path, flaw: Flaw::Index(wrong) })
    }
}

/// A link to a folder is none.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// All that is wrong with the attempt in `path`, and its summary if it can be read.
fn inspect(path: &Path) -> (Vec<Finding>, Option<Summary>) {
    let mut flaws = Vec::new();
    let source = file::read(path, SOURCE, file::LARGEST);
    if let Err(error) = &source {
        flaws.push(Flaw::SourceMissing(error.to_string()));
    }
    let samples = read_samples(path).map_err(|defect| flaws.push(Flaw::Samples(defect)));
    let attempt = match collection::load(path) {
        Ok(attempt) => {
            if source.is_ok_and(|source| source_hash(&source) != attempt.source_hash) {
                flaws.push(Flaw::SourceChanged);
            }
            let outcome = &attempt.outcome;
            let wrong = samples.ok().and_then(|samples| times::contradiction(outcome, &samples));
            flaws.extend(wrong.map(Flaw::Times));
            Some(attempt)
        }
        Err(defect) => {
            flaws.push(Flaw::Attempt(defect));
            None
        }
    };
    let findings = flaws.into_iter().map(|flaw| Finding { path: path.to_owned(), flaw }).collect();
    (findings, attempt.as_ref().map(Summary::from))
}

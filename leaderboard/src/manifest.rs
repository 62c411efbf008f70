//! `board.toml`: what a group has agreed on about its leaderboard.
//!
//! ```toml
//! [house]
//! gpus = ["GPU-0a1b2c3d-…"]     # as `nvidia-smi -L` writes them: machines that the group trusts
//! only = true                    # rank what was timed there, and nothing else
//! ```
//!
//! It lies beside `attempts/` and is the group's to edit. What it says of a time is worth as much as
//! the attempts are: whoever may write them can write a UUID into them. Who put an attempt into the
//! group's folder, its history in git says.

use std::collections::BTreeSet;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::{Error, Store, Summary, file};

const NAME: &str = "board.toml";

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(default)]
    pub house: House,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct House {
    #[serde(default)]
    pub gpus: BTreeSet<String>,
    #[serde(default)]
    pub only: bool,
}

/// Whose word stands behind a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The submitter's.
    OwnWord,
    /// Another author has run the same source and got a time that is not slower.
    Confirmed,
    /// It was taken on a machine of the house.
    House,
}

impl Manifest {
    /// Whether a time was taken on one of the house's machines.
    pub fn is_house(&self, attempt: &Summary) -> bool {
        attempt.gpu_uuid.as_ref().is_some_and(|uuid| self.house.gpus.contains(uuid))
    }
}

impl Store {
    /// The group's manifest; where there is none, nothing is agreed on.
    ///
    /// # Errors
    ///
    /// [`Error::Manifest`] with its line, where it cannot be read.
    pub fn manifest(&self) -> Result<Manifest, Error> {
        let path = self.root().join(NAME);
        // The board itself may be named by a link: whoever asks has chosen it.
        let read =
            fs::canonicalize(self.root()).and_then(|root| file::read(&root, NAME, file::LARGEST));
        let text = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Manifest::default());
            }
            read => read.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other)),
        };
        let text = text.map_err(|error| Error::io("read", &path, self.root(), error))?;
        toml::from_str(&text).map_err(|error| {
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let why = error.message().lines().next().unwrap_or_default().to_owned();
            Error::Manifest { path, line, why }
        })
    }
}

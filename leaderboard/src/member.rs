//! Places in a batch: what makes an attempt that is made again the same one.
//!
//! A batch that was killed and begun again must not record anything twice, and neither must two
//! machines of which one was taken for dead. No lock can promise that: the process that holds it may be
//! the one that is cut off. So the id of a batch's attempt is not drawn but follows from the batch
//! and the place in it, and an id is a folder, which appears by a rename that refuses to replace
//! another.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, NotAnId, Submission, incoming};

/// The name of a batch, of the same shape as an attempt's: when it began, and a random tail.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(AttemptId);

impl RunId {
    /// A new one.
    pub fn new(began: Timestamp) -> Self {
        Self(AttemptId::new(began, incoming::random()))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The random half.
    pub fn tail(&self) -> &str {
        self.0.tail()
    }
}

impl std::str::FromStr for RunId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        text.parse().map(Self)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One place in a batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    pub run: RunId,
    /// From 0, in the order in which the batch was given.
    pub index: u32,
}

/// The ids that an attempt may have, in the order in which they are tried.
pub(crate) struct Ids {
    created: Timestamp,
    batch: Option<Member>,
    drawn: u64,
}

impl Ids {
    pub(crate) fn of(submission: &Submission) -> Self {
        Self { created: submission.created, batch: submission.batch.clone(), drawn: 0 }
    }

    /// The next: of a batch's member the same at every time and on every machine.
    pub(crate) fn draw(&mut self) -> AttemptId {
        let Some(Member { run, index }) = &self.batch else {
            return AttemptId::new(self.created, incoming::random());
        };
        let hash = blake3::hash(format!("{run} {index} {}", self.drawn).as_bytes());
        self.drawn += 1;
        let random = hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        run.0.with_tail(random)
    }
}

//! The attempt record, the store, boards and comparisons. See docs/architecture.md.
//!
//! Knows no harness and no CUDA: it owns its schema, and one file of the command line translates a
//! report into a [`Submission`]. Never prints.

pub mod attempt;
mod audit;
pub mod board;
mod collection;
pub mod compare;
mod error;
pub mod facts;
mod file;
pub mod history;
mod id;
mod incoming;
mod index;
pub mod locate;
mod manifest;
mod member;
mod merge;
mod record;
mod short_ids;
mod store;
mod summary;

pub use attempt::{Attempt, Submission};
pub use audit::{Finding, Flaw, Repair, Verification};
pub use collection::{Collection, Reading, Unreadable};
pub use error::Error;
pub use id::{AttemptId, NotAnId};
pub use manifest::{House, Manifest, Trust};
pub use member::{Member, RunId};
pub use merge::Merged;
pub use record::{Defect, FormatVersion};
pub use short_ids::ShortIds;
pub use store::Store;
pub use summary::{Facts, Summary};

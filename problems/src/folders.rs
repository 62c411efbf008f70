//! The folders of problems beside the kit, as `build.rs` finds them: a module for each, and
//! [`FOLDERS`], what they hold, in the order of their names.

use crate::problem::Truth;

/// One folder.
pub(crate) struct Folder {
    pub name: &'static str,
    pub manifest: &'static str,
    pub spec: &'static str,
    pub starter: &'static str,
    pub reference: FolderReference,
}

/// `reference.rs` or `reference.cu`.
pub(crate) enum FolderReference {
    Code(&'static dyn Truth),
    Kernel(&'static str),
}

include!(concat!(env!("OUT_DIR"), "/folders.rs"));

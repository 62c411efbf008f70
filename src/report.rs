//! The report: a folder of pages that need no server, no network and no script.
//!
//! ```text
//! attempts ─► Site ─┬─► index.html              each board in a sentence and a picture
//!                   ├─► boards/<board>.html     who is first, how it got there, how far from light
//!                   ├─► boards/<board>-attempts-N.html      all of them, newest first
//!                   ├─► attempts/<id>.html, .cu             one attempt, why it failed, its source
//!                   └─► compare/<a>-<b>.html                two of them, side by side
//! ```
//!
//! Pages are made from templates that escape whatever they are given (maud), all cores at once, and
//! written as they are made, so that memory does not grow with the report. Everything whose length
//! a user decides is cut to a share of the page's limit; what is cut says where the rest is.

mod attempt;
mod board;
mod comparison;
mod diff;
mod facts;
mod failure;
mod folder;
mod highlight;
mod index;
mod layout;
mod list;
mod picture;
mod site;
mod text;

use std::{borrow::Cow, collections::BTreeSet};

use leaderboard::{AttemptId, Store};
use rayon::prelude::*;

pub use folder::Folder;
use layout::Page;
pub use site::{Damaged, Site};

use crate::exit::Result;

/// Writes every page into the folder.
pub fn write(site: &Site<'_>, store: &Store, folder: &Folder) -> Result<()> {
    let put = |page: &Page| folder.write(&page.path, page.render(site));
    folder.write("style.css", layout::STYLE)?;
    put(&index::page(site))?;
    for contest in &site.contests {
        put(&board::page(site, contest))?;
        list::pages(site, contest).par_iter().try_for_each(put)?;
    }
    site.attempts.par_iter().try_for_each(|(id, attempt)| {
        let bytes = store.source(id).map_err(|error| error.to_string());
        let source = bytes.as_deref().map(String::from_utf8_lossy);
        let before = attempt.parent.as_ref().and_then(|parent| text_of(store, parent));
        if let Ok(bytes) = &bytes {
            folder.write(&site::source(id), bytes)?;
        }
        let source = source.as_deref().map_err(|error| error.as_str());
        put(&attempt::page(site, attempt, source, before.as_deref()))
    })?;
    let pairs: BTreeSet<(&AttemptId, &AttemptId)> = site.pairs.clone();
    pairs.into_par_iter().try_for_each(|(old, new)| {
        let [Some(one), Some(two)] = [old, new].map(|id| site.attempts.get(id)) else {
            return Ok(());
        };
        let sources = [old, new].map(|id| text_of(store, id));
        put(&comparison::page(site, one, two, [sources[0].as_deref(), sources[1].as_deref()]))
    })
}

fn text_of(store: &Store, id: &AttemptId) -> Option<String> {
    let bytes = store.source(id).ok()?;
    Some(match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    })
}

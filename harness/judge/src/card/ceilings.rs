//! What a card's memory really does: measured once, and kept.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{Card, State};
use toolchain::cache;

/// Bytes per second, of data far larger than L2. A copy counts what it reads and what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    pub copy: f64,
    pub read: f64,
    pub write: f64,
}

/// As the cache keeps them, one file for each card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub card: String,
    pub uuid: String,
    pub driver: Option<String>,
    /// Seconds since 1970.
    pub measured: u64,
    pub ceilings: Ceilings,
}

impl Measurement {
    /// What was measured here before with this driver.
    pub fn find(card: &Card, driver: Option<&str>) -> Option<Self> {
        let text = fs::read_to_string(path(card)?).ok()?;
        let known: Self = serde_json::from_str(&text).ok()?;
        (known.uuid == card.uuid && known.driver.as_deref() == driver).then_some(known)
    }

    /// A measurement of now, kept where there is a cache to keep it in.
    pub fn keep(card: &Card, state: Option<&State>, ceilings: Ceilings) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let measurement = Self {
            card: card.name.clone(),
            uuid: card.uuid.clone(),
            driver: state.and_then(|state| state.driver.clone()),
            measured: now.map_or(0, |now| now.as_secs()),
            ceilings,
        };
        // Not kept means measured again, a second later than need be.
        let _ = measurement.write(card);
        measurement
    }

    fn write(&self, card: &Card) -> Option<()> {
        let path = path(card)?;
        let folder = path.parent()?;
        fs::create_dir_all(folder).ok()?;
        // Two at once: each writes its own file, and the last one stays.
        let file = tempfile::NamedTempFile::new_in(folder).ok()?;
        serde_json::to_writer_pretty(&file, self).ok()?;
        file.persist(path).ok()?;
        Some(())
    }
}

fn path(card: &Card) -> Option<PathBuf> {
    Some(cache::folder()?.join("ceilings").join(format!("{}.json", card.uuid)))
}

//! `--sanitize`, `--schedule random` and `--seed N`: how closely the emulator looks.

use std::hash::{BuildHasher as _, RandomState};

use judge::device;

use crate::{
    args::{Schedule, Scrutiny},
    config::Config,
    exit::{Failure, Result},
};

/// What the flags ask for. A seed that nobody gave is drawn, and told, so that the order can be had again.
pub fn of(flags: Scrutiny, config: &Config) -> Result<device::Scrutiny> {
    let Scrutiny { sanitize, schedule, seed } = flags;
    let seed = match (schedule, seed) {
        (Some(Schedule::Fixed), Some(_)) => {
            return Err(Failure::usage("`--seed` is for the random order")
                .next("leave out --schedule fixed, or the seed"));
        }
        (Some(Schedule::Random), None) => {
            let seed = RandomState::new().hash_one(()) % 1_000_000;
            config.terminal.note(&format!("random order: --seed {seed} gives the same again"));
            Some(seed)
        }
        (_, seed) => seed,
    };
    Ok(device::Scrutiny { sanitize, seed, profile: false })
}

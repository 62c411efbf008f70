//! What the flags mean, checked once; below here nothing sees what was typed.

use std::{env, path::PathBuf};

use harness::DeviceChoice;

use crate::{
    args::Common,
    exit::{Failure, Result},
    terminal::Terminal,
};

/// How results are wanted and where things are, for every command.
#[derive(Clone, Debug)]
pub struct Config {
    pub terminal: Terminal,
    pub json: bool,
    pub device: DeviceChoice,
    pub arch: Option<String>,
    pub nvcc: Option<PathBuf>,
    /// The leaderboard's folder, whether it exists yet or not.
    pub leaderboard: PathBuf,
}

impl Config {
    pub fn new(common: Common, terminal: Terminal) -> Result<Self> {
        Ok(Self {
            terminal,
            json: common.json,
            device: common.device.parse().map_err(Failure::usage)?,
            arch: common.arch.as_deref().map(architecture).transpose()?,
            nvcc: common.nvcc,
            leaderboard: match common.leaderboard {
                Some(folder) => folder,
                None => env::current_dir()?.join("leaderboard"),
            },
        })
    }
}

/// `sm_100a`, and `100a` for lazy fingers. Whether the compiler knows it, the compiler says.
fn architecture(typed: &str) -> Result<String> {
    let number = typed.strip_prefix("sm_").unwrap_or(typed);
    let digits = number.trim_end_matches(['a', 'f']);
    if number.len() - digits.len() <= 1
        && (2..=3).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Ok(format!("sm_{number}"));
    }
    Err(Failure::usage(format!("`{typed}` is not an architecture"))
        .next("write it like sm_80, sm_90a, sm_100a or sm_120a"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_normalised_or_refused() {
        assert_eq!(architecture("sm_100a").as_deref(), Ok("sm_100a"));
        assert_eq!(architecture("80").as_deref(), Ok("sm_80"));
        for typed in ["", "sm_", "sm_1", "sm_1000", "hopper", "sm_100aa", "sm_9µ"] {
            assert!(architecture(typed).is_err(), "{typed}");
        }
    }
}

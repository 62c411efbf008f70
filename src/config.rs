//! What the flags mean, checked once; below here nothing sees what was typed.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use judge::DeviceChoice;
use leaderboard::locate;
use toolchain::directive::is_arch;

use crate::{
    args::Common,
    exit::{Exit, Failure, Result},
    terminal::Terminal,
};

/// How results are wanted and where things are, for every command.
#[derive(Clone, Debug)]
pub struct Config {
    pub terminal: Terminal,
    pub json: bool,
    pub quiet: bool,
    pub device: DeviceChoice,
    pub arch: Option<String>,
    pub nvcc: Option<PathBuf>,
    /// `--leaderboard`
    leaderboard: Option<PathBuf>,
    /// The folders that hold problems beside nibble's own.
    pub problems: Vec<PathBuf>,
}

impl Config {
    pub fn new(common: Common, terminal: Terminal) -> Result<Self> {
        Ok(Self {
            terminal,
            json: common.json,
            quiet: common.quiet,
            device: common.device.parse().map_err(Failure::usage)?,
            arch: common.arch.as_deref().map(architecture).transpose()?,
            nvcc: common.nvcc,
            leaderboard: common.leaderboard,
            problems: problem_folders(common.problems)?,
        })
    }

    /// The flags that make another nibble understand its command as this one does, but for the
    /// leaderboard's folder.
    pub fn again(&self) -> Vec<OsString> {
        let mut flags: Vec<OsString> = vec!["--quiet".into(), "--device".into()];
        flags.push(self.device.to_string().into());
        if let Some(arch) = &self.arch {
            flags.extend(["--arch".into(), arch.into()]);
        }
        if let Some(nvcc) = &self.nvcc {
            flags.extend(["--nvcc".into(), nvcc.into()]);
        }
        if let [folder] = &*self.problems {
            flags.extend(["--problems".into(), folder.into()]);
        }
        flags
    }

    /// The leaderboard's folder, whether it exists yet or not. Looked for when it is needed: what
    /// records nothing works on a machine that has no place for records.
    pub fn leaderboard(&self) -> Result<PathBuf> {
        leaderboard(self.leaderboard.as_deref())
    }
}

/// The flag, else `NIBBLE_LEADERBOARD`, else the nearest one upwards, else the user's data folder.
fn leaderboard(option: Option<&Path>) -> Result<PathBuf> {
    let (variable, data_home) = (env::var_os("NIBBLE_LEADERBOARD"), env::var_os("XDG_DATA_HOME"));
    let home = env::var_os("HOME");
    let clues = locate::Clues {
        option,
        variable: variable.as_deref(),
        directory: &env::current_dir()?,
        data_home: data_home.as_deref(),
        home: home.as_deref(),
    };
    locate::locate(&clues, locate::is_leaderboard)
        .map(|located| located.path)
        .map_err(|nowhere| Failure::from_library(Exit::Machine, nowhere))
}

/// The flag's folder, else those of `NIBBLE_PROBLEMS`, else the nearest `problems` upwards.
fn problem_folders(option: Option<PathBuf>) -> Result<Vec<PathBuf>> {
    let named = match (option, env::var_os("NIBBLE_PROBLEMS")) {
        (Some(folder), _) => vec![folder],
        (None, Some(folders)) => env::split_paths(&folders).collect(),
        (None, None) => {
            let here = env::current_dir()?;
            let mut nearest = here.ancestors().map(|folder| folder.join("problems"));
            return Ok(nearest.find(|folder| folder.is_dir()).into_iter().collect());
        }
    };
    match named.iter().find(|folder| !folder.is_dir()) {
        Some(missing) => Err(Failure::usage(format!("{} is no folder", missing.display()))
            .next("--problems and NIBBLE_PROBLEMS name folders that hold problems' folders")),
        None => Ok(named),
    }
}

/// `sm_100a`, and `100a` for lazy fingers. Whether the compiler knows it, the compiler says.
fn architecture(typed: &str) -> Result<String> {
    let arch = if typed.starts_with("sm_") { typed.to_owned() } else { format!("sm_{typed}") };
    if is_arch(&arch) {
        return Ok(arch);
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

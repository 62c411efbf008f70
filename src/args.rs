//! What can be typed. Text only: nothing here looks at the machine (see `config`).

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// A workbench for FP4 kernel competitions, with or without a GPU
#[derive(Debug, Parser)]
#[command(
    name = "nibble",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 80,
    after_help = "Exit codes: 0 accepted, 1 the solution failed, 2 wrong use, 3 this machine lacks \
                  something,\n130 interrupted."
)]
pub struct Args {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Everywhere")]
pub struct Common {
    /// Print one JSON object for each file on stdout, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// Where kernels run: auto, emulator, cuda or cuda:N
    #[arg(long, global = true, value_name = "DEVICE", default_value = "auto")]
    pub device: String,
    /// The architecture to compile for, as sm_100a [default: the file's or the problem's]
    #[arg(long, global = true, value_name = "SM")]
    pub arch: Option<String>,
    /// The folder of the leaderboard [default: the nearest leaderboard/ upwards from here]
    #[arg(long, global = true, value_name = "DIR", env = "NIBBLE_LEADERBOARD", hide_env = true)]
    pub leaderboard: Option<PathBuf>,
    /// The nvcc to compile with [default: the machine's, else nibble's own copy]
    #[arg(long, global = true, value_name = "PATH", env = "NIBBLE_NVCC", hide_env = true)]
    pub nvcc: Option<PathBuf>,
    /// No progress on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile and prove; no timing, no record
    Check(Solve),
    /// Check, then time; no record
    Bench(Solve),
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions { shell: Shell },
    /// The untrusted half; started by nibble itself
    #[command(name = "__worker", hide = true)]
    Worker {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(Debug, ClapArgs)]
pub struct Solve {
    /// Solutions: .cu files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The problem they solve [default: the file's directive, else its folder's name]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
    /// Seconds the check of one case may take
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<u64>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }
}

//! What can be typed. Text only: nothing here looks at the machine (see `config`).

mod compiler;

use std::{ffi::OsString, num::NonZero, path::PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Serialize;

pub use compiler::Compiler;

/// A workbench for FP4 kernel competitions, with or without a GPU
#[derive(Debug, Parser)]
#[command(
    name = "nibble",
    version,
    arg_required_else_help = true,
    max_term_width = 80,
    after_help = "Exit codes:\n  \
                  0    everything was accepted\n  \
                  1    a solution failed\n  \
                  2    wrong use\n  \
                  3    this machine lacks something; the message says what mends it\n  \
                  130  interrupted"
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
    /// Print JSON on stdout: one object for each file, board or attempt
    #[arg(long, global = true)]
    pub json: bool,
    /// Where kernels run: auto, emulator, cuda or cuda:N
    ///
    /// `auto` is a usable GPU if there is one, else the emulator.
    #[arg(long, global = true, default_value = "auto", hide_default_value = true)]
    pub device: String,
    /// Compile for this, as sm_90a
    ///
    /// Without it, what the file's directive says, else what the problem says, else the GPU's own.
    #[arg(long, global = true, value_name = "SM")]
    pub arch: Option<String>,
    /// Keep attempts in this folder
    ///
    /// Without it, NIBBLE_LEADERBOARD, else the nearest folder `leaderboard` upwards from here,
    /// else one in your data folder.
    #[arg(long, global = true, value_name = "DIR")]
    pub leaderboard: Option<PathBuf>,
    /// Take in the problems of this folder
    ///
    /// Without it, those of NIBBLE_PROBLEMS, else of the nearest folder `problems` upwards from
    /// here. nibble's own are always there.
    #[arg(long, global = true, value_name = "DIR")]
    pub problems: Option<PathBuf>,
    /// Compile with this nvcc
    ///
    /// Without it, NIBBLE_NVCC, CUDA_HOME or PATH, else nibble's own copy, installed when it is
    /// first needed.
    #[arg(long, global = true, value_name = "PATH")]
    pub nvcc: Option<PathBuf>,
    /// No progress on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Colours: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
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
    /// The problems, with your best time on each
    List,
    /// A problem's page: what to compute, the layout, the bounds
    Show { problem: String },
    /// Start a solution from the problem's starter; never overwrites
    New(New),
    /// Compile and prove; no timing, no record
    Check(Check),
    /// Check, then time; no record
    Bench(Bench),
    /// Where the time goes: bytes, instructions, occupancy, the lines that cost most
    Profile(Profile),
    /// Check, time, record and rank
    Submit(Submit),
    /// Every combination of some macros' values: which is fastest, and what each did
    Sweep(Sweep),
    /// The boards: who is fastest
    #[command(visible_alias = "board", args_conflicts_with_subcommands = true)]
    Leaderboard(Board),
    /// Attempts in the order of time, failed ones too
    History {
        /// A problem, or a solution's file [default: everything]
        of: Option<String>,
        /// Show at most this many, newest last
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: usize,
        /// With --json: every attempt whole, with its source, a line each
        #[arg(long, requires = "json")]
        source: bool,
    },
    /// Batches that are under way, or that were killed
    Queue,
    /// One attempt, whole
    Attempt {
        /// The attempt's id, or the beginning of it
        id: String,
        /// Print the attempt's source and nothing else
        #[arg(long)]
        source: bool,
    },
    /// What changed between two attempts: source, then facts
    Diff {
        /// An attempt's id or the beginning of it, or a file [default: the newest attempt]
        a: Option<String>,
        /// The other [default: A's parent; of a file, the board's first]
        b: Option<String>,
    },
    /// Which of two is faster: both built and timed now, in turn
    Compare(Compare),
    /// Check a file again at every save, and show what changed
    Watch(Watch),
    /// Write a solution as another platform wants it
    Export(Export),
    /// Take in a Tensara .cu or a GPU MODE submission.py
    Import(Import),
    /// The boards as pages with pictures, in a folder that needs no server
    Report {
        /// Write into this folder; replaces nothing but an older report
        #[arg(long = "output", short, value_name = "DIR", default_value = "nibble-report")]
        output: PathBuf,
    },
    /// Run a CUDA program that has a main of its own, on the emulator
    Run {
        /// The program's .cu file
        file: PathBuf,
        /// When it has ended, say on stderr where the time of its kernels goes
        #[arg(long)]
        profile: bool,
        /// Tell names in full, with all their template arguments
        #[arg(long)]
        verbose: bool,
        #[command(flatten)]
        scrutiny: Scrutiny,
        #[command(flatten)]
        compiler: Compiler,
        /// What the program is given
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// What a right solution writes for your own data, from .npy to .npy
    Reference(Reference),
    /// One page for a program that works on a problem by itself
    Guide,
    /// Make a problem of your own, without Rust, and look it over
    Problem {
        #[command(subcommand)]
        action: ProblemAction,
    },
    /// What works on this machine, and how to mend what does not
    Doctor,
    /// The compiler in use; `install` fetches nibble's own copy
    Toolchain {
        #[command(subcommand)]
        action: Option<ToolchainAction>,
    },
    /// Print a shell's completions: source <(nibble completions bash)
    Completions { shell: Shell },
    /// Write the manual as man pages: one for nibble, one for each verb
    Man {
        /// An existing folder, as ~/.local/share/man/man1
        folder: PathBuf,
    },
    /// Hold the emulator to this machine's GPU: the list of instructions, or .ptx and .cu files
    #[command(name = "__conform", hide = true)]
    Conform { files: Vec<PathBuf> },
    /// What each launch of a program with its own main counted, for the calibration of the time model
    #[command(name = "__count", hide = true)]
    Count {
        file: PathBuf,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Profile solutions on this machine's GPU with ncu
    #[command(name = "__ncu", hide = true)]
    Ncu { files: Vec<PathBuf> },
    /// One call, for ncu; started by nibble itself
    #[command(name = "__once", hide = true)]
    Once { order: PathBuf },
    /// The second half of `run`; started by nibble itself
    #[command(name = "__run", hide = true)]
    Enter {
        program: String,
        name: PathBuf,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// A part of a batch; started by its engine
    #[command(name = "__chunk", hide = true)]
    Chunk {
        run: String,
        #[arg(required = true)]
        places: Vec<usize>,
    },
    /// The emulated device; started by nibble itself
    #[command(name = "__device", hide = true)]
    Device,
    /// The untrusted half; started by nibble itself
    #[command(name = "__worker", hide = true)]
    Worker {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(Debug, ClapArgs)]
pub struct Board {
    /// Only this problem's boards
    pub problem: Option<String>,
    /// How they are written [default: table]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<BoardFormat>,
    /// First run the fastest N of an older revision of the problem again [default N: 3]
    ///
    /// On the emulator, unless --device says otherwise. Each becomes a new attempt of its author.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "3")]
    pub remeasure: Option<usize>,
    #[command(subcommand)]
    pub action: Option<LeaderboardAction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BoardFormat {
    Table,
    Markdown,
    Csv,
    Json,
}

#[derive(Clone, Debug, Subcommand)]
pub enum LeaderboardAction {
    /// Take in what other leaderboards have and this one has not
    ///
    /// Each of their attempts is read and held to its hashes first; one with a flaw is named and
    /// left where it is.
    Merge {
        /// Folders of leaderboards
        #[arg(required = true, value_name = "FOLDER")]
        folders: Vec<PathBuf>,
    },
    /// Run others' attempts again here, and record what that says of their times
    Confirm {
        /// Their ids, or the beginnings of them
        #[arg(required = true, value_name = "ATTEMPT")]
        ids: Vec<String>,
        /// Who confirms [default: git's user.name, else the login]
        #[arg(long, value_name = "NAME", env = "NIBBLE_AUTHOR", hide_env = true)]
        author: Option<String>,
    },
    /// Look over every attempt, and say what is damaged; changes nothing
    Verify,
    /// Remove what killed writers left, and a wrong index; never an attempt
    Repair,
}

#[derive(Debug, Subcommand)]
pub enum ProblemAction {
    /// Write a small problem that works, to change
    New {
        /// The problem's name, and its folder's
        name: String,
    },
    /// Prove that a problem's folder is a good problem
    ///
    /// Its inputs are drawn twice, its reference runs twice, its starter must be accepted, zeros
    /// and outputs in another order must be refused.
    Check {
        /// The problem's folder
        folder: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum ToolchainAction {
    /// Install nibble's own copy of the compiler now
    Install,
}

#[derive(Debug, ClapArgs)]
pub struct New {
    /// A problem, or an attempt's id: then that attempt's problem and source
    #[arg(value_name = "PROBLEM")]
    pub problem: String,
    /// The file's name, without .cu [default: the next free number]
    pub name: Option<String>,
    /// Begin with this instead of the problem's starter: an attempt's id, or a rung as 03
    #[arg(long, value_name = "ATTEMPT|RUNG")]
    pub from: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Reference {
    pub problem: String,
    /// An input's NumPy file; once for each input
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub inputs: Vec<String>,
    /// A scalar's value; once for each scalar
    #[arg(long = "scalar", value_name = "NAME=NUMBER")]
    pub scalars: Vec<String>,
    /// Write the outputs into this folder, over what was written there before
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub struct Solve {
    /// Solutions: .cu files; `check` and `bench` also take attempts, by the beginning of their ids
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The problem they solve [default: the file's directive, else its folder's name]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
    /// Seconds that one case of the check may take [default: 10 to 60, by the case's size]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: Option<u64>,
    #[command(flatten)]
    pub many: Many,
}

/// How many files are gone through.
#[derive(Clone, Copy, Debug, ClapArgs)]
#[command(next_help_heading = "Many files")]
pub struct Many {
    /// Work on N files at once; times are taken one at a time all the same [default: one a core]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Leave out what the leaderboard has: same source, problem, device and architecture
    #[arg(long)]
    pub skip_known: bool,
}

/// Where a batch is worked on, if not in this process.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Many machines")]
pub struct Elsewhere {
    /// Have it done in chunks by slurm, or by local processes
    #[arg(long, value_name = "ENGINE", hide_possible_values = true)]
    pub on: Option<EngineName>,
    /// Runs in one chunk, which should take half a minute or more [default: 10, or a 64th of all]
    #[arg(long, value_name = "N", requires = "on")]
    pub chunk: Option<NonZero<usize>>,
    /// For sbatch, as --partition=h100
    #[arg(last = true, requires = "on", value_name = "SBATCH ARGUMENTS")]
    pub sbatch: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    Local,
    Slurm,
}

#[derive(Debug, ClapArgs)]
pub struct Check {
    #[command(flatten)]
    pub solve: Solve,
    /// Only this case, as 32x32/ties, 32x32 or ties; may be repeated
    #[arg(long = "case", value_name = "CASE")]
    pub cases: Vec<String>,
    /// Only the smallest case of each input family
    #[arg(long)]
    pub quick: bool,
    /// Draw the inputs from this number, as a failed case names it, instead of anew
    #[arg(long, value_name = "N")]
    pub data_seed: Option<u64>,
    #[command(flatten)]
    pub scrutiny: Scrutiny,
}

/// How closely the emulator looks.
#[derive(Clone, Copy, Debug, ClapArgs)]
#[command(next_help_heading = "On the emulator")]
pub struct Scrutiny {
    /// Look for races too, and for values that nobody wrote
    #[arg(long)]
    pub sanitize: bool,
    /// The order in which lanes, warps and blocks run [default: fixed]
    #[arg(long, value_name = "ORDER", hide_possible_values = true)]
    pub schedule: Option<Schedule>,
    /// The random order with this number, which gives the same order again
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    Fixed,
    Random,
}

#[derive(Debug, ClapArgs)]
pub struct Bench {
    #[command(flatten)]
    pub solve: Solve,
    /// Time this size instead of the problem's, as m=8192,k=8192; may be repeated
    #[arg(long = "size", value_name = "SIZE")]
    pub sizes: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Profile {
    /// A solution: a .cu file, or an attempt's id or the beginning of it
    #[arg(value_name = "FILE")]
    pub solution: String,
    /// The problem it solves [default: the file's directive, else its folder's name]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
    /// One of the bench's sizes, as 4096x8192, or any, as m=64,k=256 [default: the largest]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Show at most this many lines of source
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub lines: usize,
}

#[derive(Debug, ClapArgs)]
pub struct Submit {
    #[command(flatten)]
    pub solve: Solve,
    /// What you changed, for the history
    #[arg(long, short, default_value = "", hide_default_value = true)]
    pub message: String,
    /// Who submits [default: git's user.name, else the login]
    #[arg(long, value_name = "NAME", env = "NIBBLE_AUTHOR", hide_env = true)]
    pub author: Option<String>,
    #[command(flatten)]
    pub elsewhere: Elsewhere,
}

#[derive(Debug, ClapArgs)]
pub struct Sweep {
    /// A solution: a .cu file
    pub file: PathBuf,
    /// A macro and its values, as TILE=64,128 or STAGES=2..5; may be repeated
    ///
    /// In the file, give it a value of its own with #ifndef TILE, #define TILE 64, #endif.
    #[arg(short = 'D', required = true, value_name = "NAME=VALUES")]
    pub define: Vec<String>,
    /// Where there is a GPU, measure that many: those that the model calls fastest
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub measure: usize,
    /// What is recorded: all, best or none
    #[arg(long, value_name = "WHICH", default_value = "all", hide_possible_values = true)]
    pub submit: Recorded,
    /// The problem it solves [default: the file's directive, else its folder's name]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
    /// Seconds that one case of the check may take [default: 10 to 60, by the case's size]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: Option<u64>,
    /// Work on N variants at once [default: one a core]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Who submits [default: git's user.name, else the login]
    #[arg(long, value_name = "NAME", env = "NIBBLE_AUTHOR", hide_env = true)]
    pub author: Option<String>,
    #[command(flatten)]
    pub elsewhere: Elsewhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Recorded {
    All,
    Best,
    None,
}

#[derive(Debug, ClapArgs)]
pub struct Compare {
    /// A solution's file, or an attempt's id or the beginning of it
    pub a: String,
    /// What is judged against it: the same
    pub b: String,
    /// The problem that files solve [default: the file's directive, else its folder's name]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
    /// Blocks of samples that each of them takes, where times are measured
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u16).range(6..=1000))]
    pub pairs: u16,
    /// Who begins is drawn with this seed [default: another each time]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Exit with 1 if B is called that in geomean
    #[arg(long, value_name = "VERDICT")]
    pub fail_if: Option<FailIf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailIf {
    /// B is slower than A
    Slower,
    /// B is slower, the same, or it is unclear
    NotFaster,
}

#[derive(Debug, ClapArgs)]
pub struct Watch {
    /// A solution: a .cu file
    pub file: PathBuf,
    /// The problem it solves [default: the file's directive, else its folder's name]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
    /// Seconds that one case of the check may take [default: 10 to 60, by the case's size]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: Option<u64>,
    /// Time it too, once it is right
    #[arg(long)]
    pub bench: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Export {
    /// An attempt's id or the beginning of it, or a solution's file
    #[arg(value_name = "ATTEMPT")]
    pub solution: String,
    /// Where it is to be handed in
    #[arg(long, value_name = "PLATFORM")]
    pub to: Platform,
    /// Write it there [default: to stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The problem that a file solves [default: its directive, else its folder's name]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// The text to paste into Tensara's editor
    Tensara,
    /// A submission.py for GPU MODE
    GpuMode,
}

#[derive(Debug, ClapArgs)]
pub struct Import {
    /// A .cu file, or a submission.py
    pub file: PathBuf,
    /// The solution's name here, without .cu [default: the file's, else the next free number]
    pub name: Option<String>,
    /// The problem it solves [default: what it says, else the one whose parameters it has]
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<String>,
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

//! Everything that a user, a solution or a machine can do wrong: one clear screen each, the exit
//! code that fits, and the next file still runs.

mod files;
mod flags;
mod leaderboard;

//! The command line as a user meets it: every test starts `nibble` and looks at what it prints.
//!
//! One binary, so that it links once. A test belongs to the module of its verb; what users do wrong
//! belongs to `bad_input`. Programs longer than a few lines are files in `tests/programs`.

mod support;

mod attempt;
mod bad_input;
mod batch;
mod bench;
mod check;
mod compare;
mod completions;
mod diff;
mod doctor;
mod engine;
mod exploits;
mod export;
mod exports;
mod help;
mod history;
mod import;
mod json;
mod killed;
mod leaderboard;
mod list;
mod new;
mod problem;
mod profile;
mod reference;
mod report;
mod run;
mod show;
mod solutions;
mod submit;
mod suite;
mod sweep;
mod watch;

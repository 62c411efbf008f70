//! The leaderboard from outside. One executable, since linking costs more than running.

mod board;
mod compare;
mod history;
mod sample;
mod store;

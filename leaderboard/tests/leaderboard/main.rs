//! The leaderboard from outside. One executable, since linking costs more than running.

mod board;
mod sample;
mod store;

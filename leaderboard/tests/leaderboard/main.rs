//! The leaderboard from outside. One executable, since linking costs more than running.

mod board;
mod compare;
mod crash;
mod damage;
mod history;
mod member;
mod merge;
mod refused;
mod sample;
mod store;

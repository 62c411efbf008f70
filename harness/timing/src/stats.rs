//! The statistics of times, each with where it comes from. All are defined for any finite sample;
//! of nothing there is no statistic.

mod geomean;
mod interval;
mod quantile;
mod spread;

pub use geomean::geomean;
pub use interval::{MedianInterval, median_interval};
pub use quantile::{median, quantile};
pub use spread::mad;

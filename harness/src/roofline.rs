//! The speed of light: the least time a size can take on a GPU, whatever the kernel.

use crate::gpus::Gpu;

/// The floor of one size, seconds: the slower of moving `bytes` at the data sheet's full bandwidth
/// and doing `flops` on the fastest path there is. No launch, no latency: nothing is faster.
pub fn speed_of_light(gpu: &Gpu, bytes: f64, flops: f64) -> f64 {
    (bytes / gpu.dram).max(flops / gpu.flops)
}

/// How much of it a time reaches, per cent.
pub fn percent(speed_of_light: f64, time: f64) -> f64 {
    100.0 * speed_of_light / time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus::for_arch;

    /// The nvfp4_gemv of GPU MODE's competition: m 7168, k 16384, l 1. Its organizers give 8.622 us
    /// at 7.68 TB/s; they count the blocked scales of b padded to 128 rows.
    #[test]
    fn the_published_speed_of_light_comes_out() {
        let (m, k) = (7168.0, 16384.0);
        let bytes = m * k / 2.0 + k / 2.0 + m * k / 16.0 + 128.0 * k / 16.0 + m * 2.0;
        let gpu = Gpu { dram: 7.68e12, ..for_arch("sm_100a").unwrap().clone() };
        let micros = speed_of_light(&gpu, bytes, 2.0 * m * k) * 1e6;
        assert!((micros - 8.622).abs() < 0.005, "{micros}");
    }

    #[test]
    fn the_slower_of_the_two_counts() {
        let gpu = for_arch("sm_80").unwrap();
        assert_eq!(speed_of_light(gpu, 2.039e12, 0.0), 1.0);
        assert_eq!(speed_of_light(gpu, 2.039e12, 6.24e14), 2.0);
        assert_eq!(percent(1.0, 4.0), 25.0);
    }
}

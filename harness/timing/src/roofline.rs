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

    /// The speed of light that the organizers of GPU MODE's competition give for `nvfp4_gemv`.
    #[test]
    fn the_published_speed_of_light_comes_out() {
        let problem = problems::find("nvfp4_gemv").unwrap();
        let gpu = for_arch("sm_100a").unwrap();
        for (case, published) in problem.bench_cases().iter().zip([8.622, 17.275, 4.317]) {
            let bytes = problem.bytes(&case.sizes).unwrap();
            let flops = problem.flops(&case.sizes).unwrap();
            let micros = speed_of_light(gpu, bytes, flops) * 1e6;
            assert!((micros / published - 1.0).abs() < 0.01, "{}: {micros}", case.name());
        }
    }

    #[test]
    fn the_slower_of_the_two_counts() {
        let gpu = for_arch("sm_80").unwrap();
        assert_eq!(speed_of_light(gpu, 2.039e12, 0.0), 1.0);
        assert_eq!(speed_of_light(gpu, 2.039e12, 6.24e14), 2.0);
        assert_eq!(percent(1.0, 4.0), 25.0);
    }
}

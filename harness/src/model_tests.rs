//! Counters written by hand for three kernels of the mxfp4_quantize ladder, from the text of such
//! kernels, and the order that the field measured for them on a B200 (times of
//! "I Wrote an MXFP4 Quantization Kernel and Ranked #1 on Tensara", F. Mattana, 2026).

use emulator::Counters;

use super::*;
use crate::gpus::for_arch;
use crate::stats::geomean;

/// Elements of the four sizes that are timed.
const SIZES: [u64; 4] = [1024 * 1024, 2048 * 2048, 4096 * 8192, 8192 * 4096];

/// What one warp of a kernel does.
struct PerWarp {
    elements: u64,
    instructions: u64,
    load_requests: u64,
    load_sectors: u64,
    store_requests: u64,
    store_sectors: u64,
    shuffles: u64,
}

/// A thread for each block of 32, which reads it twice: each of 64 scalar loads touches 32 lines,
/// each of 16 byte stores 16 sectors.
const THREAD_PER_BLOCK: PerWarp = PerWarp {
    elements: 1024,
    instructions: 800,
    load_requests: 64,
    load_sectors: 64 * 32,
    store_requests: 16 + 1,
    store_sectors: 16 * 16 + 1,
    shuffles: 0,
};

/// A warp for each block: one coalesced load of 128 bytes, five shuffles, 16 bytes stored.
const WARP_PER_BLOCK: PerWarp = PerWarp {
    elements: 32,
    instructions: 55,
    load_requests: 1,
    load_sectors: 4,
    store_requests: 2,
    store_sectors: 2,
    shuffles: 6,
};

/// Four lanes for each block: two 128-bit loads and two shuffles a lane, 128 bytes stored a warp.
const FOUR_LANES: PerWarp = PerWarp {
    elements: 256,
    instructions: 180,
    load_requests: 2,
    load_sectors: 64,
    store_requests: 2,
    store_sectors: 5,
    shuffles: 2,
};

fn launch(kernel: &PerWarp, elements: u64) -> Launch {
    let warps = elements / kernel.elements;
    let ctas = warps.div_ceil(8);
    Launch {
        kernel: "quantize".to_owned(),
        grid: [ctas as u32, 1, 1],
        block: [256, 1, 1],
        dynamic_shared: 0,
        counters: Counters {
            ctas,
            warps,
            warp_instructions: warps * kernel.instructions,
            global_load_requests: warps * kernel.load_requests,
            global_load_sectors: warps * kernel.load_sectors,
            global_store_requests: warps * kernel.store_requests,
            global_store_sectors: warps * kernel.store_sectors,
            dram_read_sectors: elements / 8,
            dram_write_sectors: elements * 17 / 32 / 32,
            by_class: vec![("shuffle".to_owned(), warps * kernel.shuffles)],
            ..Counters::default()
        },
    }
}

fn facts(registers: u32) -> Vec<KernelFacts> {
    vec![KernelFacts {
        name: "quantize".to_owned(),
        mangled: "_Z8quantize".to_owned(),
        registers,
        spill_store_bytes: 0,
        spill_load_bytes: 0,
        shared_bytes: 0,
        stack_bytes: 0,
    }]
}

fn score(kernel: &PerWarp, registers: u32, arch: &str) -> f64 {
    let gpu = for_arch(arch).unwrap();
    let kernels = facts(registers);
    let time = |elements| call(gpu, &[launch(kernel, elements)], &kernels).seconds;
    geomean(&SIZES.map(time)).unwrap()
}

#[test]
fn the_ladder_ranks_as_the_field_measured() {
    for arch in ["sm_100a", "sm_90a", "sm_80", "sm_120a"] {
        let thread = score(&THREAD_PER_BLOCK, 40, arch);
        let warp = score(&WARP_PER_BLOCK, 20, arch);
        let lanes = score(&FOUR_LANES, 32, arch);
        assert!(thread > warp && warp > lanes, "{arch}: {thread:e} {warp:e} {lanes:e}");
    }
    let ratio = score(&WARP_PER_BLOCK, 20, "sm_100a") / score(&FOUR_LANES, 32, "sm_100a");
    assert!((1.4..4.0).contains(&ratio), "measured 2.7, modelled {ratio}");
}

#[test]
fn what_limits_each_rung() {
    let gpu = for_arch("sm_100a").unwrap();
    let limiter = |kernel, size| call(gpu, &[launch(kernel, size)], &facts(32)).limiter;
    assert_eq!(limiter(&THREAD_PER_BLOCK, SIZES[2]), "lsu");
    assert_eq!(limiter(&WARP_PER_BLOCK, SIZES[2]), "latency");
    assert_eq!(limiter(&FOUR_LANES, SIZES[2]), "dram");
    assert_eq!(limiter(&FOUR_LANES, 32 * 256), "launch");
}

/// 8192 x 4096 of the thread-per-block kernel on a B200, each term by hand.
#[test]
fn terms_by_hand() {
    let gpu = for_arch("sm_100a").unwrap();
    let terms = terms(gpu, &launch(&THREAD_PER_BLOCK, SIZES[3]), &facts(40));
    let near =
        |got: f64, wanted: f64| assert!((got / wanted - 1.0).abs() < 0.01, "{got:e} {wanted:e}");
    // 4194304 + 557056 sectors of 32 bytes over 0.9 x 7.672e12.
    near(terms.dram, 22.02e-6);
    // 4096 CTAs: 28 on the busiest of 148 SMs, 8 warps each, 2305 sectors a warp, two a cycle.
    near(terms.lsu, 28.0 * 8.0 * 2305.0 / 2.0 / 1.965e9);
    near(terms.issue, 28.0 * 8.0 * 800.0 / 4.0 / 1.965e9);
    // 48 warps resident by 40 registers; 8 waits of 400 ns and 1600 cycles each.
    near(terms.latency, 32768.0 / (148.0 * 48.0) * (8.0 * 400e-9 + 1600.0 / 1.965e9));
}

/// 0.5 special functions a cycle and SM: square roots cost more than their issue slots.
#[test]
fn narrow_units_count() {
    let gpu = for_arch("sm_100a").unwrap();
    let mut launch = launch(&FOUR_LANES, SIZES[2]);
    let before = terms(gpu, &launch, &facts(32)).issue;
    let special = launch.counters.warps * 100;
    launch.counters.by_class.push(("special".to_owned(), special));
    let after = terms(gpu, &launch, &facts(32)).issue;
    // 200 cycles a warp instead of 45.
    assert!((after / before - 200.0 / 45.0).abs() < 1e-9, "{}", after / before);
}

#[test]
fn a_spilling_kernel_is_slower_and_a_second_launch_costs() {
    let gpu = for_arch("sm_100a").unwrap();
    let clean = launch(&FOUR_LANES, SIZES[2]);
    let mut spilling = clean.clone();
    spilling.counters.local_sectors = spilling.counters.warps * 1024;
    let time = |launches: &[Launch]| call(gpu, launches, &facts(32)).seconds;
    assert!(time(&[spilling]) > 2.0 * time(std::slice::from_ref(&clean)));
    let twice = time(&[clean.clone(), clean.clone()]);
    assert!((twice - (2.0 * time(&[clean]) - FIRST_LAUNCH + FURTHER_LAUNCH)).abs() < 1e-12);
}

#[test]
fn nothing_launched_has_a_finite_time() {
    let gpu = for_arch("sm_100a").unwrap();
    let nothing = Modelled { seconds: FIRST_LAUNCH, limiter: "launch", occupancy: 1.0 };
    assert_eq!(call(gpu, &[], &[]), nothing);
    let mut odd = launch(&FOUR_LANES, 256);
    odd.counters = Counters::default();
    odd.block = [2048, 1, 1];
    assert!(call(gpu, &[odd], &facts(255)).seconds.is_finite());
}

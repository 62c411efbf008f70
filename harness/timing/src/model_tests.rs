//! The mxfp4_quantize ladder, as the emulator counts it when compiled for sm_90a, against what an
//! H200 took for it: cold L2, medians, event to event. And the order in which a B200 has similar
//! kernels ("I Wrote an MXFP4 Quantization Kernel and Ranked #1 on Tensara", F. Mattana, 2026).

use super::*;
use crate::gpus::for_arch;
use crate::stats::geomean;

const KILO: u64 = 1024;
/// Elements of the four sizes that are timed.
const SIZES: [u64; 4] = [KILO * KILO, 4 * KILO * KILO, 32 * KILO * KILO, 32 * KILO * KILO];

/// What one warp of a kernel does, and the kernel's registers.
struct PerWarp {
    registers: u32,
    elements: u64,
    instructions: u64,
    loads: (u64, u64, u64),
    stores: (u64, u64, u64),
    shuffles: u64,
}

/// A thread for each block of 32, which reads it twice: each of 64 scalar loads touches 32 lines,
/// each of 16 byte stores 16 sectors.
const THREAD_PER_BLOCK: PerWarp = PerWarp {
    registers: 28,
    elements: 1024,
    instructions: 1084,
    loads: (64, 64 * 32, 8192),
    stores: (17, 257, 544),
    shuffles: 0,
};

/// A warp for each block: one coalesced load of 128 bytes, six shuffles, 17 bytes stored.
const WARP_PER_BLOCK: PerWarp = PerWarp {
    registers: 14,
    elements: 32,
    instructions: 99,
    loads: (1, 4, 128),
    stores: (2, 2, 17),
    shuffles: 6,
};

/// Four lanes for each block: two 128-bit loads and two shuffles a lane.
const FOUR_LANES: PerWarp = PerWarp {
    registers: 28,
    elements: 256,
    instructions: 303,
    loads: (2, 64, 1024),
    stores: (2, 5, 136),
    shuffles: 2,
};

/// The same with twice the loads in flight and fewer instructions for each element.
const DEEP_LOADS: PerWarp = PerWarp {
    registers: 40,
    elements: 512,
    instructions: 487,
    loads: (4, 128, 2048),
    stores: (3, 9, 272),
    shuffles: 4,
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
            global_load_requests: warps * kernel.loads.0,
            global_load_sectors: warps * kernel.loads.1,
            global_load_bytes: warps * kernel.loads.2,
            global_store_requests: warps * kernel.stores.0,
            global_store_sectors: warps * kernel.stores.1,
            global_store_bytes: warps * kernel.stores.2,
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

/// Microseconds on the GPU that the architecture stands for.
fn micros(kernel: &PerWarp, elements: u64, arch: &str) -> f64 {
    let gpu = for_arch(arch).unwrap();
    call(gpu, &[launch(kernel, elements)], &facts(kernel.registers)).seconds * 1e6
}

#[test]
fn an_h200_took_about_as_long() {
    let measured = [
        (&THREAD_PER_BLOCK, [13.4, 39.7, 293.0]),
        (&WARP_PER_BLOCK, [8.1, 21.1, 139.0]),
        (&FOUR_LANES, [5.9, 10.0, 45.1]),
        (&DEEP_LOADS, [5.8, 9.7, 42.1]),
    ];
    let mut squares = 0.0;
    for (kernel, times) in measured {
        for (elements, time) in SIZES.into_iter().zip(times) {
            let modelled = micros(kernel, elements, "sm_90a");
            let error = (modelled / time).ln();
            let name = kernel.instructions;
            assert!(error.abs() < 0.06, "{name} at {elements}: {time} but modelled {modelled}");
            squares += error * error;
        }
    }
    assert!((squares / 12.0_f64).sqrt() < 0.035, "{}", (squares / 12.0_f64).sqrt());
}

#[test]
fn the_ladder_ranks_as_the_field_measured() {
    for arch in ["sm_100a", "sm_90a", "sm_80", "sm_120a"] {
        let score = |kernel| geomean(&SIZES.map(|size| micros(kernel, size, arch))).unwrap();
        let (thread, warp) = (score(&THREAD_PER_BLOCK), score(&WARP_PER_BLOCK));
        let lanes = score(&FOUR_LANES);
        assert!(thread > warp && warp > lanes, "{arch}: {thread} {warp} {lanes}");
        if arch == "sm_100a" {
            assert!(
                (1.8..3.6).contains(&(warp / lanes)),
                "measured 2.7, modelled {}",
                warp / lanes
            );
        }
    }
}

#[test]
fn what_limits_each_rung() {
    let gpu = for_arch("sm_90a").unwrap();
    let limiter = |kernel: &PerWarp, size| {
        call(gpu, &[launch(kernel, size)], &facts(kernel.registers)).limiter
    };
    assert_eq!(limiter(&THREAD_PER_BLOCK, SIZES[2]), "lsu");
    assert_eq!(limiter(&WARP_PER_BLOCK, SIZES[2]), "latency");
    assert_eq!(limiter(&DEEP_LOADS, SIZES[2]), "dram");
    assert_eq!(limiter(&DEEP_LOADS, 32 * 512), "launch");
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
    // 4096 CTAs: 28 on the busiest of 148 SMs, 8 warps each, 2305 sparse sectors a warp.
    near(terms.lsu, 28.0 * 8.0 * 2305.0 / 1.965e9);
    near(terms.issue, 28.0 * 8.0 * 1084.0 / 4.0 / 1.965e9);
    // 48 warps resident by 40 registers; a start, 8 waits of 550 ns, 2168 cycles each.
    let life = 300e-9 + 8.0 * 550e-9 + 2168.0 / 1.965e9;
    near(terms.latency, 32768.0 / (148.0 * 48.0) * life);
}

/// Of 32 sectors, one word each or all; of one that 32 lanes share.
#[test]
fn a_sector_costs_by_its_use() {
    assert_eq!(path(1, 32, 128), 32.0);
    assert_eq!(path(1, 32, 1024), 8.0);
    assert_eq!(path(1, 4, 128), 1.0);
    assert_eq!(path(1, 1, 128), 1.0);
    assert_eq!(path(0, 0, 0), 0.0);
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
    // 200 cycles a warp instead of 75.75.
    assert!((after / before - 200.0 / 75.75).abs() < 1e-9, "{}", after / before);
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
    let nothing = call(gpu, &[], &[]);
    assert_eq!((nothing.seconds, nothing.limiter), (FIRST_LAUNCH, "launch"));
    let mut odd = launch(&FOUR_LANES, 256);
    odd.counters = Counters::default();
    odd.block = [2048, 1, 1];
    assert!(call(gpu, &[odd], &facts(255)).seconds.is_finite());
}

//! The model's parts by themselves. `tests/calibration.rs` holds the whole to what an H200 took.

use super::*;
use crate::gpus::for_arch;

const KERNEL: &str = "kernel";

fn launch(ctas: u32, counters: Counters) -> Launch {
    let counters = Counters { ctas: ctas.into(), warps: 8 * u64::from(ctas), ..counters };
    Launch {
        kernel: KERNEL.to_owned(),
        grid: [ctas, 1, 1],
        block: [256, 1, 1],
        dynamic_shared: 0,
        counters,
    }
}

fn facts_with(registers: u32, spilled: u32) -> Vec<KernelFacts> {
    vec![KernelFacts {
        name: KERNEL.to_owned(),
        mangled: KERNEL.to_owned(),
        registers,
        spill_store_bytes: spilled,
        spill_load_bytes: spilled,
        shared_bytes: 0,
        stack_bytes: 0,
    }]
}

fn micros(launch: &Launch, kernels: &[KernelFacts], arch: &str) -> f64 {
    let gpu = for_arch(arch).unwrap();
    call(gpu, std::slice::from_ref(launch), kernels).seconds * 1e6
}

/// Sixteen bytes a lane, read once or written once.
fn streaming(ctas: u32) -> Counters {
    let requests = 8 * u64::from(ctas);
    Counters {
        global_load_requests: requests,
        global_load_lines: 4 * requests,
        global_load_sectors: 16 * requests,
        global_load_bytes: 512 * requests,
        dram_read_sectors: 16 * requests,
        load_rounds: requests,
        machine_slots: 8 * 20 * requests,
        ..Counters::default()
    }
}

#[test]
fn each_thing_can_be_the_limit() {
    let gpu = for_arch("sm_90a").unwrap();
    let limiter = |ctas, counters| call(gpu, &[launch(ctas, counters)], &facts_with(32, 0)).limiter;
    let many = 16_384;
    let with = |change: fn(&mut Counters)| {
        let mut counters = streaming(many);
        change(&mut counters);
        counters
    };
    assert_eq!(limiter(many, streaming(many)), Limiter::Dram);
    assert_eq!(limiter(1, streaming(1)), Limiter::Launch);
    assert_eq!(limiter(262_144, Counters::default()), Limiter::Dispatch);
    assert_eq!(limiter(many, with(|c| c.machine_slots *= 100)), Limiter::Issue);
    assert_eq!(limiter(many, with(|c| c.machine_special = 10 * c.machine_slots)), Limiter::Units);
    assert_eq!(limiter(many, with(|c| c.machine_tensor = 10 * c.machine_slots)), Limiter::Tensor);
    assert_eq!(limiter(many, with(|c| c.global_load_lines *= 30)), Limiter::Lsu);
    assert_eq!(limiter(many, with(|c| c.constant_words = 1 << 26)), Limiter::Constants);
    assert_eq!(limiter(many, with(|c| c.atomic_passes = 1 << 23)), Limiter::Atomics);
    assert_eq!(limiter(many, with(|c| c.load_rounds *= 100)), Limiter::Latency);
}

/// 131,072 CTAs of nothing, handed out every 0.58 ns.
#[test]
fn terms_by_hand() {
    let gpu = for_arch("sm_90a").unwrap();
    let near = |got: f64, wanted: f64| assert!((got / wanted - 1.0).abs() < 0.01, "{got:e}");
    let empty = terms(gpu, &launch(131_072, Counters::default()), &facts_with(32, 0));
    near(empty.dispatch, 131_072.0 * gpu.figures.dispatch_ns * 1e-9);
    let read = terms(gpu, &launch(16_384, streaming(16_384)), &facts_with(32, 0));
    near(read.dram, 512.0 * 8.0 * 16_384.0 / (4.8e12 * gpu.figures.read_reached));
}

/// Where one CTA fits an SM, one more than there are SMs is a second wave.
#[test]
fn a_wave_too_many_costs_a_wave() {
    let time = |ctas| {
        let counters =
            Counters { chain_cycles: 36_000 * 8 * u64::from(ctas), ..Counters::default() };
        let launch = Launch { dynamic_shared: 200 << 10, ..launch(ctas, counters) };
        micros(&launch, &facts_with(32, 0), "sm_90a")
    };
    assert!(time(133) / time(132) > 1.6, "{} {}", time(133), time(132));
    assert!(time(264) / time(133) < 1.2, "{} {}", time(264), time(133));
}

#[test]
fn spills_and_further_launches_cost() {
    let clean = launch(16_384, streaming(16_384));
    let time = |spilled| micros(&clean, &facts_with(32, spilled), "sm_90a");
    assert!(time(200) > 1.5 * time(0));
    let gpu = for_arch("sm_90a").unwrap();
    let (one, two) = (vec![clean.clone()], vec![clean.clone(), clean]);
    let seconds = |launches: &[Launch]| call(gpu, launches, &facts_with(32, 0)).seconds;
    let further = (gpu.figures.further_launch_ns - gpu.figures.launch_ns) * 1e-9;
    assert!((seconds(&two) - 2.0 * seconds(&one) - further).abs() < 1e-12);
}

#[test]
fn nothing_launched_has_a_finite_time() {
    for gpu in crate::gpus::all() {
        let nothing = call(gpu, &[], &[]);
        assert_eq!(nothing.limiter, Limiter::Launch);
        assert!((nothing.seconds - gpu.figures.launch_ns * 1e-9).abs() < 1e-15);
        let mut odd = launch(1, Counters::default());
        odd.block = [2048, 1, 1];
        assert!(call(gpu, &[odd], &facts_with(255, 0)).seconds.is_finite());
    }
}

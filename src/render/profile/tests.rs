//! Screens of profiles made by hand: a call for each thing that can bound one.

use emulator::{Class, Counters, KernelProfile, LineCounters, Moved, Place, SourcePoint, Traffic};
use judge::ncu;
use judge::profile::{Floor, Measured, Profile, Sources, reports};
use judge::report::{DeviceInfo, DeviceKind, Verdict};
use ptx::KernelFacts;
use timing::Launch;
use timing::{gpus, model};

use super::*;

const KERNEL: &str = "_Z4movePKfPf";
const SOURCE: &str = "//! problem\n__global__ void move(…)\n  out[i] = in[i];\n";

/// A kernel with all its counts at one line; `change` makes it bound by what is wanted.
fn profile(warps: u64, change: impl Fn(&mut Counters, &mut LineCounters)) -> Profile {
    let moved = Moved {
        requests: warps,
        sectors: 16 * warps,
        lines: 4 * warps,
        fresh: 16 * warps,
        bytes: 512 * warps,
        ..Moved::default()
    };
    let mut line = LineCounters {
        warp_instructions: 10 * warps,
        thread_instructions: 320 * warps,
        by_class: [(Class::Integer, 8 * warps), (Class::Load, warps), (Class::Store, warps)].into(),
        traffic: Traffic { load: moved, store: moved, ..Traffic::default() },
        ..LineCounters::default()
    };
    let mut counters = Counters {
        ctas: warps / 8,
        warps,
        warp_instructions: 10 * warps,
        thread_instructions: 320 * warps,
        global_load_requests: warps,
        global_load_sectors: 16 * warps,
        global_load_bytes: 512 * warps,
        global_load_lines: 4 * warps,
        global_load_passes: 4 * warps,
        global_load_fetched: 16 * warps,
        global_store_lines: 4 * warps,
        machine_slots: 8 * 10 * warps,
        load_rounds: warps,
        load_levels: warps,
        global_store_requests: warps,
        global_store_sectors: 16 * warps,
        global_store_bytes: 512 * warps,
        dram_read_sectors: 16 * warps,
        dram_write_sectors: 16 * warps,
        ..Counters::default()
    };
    change(&mut counters, &mut line);
    counters.by_class =
        line.by_class.iter().map(|(class, n)| (class.name().to_owned(), *n)).collect();
    let gpu = gpus::for_arch("sm_100a").expect("a B200");
    let launches = [Launch {
        kernel: KERNEL.into(),
        grid: [counters.ctas as u32, 1, 1],
        block: [256, 1, 1],
        dynamic_shared: 0,
        counters,
    }];
    let facts = [KernelFacts {
        name: "move(const float*, float*)".into(),
        mangled: KERNEL.into(),
        registers: 32,
        spill_store_bytes: 0,
        spill_load_bytes: 0,
        shared_bytes: 0,
        stack_bytes: 0,
    }];
    let file = "/home/me/move.cu".to_owned();
    let source = vec![SourcePoint { file: file.clone(), line: 3, column: 1, function: None }];
    let profiles = [KernelProfile {
        kernel: KERNEL.into(),
        launches: 1,
        places: vec![Place { source, counts: line }],
        load_rounds: warps,
    }];
    let mut sources = Sources::new(file.as_ref(), SOURCE.into());
    let modelled = model::call(gpu, &launches, &facts);
    Profile {
        problem: "mxfp4_quantize".into(),
        file: "move.cu".into(),
        source_hash: "5e3f".repeat(16),
        device: DeviceInfo {
            kind: DeviceKind::Emulator,
            name: "B200 (modelled)".into(),
            arch: "sm_100a".into(),
        },
        size: "4096x8192".into(),
        verdict: Verdict::Accepted,
        message: None,
        floor: Floor { bytes: 1024.0 * warps as f64, flops: 0.0, us: 1.0 },
        modelled_us: modelled.seconds * 1e6,
        limiter: Some(modelled.limiter),
        kernels: reports(gpu, &launches, &profiles, &facts, &mut sources),
        measured: None,
    }
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

const MANY: u64 = 1 << 20;

/// What bounds a call, in the words of its screen.
fn said(profile: &Profile) -> String {
    let text = plain(&screen(profile, 8));
    assert!(text.lines().all(|line| words::width(line) <= words::COLUMNS), "{text}");
    text.lines().skip(3).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_bound_has_its_reason() {
    let as_good_as_it_gets = profile(MANY, |_, _| {});
    let twice = profile(MANY, |counters, _| counters.dram_read_sectors *= 3);
    let wasteful = profile(MANY, |counters, _| {
        // A float from each of 32 sectors, again and again.
        counters.global_load_requests = 16 * MANY;
        counters.global_load_sectors = 32 * 16 * MANY;
        counters.global_load_bytes = 128 * 16 * MANY;
        counters.global_load_lines = 32 * 16 * MANY;
        counters.global_load_passes = 32 * 16 * MANY;
    });
    let conflicting = profile(MANY, |counters, line| {
        counters.shared_requests = 4 * MANY;
        counters.shared_wavefronts = 4 * 32 * MANY;
        counters.shared_joined_wavefronts = 4 * 32 * MANY;
        line.traffic.shared_wavefronts = 4 * 32 * MANY;
        line.traffic.shared_conflicts = 4 * 31 * MANY;
    });
    let busy = profile(MANY, |counters, _| {
        counters.warp_instructions *= 40;
        counters.machine_slots *= 40;
    });
    let special = profile(MANY, |counters, _| counters.machine_special = 8 * 50 * MANY);
    let multiplying = profile(MANY, |counters, _| counters.machine_tensor = 8 * 100 * MANY);
    let looked_up = profile(MANY, |counters, _| {
        counters.constant_requests = 4 * MANY;
        counters.constant_words = 4 * 20 * MANY;
    });
    let contended = profile(MANY, |counters, _| counters.atomic_passes = 8 * MANY);
    let chained = profile(512, |counters, _| counters.chain_cycles = 40_000 * 512);
    let few = profile(512, |counters, _| {
        counters.global_load_requests *= 400;
        counters.load_rounds *= 400;
        counters.load_levels *= 400;
    });
    let brief = profile(MANY, |counters, _| {
        counters.dram_read_sectors /= 32;
        counters.dram_write_sectors /= 32;
        counters.global_load_requests = 0;
        counters.global_load_lines = 0;
    });
    let tiny = profile(8, |_, _| {});
    let all = [
        as_good_as_it_gets,
        twice,
        wasteful,
        conflicting,
        busy,
        special,
        multiplying,
        looked_up,
        contended,
        chained,
        few,
        brief,
        tiny,
    ];
    let said: Vec<String> = all.iter().map(said).collect();
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn a_gpus_counts_stand_beside_the_emulators() {
    let recorded = include_str!("../../../harness/judge/src/ncu/recorded.csv");
    let mut kernels = ncu::parse(recorded).expect("a table");
    kernels[0].kernel = "move(const float *, float *)".into();
    let device =
        DeviceInfo { kind: DeviceKind::Cuda, name: "NVIDIA H200".into(), arch: "sm_90a".into() };
    let mut profile = profile(MANY, |_, _| {});
    profile.measured =
        Some(Measured { device: device.clone(), call_us: None, kernels, why_not: None });
    insta::assert_snapshot!("both", plain(&screen(&profile, 8)));
    let why_not = Some("there is no ncu; put it in PATH".to_owned());
    profile.measured = Some(Measured { device, call_us: Some(42.0), kernels: Vec::new(), why_not });
    let text = plain(&screen(&profile, 8));
    assert!(text.ends_with(
        "on NVIDIA H200, sm_90a\n  one cold call took 42.0 µs\n  not counted there: there is no \
         ncu; put it in PATH\n"
    ));
}

#[test]
fn what_did_not_run_says_why() {
    let mut profile = profile(MANY, |_, _| {});
    profile.kernels.clear();
    profile.limiter = None;
    profile.verdict = Verdict::CompileError;
    profile.message = Some("move.cu(3): error: no".into());
    insta::assert_snapshot!(plain(&screen(&profile, 8)), @r"
    move.cu
      mxfp4_quantize 4096x8192 on B200 (modelled), sm_100a

      move.cu(3): error: no

    ✗ compile error at this size
    next: nibble check move.cu
    ");
    let object: serde_json::Value = serde_json::from_str(&object(&profile)).expect("json");
    assert!(object["bound"].is_null() && object["because"].is_null());
}

//! Reports made by hand, for the snapshots of the screens.

use judge::report::{BenchReport, CaseReport, DeviceInfo, DeviceKind, Report, Verdict};
use ptx::KernelFacts;

pub const FAMILIES: [&str; 7] =
    ["uniform", "normal", "wide", "ties", "zeros", "outliers", "special"];

/// Everything passed; four sizes were timed.
pub fn accepted() -> Report {
    let cases = [(1, 32), (7, 96), (128, 256)]
        .into_iter()
        .flat_map(|(m, k)| FAMILIES.map(|family| case(m, k, family, Verdict::Accepted)))
        .collect();
    let bench = [
        (1024, 1024, 4.12, 0.664, "latency"),
        (2048, 2048, 6.9, 2.66, "lsu"),
        (4096, 8192, 33.4, 21.2, "dram"),
        (8192, 4096, 33.61, 21.2, "dram"),
    ];
    Report {
        problem: "mxfp4_quantize".into(),
        revision: 1,
        file: "solutions/mxfp4_quantize/03_vector_loads.cu".into(),
        source_hash: "5e3f".repeat(16),
        device: DeviceInfo {
            kind: DeviceKind::Emulator,
            name: "B200 (modelled)".into(),
            arch: "sm_100a".into(),
        },
        verdict: Verdict::Accepted,
        message: None,
        nvcc: Some("13.0.88".into()),
        nvcc_flags: vec!["-O3".into()],
        values: Default::default(),
        kernels: vec![KernelFacts {
            name: "quantize(const float*, uint8_t*, uint8_t*, size_t)".into(),
            mangled: "_Z8quantizePKfPhS1_m".into(),
            registers: 32,
            spill_store_bytes: 0,
            spill_load_bytes: 0,
            shared_bytes: 2048,
            stack_bytes: 0,
        }],
        cases,
        bench: bench.map(|(m, k, time, sol, limiter)| timed(m, k, time, sol, limiter)).into(),
        geomean_us: Some(13.34),
        modelled: true,
        log: String::new(),
        warnings: Vec::new(),
        waited_seconds: 0.0,
        card: None,
    }
}

/// Ties are rounded the wrong way, and it says what it did.
pub fn wrong() -> Report {
    let mut report = accepted();
    report.file = "solutions/mxfp4_quantize/rejected/ties_away.cu".into();
    report.verdict = Verdict::WrongAnswer;
    report.bench.clear();
    report.geomean_us = None;
    report.log = "launching 12 blocks\n".into();
    report.warnings =
        vec!["cudaFuncSetCacheConfig is not provided; the solution ignored its error".into()];
    for case in report.cases.iter_mut().filter(|case| case.family == "ties") {
        case.verdict = Verdict::WrongAnswer;
        case.mismatches = 512;
        case.max_error = Some(2.0);
        case.explanation = vec![
            "512 of 1,024 codes differ; the first is q[3], the low nibble of row 0, column 6: \
             expected 0x2 (1.0), got 0x3 (1.5) for the input 1.25 in a block of scale 2^0."
                .into(),
            "Every wrong code lies exactly between two values and was rounded away from zero: \
             FP4 rounds ties to the even code."
                .into(),
        ];
        case.reasons = vec!["ties_away_from_zero".into()];
    }
    report
}

/// What nvcc refused.
pub fn uncompiled() -> Report {
    Report {
        verdict: Verdict::CompileError,
        message: Some(
            "k.cu(12): error: identifier \"scal\" is undefined\n      q[i] = encode(x, scal);\n\
             \x20                      ^\n\n1 error detected in the compilation of \"k.cu\"."
                .into(),
        ),
        file: "k.cu".into(),
        kernels: Vec::new(),
        cases: Vec::new(),
        ..wrong_without_cases()
    }
}

/// Timed on a GPU: intervals instead of a model.
pub fn measured() -> Report {
    let mut report = accepted();
    report.device =
        DeviceInfo { kind: DeviceKind::Cuda, name: "NVIDIA B200".into(), arch: "sm_100a".into() };
    report.modelled = false;
    for bench in &mut report.bench {
        bench.modelled = false;
        bench.ci_us = (bench.median_us * 0.998, bench.median_us * 1.003);
        bench.limiter = None;
        bench.occupancy = None;
    }
    report
}

fn wrong_without_cases() -> Report {
    let mut report = wrong();
    report.log.clear();
    report.warnings.clear();
    report
}

fn case(m: u64, k: u64, family: &str, verdict: Verdict) -> CaseReport {
    CaseReport {
        name: format!("{m}x{k} {family}"),
        sizes: vec![("m".into(), m), ("k".into(), k)],
        family: family.into(),
        verdict,
        mismatches: 0,
        max_error: Some(0.0),
        near_ties: u64::from(family == "normal"),
        explanation: Vec::new(),
        reasons: Vec::new(),
        seconds: 0.1,
        data_seed: Some(7),
        fresh: false,
    }
}

fn timed(m: u64, k: u64, median_us: f64, sol_us: f64, limiter: &str) -> BenchReport {
    BenchReport {
        name: format!("{m}x{k}"),
        sizes: vec![("m".into(), m), ("k".into(), k)],
        median_us,
        ci_us: (median_us, median_us),
        modelled: true,
        sol_us,
        sol_percent: sol_us / median_us * 100.0,
        copy_us: None,
        limiter: Some(limiter.into()),
        occupancy: Some(0.75),
        samples_us: vec![median_us],
        hot_us: None,
        host_us: None,
        overhead_us: None,
        clock_mhz: None,
        discarded: 0,
        launches: Vec::new(),
    }
}

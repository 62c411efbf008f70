//! Made-up attempts.

use leaderboard::attempt::{
    Case, Counters, Device, DeviceKind, Environment, Kernel, Outcome, Samples, Size, Time,
    Toolchain, Verdict,
};
use leaderboard::{Store, Submission, Summary};

pub const SOURCE: &str = "extern \"C\" void solution() {}\n";

/// An accepted attempt on the emulator, with everything that a record can hold.
pub fn submission() -> Submission {
    Submission {
        created: "2026-08-12T14:30:15.123Z".parse().unwrap(),
        problem: "mxfp4_quantize".into(),
        revision: 2,
        author: "Ada".into(),
        message: Some("four lanes for a block, 128-bit \"loads\"".into()),
        file: "solutions/mxfp4_quantize/02_vector.cu".into(),
        parent: Some("20260812-142900-a00001".parse().unwrap()),
        confirms: None,
        batch: None,
        values: [("TILE".into(), "64".into())].into(),
        source: SOURCE.into(),
        outcome: Outcome {
            device: device(DeviceKind::Emulator, "B200", "sm_100a"),
            verdict: Verdict::Accepted,
            modelled: true,
            toolchain: Toolchain {
                nibble: "0.1.0".into(),
                nvcc: Some("13.0.88".into()),
                flags: vec!["--use_fast_math".into()],
            },
            kernels: vec![Kernel {
                name: "quantize<4>".into(),
                registers: 32,
                spill_bytes: 0,
                shared_bytes: 1024,
            }],
            geomean: Some(Time::exact(20.0)),
            sizes: vec![size("1024x1024", 10.0), size("4096x8192", 40.0)],
            cases: vec![
                Case {
                    name: "64x64 uniform".into(),
                    verdict: Verdict::Accepted,
                    mismatches: 0,
                    reasons: vec![],
                    explanation: None,
                },
                Case {
                    name: "64x64 ties".into(),
                    verdict: Verdict::Accepted,
                    mismatches: 0,
                    reasons: vec![],
                    explanation: None,
                },
            ],
            environment: Environment::default(),
            fault: None,
        },
        samples: vec![Samples { size: "1024x1024".into(), samples_us: vec![10.0, 10.0] }],
    }
}

pub fn device(kind: DeviceKind, name: &str, arch: &str) -> Device {
    Device { kind, name: name.into(), arch: arch.into() }
}

pub fn size(name: &str, us: f64) -> Size {
    Size {
        name: name.into(),
        median: Time::exact(us),
        sol_us: 0.5 * us,
        sol_percent: 50.0,
        counters: Some(Counters {
            dram_bytes: 5_242_880,
            sectors_per_request: Some(16.0),
            warp_instructions: 123_456,
            active_lanes: Some(31.5),
            occupancy: Some(0.75),
        }),
    }
}

/// A rejected attempt.
pub fn rejected() -> Submission {
    let mut submission = submission();
    submission.outcome.verdict = Verdict::WrongAnswer;
    submission.outcome.geomean = None;
    submission.outcome.sizes.clear();
    submission.samples.clear();
    submission.outcome.cases[1] = Case {
        name: "64x64 ties".into(),
        verdict: Verdict::WrongAnswer,
        mismatches: 17,
        reasons: vec!["ties_away_from_zero".into()],
        explanation: Some("2.5 became 3, and the even neighbour is 2".into()),
    };
    submission
}

/// A summary, as reading gives it, made from a submission that `change` has altered.
pub fn summary(change: impl FnOnce(&mut Submission)) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let mut submission = submission();
    change(&mut submission);
    Summary::from(&Store::at(folder.path()).record(submission).unwrap())
}

/// Seconds after the sample's moment.
pub fn later(seconds: i64) -> jiff::Timestamp {
    submission().created + jiff::SignedDuration::from_secs(seconds)
}

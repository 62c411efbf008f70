//! Attempts in time, and two side by side.

use leaderboard::attempt::{DeviceKind, Environment, Time, Verdict};
use leaderboard::facts::{Caveat, Fact, Subject, Value, caveats, changes, side_by_side};
use leaderboard::history::{histories, parent, same_source};
use leaderboard::{Attempt, Store, Submission, Summary};

use crate::sample::{device, later, submission, summary};

fn attempt(change: impl FnOnce(&mut Submission)) -> Attempt {
    let folder = tempfile::tempdir().unwrap();
    let mut submission = submission();
    change(&mut submission);
    Store::at(folder.path()).record(submission).unwrap()
}

fn timed(seconds: i64, us: Option<f64>) -> Summary {
    summary(|one| {
        one.created = later(seconds);
        one.parent = None;
        one.source = format!("{seconds}").into();
        one.outcome.geomean = us.map(Time::exact);
        if us.is_none() {
            one.outcome.verdict = Verdict::RuntimeError;
        }
    })
}

#[test]
fn the_best_so_far_never_rises() {
    let times = [None, Some(40.0), Some(80.0), None, Some(20.0), Some(20.0)];
    let attempts: Vec<Summary> =
        times.iter().enumerate().map(|(at, us)| timed(at as i64, *us)).collect();
    let histories = histories(&attempts);
    assert_eq!(histories.len(), 1);
    let best: Vec<_> =
        histories[0].entries.iter().map(|entry| (entry.best_us, entry.is_best)).collect();
    assert_eq!(
        best,
        [
            (None, false),
            (Some(40.0), true),
            (Some(40.0), false),
            (Some(40.0), false),
            (Some(20.0), true),
            (Some(20.0), false)
        ]
    );
    let line: Vec<_> = histories[0]
        .sparkline()
        .into_iter()
        .map(|height| height.map(|height| (height * 1e9).round() / 1e9))
        .collect();
    assert_eq!(line, [None, Some(0.5), Some(0.0), None, Some(1.0), Some(1.0)]);
}

#[test]
fn other_devices_have_their_own_history() {
    let mut attempts = [timed(0, Some(10.0)), timed(1, Some(99.0)), timed(2, Some(9.0))];
    attempts[1].device = device(DeviceKind::Cuda, "NVIDIA H200", "sm_90a");
    attempts[1].modelled = false;
    let histories = histories(&attempts);
    assert_eq!(histories.len(), 2);
    assert!(histories.iter().all(|history| history.entries.last().unwrap().is_best));
}

#[test]
fn an_attempt_follows_the_last_one_at_its_solution() {
    let attempts = [
        summary(|one| one.file = "a/k.cu".into()),
        summary(|one| one.file = "./k.cu".into()),
        summary(|one| one.file = "other.cu".into()),
        summary(|one| one.author = "Bob".into()),
    ];
    let of = |problem, author, file| parent(&attempts, problem, author, file).map(|one| &one.id);
    assert_eq!(of("mxfp4_quantize", "Ada", "b/k.cu"), Some(&attempts[1].id));
    assert_eq!(of("mxfp4_quantize", "Ada", "other.cu"), Some(&attempts[2].id));
    assert_eq!(of("mxfp4_quantize", "Bob", "k.cu"), None);
    assert_eq!(of("nvfp4_gemv", "Ada", "k.cu"), None);
}

#[test]
fn what_an_attempt_changed_is_told_from_its_parent() {
    let first = summary(|_| {});
    let second = summary(|one| {
        one.created = later(1);
        one.parent = Some(first.id.clone());
        one.outcome.kernels[0].registers = 40;
        one.outcome.toolchain.flags.clear();
        one.outcome.geomean = Some(Time::exact(15.0));
    });
    let found: Vec<_> = changes(&first, &second)
        .into_iter()
        .map(|one| (one.fact, one.relative(), one.improved()))
        .collect();
    assert_eq!(
        found,
        [
            (Fact::Time, Some(-0.25), Some(true)),
            (Fact::Registers, Some(0.25), None),
            (Fact::Flags, None, None)
        ]
    );
    let attempts = [first, second];
    let histories = histories(&attempts);
    assert_eq!(histories[0].entries[0].changes, []);
    assert_eq!(histories[0].entries[1].changes, changes(&attempts[0], &attempts[1]));
    assert_eq!(histories[0].entries[1].same_source, Some(&attempts[0].id));
    let hash = &attempts[1].source_hash;
    assert_eq!(same_source(&attempts, "mxfp4_quantize", hash), Some(&attempts[0]));
}

#[test]
fn two_attempts_side_by_side() {
    let a = attempt(|_| {});
    let b = attempt(|one| {
        one.outcome.kernels[0].name = "quantize<8>".into();
        one.outcome.sizes.remove(0);
        one.outcome.sizes[0].counters.as_mut().unwrap().dram_bytes /= 2;
    });
    let rows = side_by_side(&a, &b);
    let find = |subject: Subject, fact| {
        rows.iter().find(|row| row.subject == subject && row.fact == fact).unwrap()
    };
    let old = find(Subject::Kernel("quantize<4>".into()), Fact::Registers);
    assert_eq!((&old.a, &old.b), (&Some(Value::Number(32.0)), &None));
    let new = find(Subject::Kernel("quantize<8>".into()), Fact::Registers);
    assert_eq!((&new.a, &new.b), (&None, &Some(Value::Number(32.0))));
    let gone = find(Subject::Size("1024x1024".into()), Fact::Time);
    assert_eq!((&gone.a, &gone.b), (&Some(Value::Number(10.0)), &None));
    let less = find(Subject::Size("4096x8192".into()), Fact::DramBytes);
    assert_eq!((less.relative(), less.improved()), (Some(-0.5), Some(true)));
    let same = find(Subject::Size("4096x8192".into()), Fact::Time);
    assert!(!same.changed() && same.improved().is_none());
}

#[test]
fn what_stands_against_a_comparison_is_said() {
    let environment = |uuid: &str, clock| Environment {
        gpu_uuid: Some(uuid.into()),
        driver: Some("580.1".into()),
        sm_clock_mhz: Some(clock),
        memory_clock_mhz: None,
        ..Environment::default()
    };
    let gpu = device(DeviceKind::Cuda, "NVIDIA H200", "sm_90a");
    let emulated = attempt(|_| {});
    let measured = attempt(|one| {
        one.outcome.modelled = false;
        one.outcome.device = gpu.clone();
        one.outcome.environment = environment("GPU-1", 1500);
    });
    let elsewhere = attempt(|one| {
        one.revision = 3;
        one.outcome.modelled = false;
        one.outcome.device = gpu.clone();
        one.outcome.environment = environment("GPU-2", 1980);
    });
    assert_eq!(caveats(&emulated, &emulated), []);
    assert_eq!(caveats(&emulated, &measured), [Caveat::Modelled, Caveat::Device]);
    assert_eq!(caveats(&measured, &elsewhere), [Caveat::Revision, Caveat::Gpu, Caveat::Clocks]);
}

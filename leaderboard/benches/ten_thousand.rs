//! A leaderboard of 10,000 attempts: what `leaderboard`, `history` and `submit` wait for.
//!
//! `cold` is a first command after a clone: no index, every attempt parsed. `indexed` is every
//! command after it. `NIBBLE_BENCH_ATTEMPTS` changes the number.

use std::hint::black_box;
use std::{env, fs};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use leaderboard::attempt::Time;
use leaderboard::board::boards;
use leaderboard::history::histories;
use leaderboard::{Manifest, Store, Submission};

#[path = "../tests/leaderboard/sample.rs"]
#[expect(dead_code, reason = "shared with the tests, which use all of it")]
mod sample;

/// As large as real ones: thirty cases, six sizes.
fn submission(number: usize) -> Submission {
    let mut one = sample::submission();
    one.created = sample::later(number as i64);
    one.author = ["Ada", "Bob", "Cyd", "Dan"][number % 4].into();
    one.file = format!("solutions/mxfp4_quantize/{:02}_kernel.cu", number % 50);
    one.parent = None;
    one.source = format!("// {}\n{}", number, "x".repeat(3000)).into();
    one.outcome.geomean = Some(Time::exact(10.0 + (number as f64).sin()));
    let case = one.outcome.cases[0].clone();
    one.outcome.cases = vec![case; 30];
    let size = one.outcome.sizes[0].clone();
    one.outcome.sizes = vec![size; 6];
    one
}

fn ten_thousand(c: &mut Criterion) {
    let count: usize =
        env::var("NIBBLE_BENCH_ATTEMPTS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    for number in 0..count {
        store.record(submission(number)).unwrap();
    }
    let index = folder.path().join("attempts/.index");

    let mut group = c.benchmark_group(format!("{count} attempts"));
    group.sample_size(10);
    group.bench_function("read cold", |b| {
        b.iter_batched(
            || fs::remove_dir_all(&index),
            |_| store.read(None).unwrap().attempts.len(),
            BatchSize::PerIteration,
        );
    });
    store.read(None).unwrap();
    group.bench_function("read indexed", |b| b.iter(|| store.read(None).unwrap().attempts.len()));
    let attempts = store.read(None).unwrap().attempts;
    group.bench_function("boards", |b| {
        b.iter(|| boards(black_box(&attempts), &Manifest::default()).len())
    });
    group.bench_function("histories", |b| b.iter(|| histories(black_box(&attempts)).len()));
    group.bench_function("find", |b| b.iter(|| store.find(attempts[0].id.tail()).unwrap()));
    group.bench_function("record", |b| {
        b.iter_batched(|| submission(0), |one| store.record(one).unwrap(), BatchSize::PerIteration);
    });
    group.bench_function("merge into another", |b| {
        b.iter_batched(
            || tempfile::tempdir().unwrap(),
            |folder| {
                let taken = Store::at(folder.path()).merge(&store).unwrap().count();
                (folder, taken)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, ten_thousand);
criterion_main!(benches);

//! Warp instructions per second of the microbenchmark kernels as criterion sees them: its "elements" are
//! warp instructions. One host thread unless the name says otherwise; bounds are always checked.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use emulator::{Config, Level};

mod microbenchmark;

use microbenchmark::Microbenchmark;

fn microbenchmarks(criterion: &mut Criterion) {
    let variants = [
        ("", Config { threads: 1, counting: false, ..Config::default() }),
        ("counting", Config { threads: 1, ..Config::default() }),
        ("plain", Config { threads: 1, counting: false, level: Level::Plain, ..Config::default() }),
        ("sanitized", Config { threads: 1, counting: false, sanitize: true, ..Config::default() }),
        ("two threads", Config { threads: 2, counting: false, ..Config::default() }),
    ];
    for name in ["alu_mix", "k1_thread", "k2_warp", "k3_fma", "k4_sgemm"] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for (variant, config) in &variants {
            let microbenchmark = Microbenchmark::new(name, config.clone());
            group.throughput(Throughput::Elements(microbenchmark.run().warp_instructions));
            let label = if variant.is_empty() { "one thread" } else { variant };
            group.bench_function(label, |bencher| bencher.iter(|| microbenchmark.run()));
        }
        group.finish();
    }
}

criterion_group!(benches, microbenchmarks);
criterion_main!(benches);

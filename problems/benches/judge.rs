//! The judge's share of a check: drawing inputs, computing what is expected, comparing.

use criterion::{Criterion, criterion_group, criterion_main};
use problems::{CaseSpec, Direction, Family, Poison, Sizes, catalog};

fn judge(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("8192x4096");
    group.sample_size(10);
    for problem in catalog() {
        let sizes = Sizes::new([("m", 8192), ("k", 4096)]);
        let Ok(buffers) = problem.buffers(&sizes) else { continue };
        let case = CaseSpec { sizes, family: Family::Uniform };
        let inputs = buffers.iter().filter(|buffer| buffer.direction == Direction::In);
        let mut inputs: Vec<Vec<u64>> = inputs.map(|input| vec![0; input.bytes / 8]).collect();
        group.bench_function(problem.name(), |bencher| {
            bencher.iter(|| {
                let mut bytes: Vec<&mut [u8]> =
                    inputs.iter_mut().map(|input| bytemuck::cast_slice_mut(input)).collect();
                let scalars = problem.fill(&case, &[1; 32], &mut bytes);
                let bytes: Vec<&[u8]> = bytes.iter().map(|bytes| &**bytes).collect();
                let expected = problem.expected(&case, &bytes, &scalars);
                let outputs: Vec<&[u8]> = expected.outputs.iter().map(Vec::as_slice).collect();
                let poison = Poison::new(1);
                let comparison =
                    problem.compare(&case, &bytes, &scalars, &expected, &outputs, &poison);
                assert!(comparison.accepted());
            });
        });
    }
}

criterion_group!(benches, judge);
criterion_main!(benches);

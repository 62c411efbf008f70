//! The judge's share of a check: drawing inputs, computing what is expected, comparing.

use criterion::{Criterion, criterion_group, criterion_main};
use problems::{CaseSpec, Direction, Family, NoKernels, Poison, Sizes, catalog};

fn judge(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("judge");
    group.sample_size(10);
    let matrix = Sizes::new([("m", 8192), ("k", 4096)]);
    let names = ["batch", "heads", "seq_q", "seq_k", "head_dim"];
    let heads = Sizes::new(names.into_iter().zip([1, 32, 1024, 1024, 128]));
    for (problem, sizes) in catalog().iter().flat_map(|p| [(p, matrix.clone()), (p, heads.clone())])
    {
        if problem.reference_kernel().is_some() {
            continue;
        }
        let Ok(buffers) = problem.buffers(&sizes) else { continue };
        // Bits decide about most outputs; the others are compared as they come, never quite equal.
        let inexact = problem.manifest().tolerance.bound > 0.0;
        let case = CaseSpec { sizes, family: Family::Uniform };
        let inputs = buffers.iter().filter(|buffer| buffer.direction == Direction::In);
        let mut inputs: Vec<Vec<u64>> = inputs.map(|input| vec![0; input.bytes / 8]).collect();
        group.bench_function(format!("{} {}", problem.name(), case.sizes), |bencher| {
            bencher.iter(|| {
                let mut bytes: Vec<&mut [u8]> =
                    inputs.iter_mut().map(|input| bytemuck::cast_slice_mut(input)).collect();
                let scalars = problem.fill(&case, &[1; 32], &mut bytes);
                let bytes: Vec<&[u8]> = bytes.iter().map(|bytes| &**bytes).collect();
                let expected = problem.expected(&case, &bytes, &scalars, &NoKernels).expect("code");
                let mut outputs = expected.outputs.clone();
                if inexact {
                    outputs[0].iter_mut().step_by(4).for_each(|byte| *byte ^= 1);
                }
                let outputs: Vec<&[u8]> = outputs.iter().map(Vec::as_slice).collect();
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

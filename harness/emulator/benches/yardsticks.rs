//! Warp instructions per second of the four yardstick kernels: criterion's "elements" are warp
//! instructions. One host thread unless the name says otherwise; bounds are always checked.
//!
//! ```text
//! K1 MXFP4, a thread for each block, 1024 x 1024        K3 4096 dependent fma, 16384 threads
//! K2 MXFP4, a warp for each block, shuffles, likewise   K4 tiled matrix product 256^3, barriers
//! ```

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use emulator::{Config, Kernel, LaunchConfig, Level, Machine};

const PTX: &str = include_str!("../tests/fixtures/yardsticks/sm_120a.ptx");

struct Yardstick {
    machine: Machine,
    kernel: Arc<Kernel>,
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<u8>,
}

impl Yardstick {
    fn new(name: &str, config: Config) -> Self {
        let machine = Machine::new(config);
        let module = machine.load(PTX).expect("PTX of nvcc");
        let kernel = module.kernel(name).expect("kernel");
        let memory = |bytes: u64| machine.memory().allocate(bytes, "buffer").expect("room");
        let fill = |at: u64, count: usize| {
            for i in 0..count {
                // SAFETY: the allocation holds `count` floats.
                unsafe { (at as *mut f32).add(i).write((i * 7919 % 2048) as f32 / 1024.0 - 1.0) };
            }
            at
        };
        let blocks = 32768u64;
        let mut params = Vec::new();
        let (grid, block) = match name {
            "k1_thread" | "k2_warp" => {
                let x = fill(memory(blocks * 128), blocks as usize * 32);
                for pointer in [x, memory(blocks * 16), memory(blocks)] {
                    params.extend(pointer.to_le_bytes());
                }
                params.extend((blocks as u32).to_le_bytes());
                let threads = if name == "k1_thread" { blocks } else { blocks * 32 };
                ([threads as u32 / 256, 1, 1], [256, 1, 1])
            }
            "k3_fma" => {
                params.extend(memory(16384 * 4).to_le_bytes());
                params.extend(0.999_9f32.to_le_bytes());
                params.extend(0.01f32.to_le_bytes());
                ([64, 1, 1], [256, 1, 1])
            }
            _ => {
                for _ in 0..3 {
                    params.extend(fill(memory(256 * 256 * 4), 256 * 256).to_le_bytes());
                }
                params.extend(256u32.to_le_bytes());
                ([16, 16, 1], [16, 16, 1])
            }
        };
        Self { machine, kernel, grid, block, params }
    }

    /// Warp instructions of one launch.
    fn run(&self) -> u64 {
        let launch = LaunchConfig {
            kernel: self.kernel.clone(),
            grid: self.grid,
            block: self.block,
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        let counters = self.machine.launch(&launch, black_box(&self.params));
        counters.expect("no fault").warp_instructions
    }
}

fn yardsticks(criterion: &mut Criterion) {
    let variants = [
        ("", Config { threads: 1, counting: false, ..Config::default() }),
        ("counting", Config { threads: 1, ..Config::default() }),
        ("plain", Config { threads: 1, counting: false, level: Level::Plain, ..Config::default() }),
        ("two threads", Config { threads: 2, counting: false, ..Config::default() }),
    ];
    for name in ["k1_thread", "k2_warp", "k3_fma", "k4_sgemm"] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for (variant, config) in &variants {
            let yardstick = Yardstick::new(name, config.clone());
            group.throughput(Throughput::Elements(yardstick.run()));
            let label = if variant.is_empty() { "one thread" } else { variant };
            group.bench_function(label, |bencher| bencher.iter(|| yardstick.run()));
        }
        group.finish();
    }
}

criterion_group!(benches, yardsticks);
criterion_main!(benches);

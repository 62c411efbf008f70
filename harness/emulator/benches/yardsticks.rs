//! Warp instructions per second of the four yardstick kernels: criterion's "elements" are warp
//! instructions. One host thread unless the name says otherwise; bounds are always checked.
//!
//! ```text
//! K1 MXFP4, a thread for each block, 1024 x 1024        K3 4096 dependent fma, 16384 threads
//! K2 MXFP4, a warp for each block, shuffles, likewise   K4 tiled matrix product 256^3, barriers
//! ```
//!
//! And `alu_mix`: integer and float arithmetic in eight independent chains, no memory, as the inner
//! loop of a decoder has it.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use emulator::{Config, Kernel, LaunchConfig, Level, Machine};

const PTX: &str = include_str!("../tests/fixtures/yardsticks/sm_120a.ptx");

/// One round of the mix, for chain `i`: four integer, two float, a comparison and a selection.
fn alu_mix() -> String {
    let mut body = String::new();
    for i in 0..8 {
        let (a, f, p) = (format!("%a{i}"), format!("%f{i}"), format!("%p{i}"));
        body += &format!(
            "add.u32 {a}, {a}, %r1; and.b32 %t{i}, {a}, 255; shl.b32 %u{i}, %t{i}, 3; \
             xor.b32 {a}, {a}, %u{i}; fma.rn.f32 {f}, {f}, 0f3F7FF972, 0f3C23D70A; \
             max.f32 {f}, {f}, 0f3DCCCCCD; setp.gt.f32 {p}, {f}, 0f3F800000; \
             selp.b32 {a}, {a}, %t{i}, {p};\n"
        );
    }
    format!(
        ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry alu_mix(.param .u64 y)\n{{\n\
         .reg .pred %p<8>, %q;\n.reg .b32 %r<4>, %a<8>, %t<8>, %u<8>;\n.reg .f32 %f<8>;\n\
         mov.u32 %r1, %tid.x; mov.u32 %r0, 0;\nLOOP:\n{body}add.u32 %r0, %r0, 1;\n\
         setp.lt.u32 %q, %r0, 256;\n@%q bra LOOP;\nret;\n}}\n"
    )
}

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
        let text = if name == "alu_mix" { alu_mix() } else { PTX.to_owned() };
        let module = machine.load(&text).expect("PTX");
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
            "alu_mix" => {
                params.extend(memory(8).to_le_bytes());
                ([64, 1, 1], [256, 1, 1])
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
    for name in ["alu_mix", "k1_thread", "k2_warp", "k3_fma", "k4_sgemm"] {
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

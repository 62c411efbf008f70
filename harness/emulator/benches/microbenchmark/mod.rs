//! The kernels that are timed, ready to be launched: four of which the instruction counts are known, a
//! mix of arithmetic, and `mma` without end.
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

use emulator::{Config, Counters, Kernel, LaunchConfig, Machine};

pub const PTX: &str = include_str!("../../tests/fixtures/microbenchmarks/sm_120a.ptx");

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

/// `mma` on four accumulators in turn, [`MMA_STEPS`] of them in each warp: all of the same fragments, or each
/// of `fresh` ones.
fn mma(form: &str, scales: &str, fresh: bool) -> String {
    let mut body = String::new();
    for i in 0..4 {
        let d: Vec<String> = (0..4).map(|j| format!("%d{}", 4 * i + j)).collect();
        let d = d.join(", ");
        if fresh {
            body += "xor.b32 %a0, %a0, 0x01010101;\nxor.b32 %b0, %b0, 0x01010101;\n";
        }
        body += &format!(
            "mma.sync.aligned.{form} {{{d}}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{{d}}}{scales};\n"
        );
    }
    let setup: String = (0..4)
        .map(|i| format!("mad.lo.u32 %a{i}, %t, 40503, {};\n", 0x3c00_3800u32 + i))
        .chain((0..2).map(|i| format!("mad.lo.u32 %b{i}, %t, 20129, {};\n", 0x3a00_3400u32 + i)))
        // As halves they are below 2: infinities and NaN take another way, and are rare.
        .chain((0..4).map(|i| format!("and.b32 %a{i}, %a{i}, 0x3fff3fff;\n")))
        .chain((0..2).map(|i| format!("and.b32 %b{i}, %b{i}, 0x3fff3fff;\n")))
        .chain((0..16).map(|i| format!("mov.f32 %d{i}, 0f00000000;\n")))
        .collect();
    format!(
        ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry mma(.param .u64 y)\n{{\n\
         .reg .pred %q;\n.reg .b32 %n, %t, %s, %a<4>, %b<2>;\n.reg .f32 %d<16>;\n\
         mov.u32 %t, %tid.x; mov.u32 %n, 0; mov.u32 %s, 0x38383838;\n{setup}LOOP:\n{body}\
         add.u32 %n, %n, 4;\nsetp.lt.u32 %q, %n, {MMA_STEPS};\n@%q bra LOOP;\nret;\n}}\n"
    )
}

/// Of each warp of [`Microbenchmark::new`]`("mma_…")`, which are 64.
pub const MMA_STEPS: u64 = 1024;

/// `wgmma` of 64 rows, 256 columns and K = 16, four in a group that is waited for, as kernels with tiles of 64 along K have
/// them: A and B in shared memory, rows of 128 bytes, swizzled.
fn wgmma() -> String {
    let d: Vec<String> = (0..128).map(|i| format!("%d{i}")).collect();
    let d = d.join(", ");
    let begin: String = (0..128).map(|i| format!("mov.f32 %d{i}, 0f00000000;\n")).collect();
    let body: String = (0..4)
        .map(|step| {
            format!(
                "add.u64 %x, %a, {};\nadd.u64 %y, %b, {};\n\
                 wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{d}}}, %x, %y, 1, 1, 1, 0, 0;\n",
                2 * step,
                2 * step
            )
        })
        .collect();
    // 8 KiB of A, 32 KiB of B; a descriptor holds its start in units of 16 bytes.
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry wgmma(.param .u64 z)\n{{\n\
         .shared .align 1024 .b8 s[40960];\n.reg .pred %q;\n.reg .b32 %n, %t, %u;\n.reg .f32 %d<128>;\n\
         .reg .b64 %a, %b, %x, %y;\n\
         mov.u32 %t, %tid.x;\nshl.b32 %n, %t, 2;\nmov.u32 %u, s;\nshr.u32 %u, %u, 4;\ncvt.u64.u32 %a, %u;\n\
         FILL:\nmov.u32 %u, s;\nadd.u32 %u, %u, %n;\nmad.lo.u32 %t, %n, 40503, 0x3c003800;\n\
         and.b32 %t, %t, 0xbfff3fff;\nst.shared.b32 [%u], %t;\nadd.u32 %n, %n, 512;\n\
         setp.lt.u32 %q, %n, 40960;\n@%q bra FILL;\nfence.proxy.async;\nbar.sync 0;\n\
         or.b64 %a, %a, 0x4000004000000000;\nadd.u64 %b, %a, 512;\n{begin}mov.u32 %n, 0;\n\
         LOOP:\nwgmma.fence.sync.aligned;\n{body}wgmma.commit_group.sync.aligned;\n\
         wgmma.wait_group.sync.aligned 0;\nadd.u32 %n, %n, 4;\nsetp.lt.u32 %q, %n, {WGMMA_STEPS};\n\
         @%q bra LOOP;\nret;\n}}\n"
    )
}

/// Of each of the two warpgroups of `wgmma`.
pub const WGMMA_STEPS: u64 = 64;

/// A kernel with its buffers.
pub struct Microbenchmark {
    machine: Machine,
    kernel: Arc<Kernel>,
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<u8>,
}

impl Microbenchmark {
    pub fn new(name: &str, config: Config) -> Self {
        let machine = Machine::new(config);
        let text = match name {
            "alu_mix" => alu_mix(),
            "mma_f16" => mma("m16n8k16.row.col.f32.f16.f16.f32", "", false),
            "wgmma" => wgmma(),
            "mma_f16_fresh" => mma("m16n8k16.row.col.f32.f16.f16.f32", "", true),
            "mma_fp4" => mma(
                "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
                ", %s, {0, 0}, %s, {0, 0}",
                false,
            ),
            _ => PTX.to_owned(),
        };
        let module = machine.load(&text).expect("PTX");
        let entry = if name.starts_with("mma") { "mma" } else { name };
        let kernel = module.kernel(entry).expect("kernel");
        let memory = |bytes: u64| {
            let at = machine.memory().allocate(bytes, "buffer").expect("room");
            machine.memory().define(at, bytes);
            at
        };
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
            "alu_mix" | "mma_f16" | "mma_f16_fresh" | "mma_fp4" => {
                params.extend(memory(8).to_le_bytes());
                ([if name == "alu_mix" { 64 } else { 8 }, 1, 1], [256, 1, 1])
            }
            "wgmma" => {
                params.extend(memory(8).to_le_bytes());
                ([2, 1, 1], [128, 1, 1])
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

    /// Launches it and waits. [`Counters::warp_instructions`] is exact with counting off, too.
    pub fn run(&self) -> Counters {
        let launch = LaunchConfig {
            kernel: self.kernel.clone(),
            grid: self.grid,
            block: self.block,
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        self.machine.launch(&launch, black_box(&self.params)).expect("no fault")
    }
}

//! What is counted at each line: a kernel with known sectors and bank conflicts, and sums over lines
//! that must be the launch's.

use emulator::{
    Class, Config, Counters, KernelProfile, LaunchConfig, LineCounters, Machine, Place,
};

/// Line by line what a warp of 32 threads does, `t` its thread:
///
/// ```text
/// 10   a[32 t]                      one float from each of 32 sectors, 128 bytes apart
/// 11   header.h:5, in widen         a conversion, inlined from a header
/// 12   shared[32 t] = …             32 words of one bank
/// 13   if (t < 8)                   lanes disagree
/// 14     b[t] = …                   one sector
/// ```
const PTX: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.visible .entry known(.param .u64 a, .param .u64 b)
{
.shared .align 4 .b8 tile[4096];
.reg .pred %p;
.reg .b32 %r<8>;
.reg .f32 %f<4>;
.reg .b64 %rd<8>;
.loc 1 10 3
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 128;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
.loc 2 5 1, function_name $L__info0, inlined_at 1 11 7
    cvt.rzi.s32.f32 %r2, %f1;
.loc 1 12 3
    shl.b32 %r3, %r1, 7;
    mov.u32 %r4, tile;
    add.s32 %r5, %r4, %r3;
    st.shared.u32 [%r5], %r2;
.loc 1 13 3
    setp.ge.u32 %p, %r1, 8;
    @%p bra $DONE;
.loc 1 14 5
    ld.param.u64 %rd4, [b];
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    st.global.u32 [%rd6], %r2;
$DONE:
    ret;
}
.file 1 "/home/me/kernel.cu"
.file 2 "/usr/include/header.h"
.section .debug_str
{
$L__info0:
.b8 119,105,100,101,110,0
}
"#;

/// What reaches memory by other ways than loads and stores: a copy of 16 bytes a lane (21), rows for
/// tensor cores (23), and a bulk copy of 256 bytes by one lane (25).
const COPIES: &str = r#"
.version 8.0
.target sm_90
.address_size 64
.visible .entry copies(.param .u64 a)
{
.shared .align 16 .b8 tile[512];
.shared .align 8 .b8 barrier[8];
.reg .pred %p;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
.loc 1 20 1
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 16;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 4;
    add.s32 %r4, %r2, %r3;
.loc 1 21 1
    cp.async.cg.shared.global [%r4], [%rd3], 16;
.loc 1 22 1
    cp.async.wait_all;
    bar.sync 0;
.loc 1 23 1
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];
.loc 1 24 1
    mov.u32 %r9, barrier;
    setp.ne.u32 %p, %r1, 0;
    @%p bra $DONE;
    mbarrier.init.shared.b64 [%r9], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
.loc 1 25 1
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r9];
$DONE:
.loc 1 26 1
    ret;
}
.file 1 "/home/me/kernel.cu"
"#;

const YARDSTICKS: &str = include_str!("fixtures/microbenchmarks/sm_120a.ptx");

fn profile(
    ptx: &str,
    kernel: &str,
    (grid, block): ([u32; 3], [u32; 3]),
    threads: usize,
    buffers: &[u64],
    scalar: Option<u32>,
) -> (Counters, KernelProfile) {
    let machine = Machine::new(Config { threads, ..Config::default() });
    let mut params = Vec::new();
    for bytes in buffers {
        let at = machine.memory().allocate(*bytes, "buffer").expect("room");
        params.extend(at.to_le_bytes());
    }
    params.extend(scalar.into_iter().flat_map(u32::to_le_bytes));
    let kernel = machine.load(ptx).expect("PTX").kernel(kernel).expect("kernel");
    let launch =
        LaunchConfig { kernel, grid, block, dynamic_shared: 0, cluster: None, cooperative: false };
    machine.profile(&launch, &params).expect("no fault")
}

fn known(threads: usize) -> (Counters, KernelProfile) {
    profile(PTX, "known", ([6, 1, 1], [32, 1, 1]), threads, &[4096, 128], None)
}

/// The place whose outermost line is in the kernel's file.
fn line(profile: &KernelProfile, number: u32) -> &LineCounters {
    let at = |place: &&Place| {
        place.source.last().is_some_and(|at| at.line == number && at.file.ends_with("kernel.cu"))
    };
    &profile.places.iter().find(at).expect("the line was run").counts
}

#[test]
fn each_line_has_what_it_did() {
    let (_, profile) = known(1);
    let strided = line(&profile, 10).traffic.load;
    // Six CTAs of a warp: each reads 4 bytes of 32 sectors, the first one from DRAM.
    assert_eq!((strided.requests, strided.sectors), (6, 6 * 32));
    assert_eq!((strided.bytes, strided.fresh), (6 * 128, 32));
    let inlined = line(&profile, 11);
    assert_eq!(inlined.by_class, [(Class::Convert, 6)].into());
    let chain = profile.places.iter().map(|place| &place.source).find(|chain| chain.len() == 2);
    let chain = chain.expect("one place was inlined");
    let functions: Vec<_> = chain.iter().map(|at| at.function.as_deref()).collect();
    assert_eq!(functions, [Some("widen"), None]);
    assert_eq!((chain[0].line, chain[1].line), (5, 11));
    let conflicts = line(&profile, 12).traffic;
    assert_eq!((conflicts.shared_requests, conflicts.shared_wavefronts), (6, 6 * 32));
    assert_eq!(conflicts.shared_conflicts, 6 * 31);
    let branch = line(&profile, 13);
    assert_eq!((branch.branches, branch.divergent_branches), (6, 6));
    let store = line(&profile, 14);
    assert_eq!((store.traffic.store.requests, store.traffic.store.sectors), (6, 6));
    assert_eq!((store.traffic.store.bytes, store.traffic.store.fresh), (6 * 32, 1));
    // Eight lanes ran the stores, the address arithmetic and the return behind them.
    assert!(store.thread_instructions < 32 * store.warp_instructions);
    assert_eq!(profile.load_rounds, 6, "one wait for memory in each warp");
}

#[test]
fn copies_count_at_their_own_lines() {
    let (counters, lines) = profile(COPIES, "copies", ([1; 3], [32, 1, 1]), 1, &[512], None);
    agree(&counters, &lines);
    let copy = line(&lines, 21).traffic;
    assert_eq!((copy.load.requests, copy.load.sectors), (1, 16));
    assert_eq!((copy.load.bytes, copy.load.fresh), (512, 16));
    // Four passes are what 512 bytes need, by whichever way.
    assert_eq!((copy.shared_requests, copy.shared_wavefronts, copy.shared_conflicts), (1, 4, 0));
    let rows = line(&lines, 23).traffic;
    assert_eq!((rows.shared_requests, rows.shared_wavefronts, rows.shared_conflicts), (1, 4, 0));
    let bulk = line(&lines, 25).traffic;
    assert_eq!((bulk.load.requests, bulk.load.sectors), (1, 8));
    assert_eq!((bulk.load.bytes, bulk.load.fresh), (256, 0));
}

fn totals(profile: &KernelProfile) -> LineCounters {
    let mut total = LineCounters::default();
    profile.places.iter().for_each(|place| total.add(&place.counts));
    total
}

fn agree(counters: &Counters, profile: &KernelProfile) {
    let total = totals(profile);
    let classes: Vec<(String, u64)> =
        total.by_class.iter().map(|(class, n)| (class.name().to_owned(), *n)).collect();
    assert_eq!(classes, counters.by_class);
    let moved = total.traffic;
    let of_lines = [
        total.warp_instructions,
        total.thread_instructions,
        total.branches,
        total.divergent_branches,
        moved.load.requests,
        moved.load.sectors,
        moved.load.bytes,
        moved.load.fresh,
        moved.store.requests,
        moved.store.sectors,
        moved.store.bytes,
        moved.store.fresh,
        moved.shared_requests,
        moved.shared_wavefronts,
        moved.local_requests,
        moved.local_sectors,
        moved.atomics,
    ];
    let of_launch = [
        counters.warp_instructions,
        counters.thread_instructions,
        counters.branches,
        counters.divergent_branches,
        counters.global_load_requests,
        counters.global_load_sectors,
        counters.global_load_bytes,
        counters.dram_read_sectors,
        counters.global_store_requests,
        counters.global_store_sectors,
        counters.global_store_bytes,
        counters.dram_write_sectors,
        counters.shared_requests,
        counters.shared_wavefronts,
        counters.local_requests,
        counters.local_sectors,
        counters.atomics,
    ];
    assert_eq!(of_lines, of_launch);
}

#[test]
fn sums_over_lines_are_the_launchs() {
    for threads in [1, 2] {
        let (counters, lines) = known(threads);
        agree(&counters, &lines);
        let matrix = [64 * 64 * 4; 3];
        let (counters, lines) =
            profile(YARDSTICKS, "k4_sgemm", ([4, 4, 1], [16, 16, 1]), threads, &matrix, Some(64));
        agree(&counters, &lines);
        let quantizer = [1024 * 128, 1024 * 16, 1024];
        for (kernel, grid) in [("k1_thread", 4), ("k2_warp", 128)] {
            let shape = ([grid, 1, 1], [256, 1, 1]);
            let (counters, lines) =
                profile(YARDSTICKS, kernel, shape, threads, &quantizer, Some(1024));
            agree(&counters, &lines);
            // Every byte comes from DRAM once, however often it is asked for.
            assert_eq!(counters.dram_read_sectors, 1024 * 128 / 32);
            assert_eq!(counters.dram_write_sectors, 1024 * 17 / 32);
        }
    }
}

#[test]
fn two_launches_add_up() {
    let (_, once) = known(1);
    let mut twice = once.clone();
    twice.add(once.clone());
    assert_eq!(twice.places.len(), once.places.len());
    assert_eq!((twice.launches, twice.load_rounds), (2, 12));
    assert_eq!(totals(&twice).warp_instructions, 2 * totals(&once).warp_instructions);
}

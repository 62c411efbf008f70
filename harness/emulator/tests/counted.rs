//! What the time model is told of a kernel: how often its warps wait for memory, what L1 holds, what lanes
//! wait for at one address, and that waiting in a loop is no work.

use emulator::{Config, Counters, LaunchConfig, Machine};

/// Runs a kernel of one parameter, the address of 1 MiB that nobody has written, on so many host threads. In `%rd3` is the
/// address of the thread's word, in `%r2` the CTA.
fn counted(body: &str, grid: u32, block: u32, threads: usize) -> Counters {
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n\
         .shared .align 16 .b8 tile[4096];\n\
         ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
         mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}\n"
    );
    let machine = Machine::new(Config { threads, ..Config::default() });
    let at = machine.memory().allocate(1 << 20, "buffer").expect("room");
    let kernel = machine.load(&ptx).expect("PTX").kernel("k").expect("kernel");
    let launch = LaunchConfig {
        kernel,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    machine.launch(&launch, &at.to_le_bytes()).expect("no fault")
}

/// The second load of the first text needs nothing of the first one but its place behind a use.
#[test]
fn a_warp_waits_as_often_as_addresses_need_answers() {
    let waits = |body: &str| {
        let counted = counted(body, 1, 32, 1);
        (counted.load_rounds, counted.load_levels)
    };
    let apart = "ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r3, 1; ld.global.u32 %r5, [%rd3+4096];";
    assert_eq!(waits(apart), (2, 1));
    let chase = "ld.global.u32 %r3, [%rd3]; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; \
                 ld.global.u32 %r4, [%rd5]; add.u32 %r5, %r4, 1;";
    assert_eq!(waits(chase), (2, 2));
    let stored = "ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd3+8192], %r3; \
                  ld.global.u32 %r5, [%rd3+4096];";
    assert_eq!(waits(stored), (2, 2), "the store may change what is read after it");
    assert_eq!(waits(&stored.replace("ld.global", "ld.global.nc")), (2, 1));
    let four = "mov.u32 %r4, 0;\ntop: ld.global.u32 %r3, [%rd3]; add.u32 %r5, %r3, 1; \
                add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 4; @%p1 bra top;";
    assert_eq!(waits(four), (4, 4), "each time round");
}

#[test]
fn what_a_cta_reads_again_comes_from_l1() {
    let twice = "ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd3];";
    let counted = counted(twice, 3, 64, 2);
    assert_eq!(counted.global_load_sectors, 3 * 2 * 2 * 4);
    assert_eq!(counted.global_load_fetched, 3 * 2 * 4, "once for each CTA");
    assert_eq!(counted.dram_read_sectors, 2 * 4);
}

#[test]
fn lanes_wait_for_each_other_at_one_word() {
    let update = |address: &str| {
        let body =
            format!("mov.u32 %r3, tile; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; {address}");
        counted(&body, 1, 32, 1).shared_atomic_passes
    };
    assert_eq!(update("atom.shared.add.u32 %r6, [%r3], 1;"), 32);
    assert_eq!(update("atom.shared.add.u32 %r6, [%r5], 1;"), 1);
}

/// CTA 0 waits until CTA 1 has written, however often it has to look.
#[test]
fn waiting_counts_as_one_look() {
    let body = "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra write;\n\
                top: ld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra top;\n\
                bra done;\n\
                write: st.volatile.global.u32 [%rd1], 1;\n\
                done:";
    let one = counted(body, 2, 32, 1);
    assert_eq!(one.global_load_requests, 1);
    assert_eq!(one, counted(body, 2, 32, 2));
    // Five at the beginning, two that ask for the CTA, three of the loop and a jump, one store, two ends.
    assert_eq!(one.warp_instructions, 2 * 5 + 2 * 2 + 3 + 1 + 1 + 2);
}

/// A sum over what stands at one place is work, whatever it is good for.
#[test]
fn a_loop_that_counts_is_no_waiting() {
    let body = "mov.u32 %r4, 0;\ntop: atom.global.add.u32 %r3, [%rd1], 1; add.u32 %r4, %r4, 1; \
                setp.lt.u32 %p1, %r4, 4; @%p1 bra top;";
    assert_eq!(counted(body, 1, 32, 1).atomics, 4);
}

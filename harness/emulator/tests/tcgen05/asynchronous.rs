//! What was asked for is not done before somebody waits for it, and then in order.

use super::case::around;
use super::device::Kernel;

/// Ones in A and B (K-major, no swizzle, 128 rows and 8 columns), and D zero: all that the image says.
fn input() -> Vec<u32> {
    let mut input = vec![0x3c00_3c00; 16384];
    input.resize(16384 + 128 * 512, 0);
    input
}

const OPERANDS: &str = "mov.u64 %d1, 0x0000401000080000;\nmov.u64 %d2, 0x0000401000080800;\n\
    mov.u32 %r10, 0x08020010;\nsetp.eq.u32 %p1, 0, 0;\n";
const MMA: &str = "tcgen05.mma.cta_group::1.kind::f16 [%x], %d1, %d2, %r10, %p1;\n";

fn run(issue: &str) -> Result<Vec<f32>, String> {
    let body = around(&format!("{OPERANDS}{issue}"));
    let out = Kernel { threads: 128, body: &body }.run(&input(), 128 * 512);
    out.map(|words| words.into_iter().map(f32::from_bits).collect())
        .map_err(|fault| fault.headline())
}

#[test]
fn sums_are_there_when_the_commit_has_arrived() {
    let out = run(&MMA.repeat(3)).expect("runs");
    assert_eq!((out[0], out[128 * 7 + 127], out[128 * 8]), (48.0, 48.0, 0.0));
}

/// The sums are read before the wait, by the thread's own warp.
#[test]
fn sums_are_not_there_before() {
    let early = format!(
        "{MMA}mov.u32 %z, bar;\nadd.u32 %z, %z, 8;\nmbarrier.init.shared.b64 [%z], 1;\n\
         tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%z];\n\
         bra EARLY;\n"
    );
    // All warps read column 0 at a barrier that has nothing to do with the mma, and put it to column 9.
    let body = around(&format!("{OPERANDS}{early}")).replace(
        "ISSUED:\n",
        "EARLY:\nISSUED:\nbar.sync 1;\nshl.b32 %y, %w, 21;\nadd.u32 %y, %y, %x;\n\
         tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%y];\nbar.sync 1;\n\
         AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [bar+8], 0;\n@!%p3 bra AGAIN;\n\
         tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r21}, [%y];\n\
         add.u32 %y, %y, 20;\ntcgen05.st.sync.aligned.32x32b.x2.b32 [%y], {%r20, %r21};\n\
         bra DONE;\nWAIT:\n",
    );
    let body =
        body.replace("tcgen05.fence::after_thread_sync;\nmul.wide.u32", "DONE:\nmul.wide.u32");
    let body = body.replace("@!%p3 bra ISSUED;\n", "@!%p3 bra WAIT;\n");
    let out = Kernel { threads: 128, body: &body }.run(&input(), 128 * 512).expect("runs");
    let at = |column: usize, lane: usize| f32::from_bits(out[128 * column + lane]);
    for lane in [0, 31, 64, 127] {
        assert_eq!((at(20, lane), at(21, lane)), (0.0, 16.0), "before and after, lane {lane}");
    }
}

/// An operand that is overwritten before the commit has arrived is multiplied as it is then.
#[test]
fn operands_that_change_too_early_are_multiplied_as_they_are() {
    let late = "mov.u32 %r30, 0;\nst.shared.u32 [s], %r30;\n";
    let out = run(&format!("{MMA}{late}")).expect("runs");
    assert_eq!((out[0], out[1]), (14.0, 16.0));
}

#[test]
fn what_is_wrong_with_operands_is_said() {
    let cases = [
        (
            MMA.replace("%d1", "%d3"),
            "kernel has a matrix descriptor 0x0000000000000000 that is none: bits 46-48 are 0b000, not \
             0b001 (PTX ISA 9.7.16.4.1)",
        ),
        (
            format!("or.b64 %d1, %d1, 0x3ff0;\n{MMA}"),
            "kernel has a matrix descriptor 0x0000401000083ff0 that leads to byte 261888 of shared \
             memory, where the block has 65556 (PTX ISA 9.7.16.4.1)",
        ),
        (
            format!("or.b32 %r10, %r10, 0x00800000;\nor.b32 %r10, %r10, 0x01000000;\n{MMA}"),
            "kernel has an instruction descriptor that is wrong: 0x09820010 asks for M = 144 (bits \
             24-28); .kind::f16 with .cta_group::1 has 64, 128 (PTX ISA 9.7.16.4.2)",
        ),
        (
            format!("add.u32 %x, %x, 508;\n{MMA}"),
            "kernel writes sums to columns 508 to 515 of tensor memory, and its columns 0 to 511 are \
             allocated (PTX ISA 9.7.16.10)",
        ),
        (
            MMA.replace("cta_group::1", "cta_group::2"),
            "kernel uses .cta_group::2 in a cluster of 1, where block 0 has no peer (PTX ISA 9.7.16.5)",
        ),
    ];
    for (issue, expected) in cases {
        let issue = format!("mov.u64 %d3, 0;\n{issue}");
        assert_eq!(run(&issue).expect_err("a fault"), expected);
    }
}

/// `cp.warpx4` puts 32 rows of 16 bytes into the lanes of all warps, in turn with products of the thread.
#[test]
fn copies_take_their_turn() {
    let mut input = input();
    (0..128).for_each(|word| input[12288 + word] = word as u32);
    let issue = "mov.u64 %d4, 0x0000400800080c00;\nadd.u32 %r11, %x, 40;\n\
        tcgen05.cp.cta_group::1.32x128b.warpx4 [%r11], %d4;\n";
    let body = around(issue);
    let out = Kernel { threads: 128, body: &body }.run(&input, 128 * 512).expect("runs");
    for lane in 0..128 {
        for column in 0..4 {
            assert_eq!(out[128 * (40 + column) + lane], (4 * (lane % 32) + column) as u32);
        }
    }
    assert_eq!(out[128 * 44], 0);
}

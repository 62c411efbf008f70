//! Maps that a kernel changes before it copies by them (PTX ISA 9.7.9.28, 9.7.13.16), and what mbarriers count of types
//! with padding.

use emulator::{Config, LaunchConfig, Machine};
use emulator::{Interleave, Swizzle, TensorMap};

/// Columns and rows of 16 bits that one copy moves.
const BOX: (usize, usize) = (8, 4);
const BYTES: usize = 2 * BOX.0 * BOX.1;

/// Copies the map to shared memory, does `change` to it (`%s` is its address there, `%new` that of other elements),
/// publishes it in global memory, and moves its box at (0, 0) to `out`.
fn ptx(change: &str) -> String {
    format!(
        ".version 9.0\n.target sm_100a\n.address_size 64\n\
         .visible .entry kernel(.param .align 64 .b8 map[128], .param .u64 new, .param .u64 published, \
         .param .u64 out)\n{{\n\
         .shared .align 1024 .b8 box[{}];\n.shared .align 128 .b8 copy[128];\n\
         .shared .align 8 .b8 full[8];\n\
         .reg .b32 %t, %s, %zero, %value, %r<4>;\n.reg .b64 %at, %new, %map, %out, %d<4>;\n.reg .pred %p<4>;\n\
         mov.u32 %t, %tid.x;\nmov.u32 %zero, 0;\nsetp.ne.u32 %p0, %t, 0;\n\
         ld.param.u64 %new, [new];\nld.param.u64 %map, [published];\nld.param.u64 %out, [out];\n\
         mov.u32 %s, copy;\nmov.b64 %d0, map;\ncvta.param.u64 %d0, %d0;\nmul.wide.u32 %d1, %t, 4;\n\
         add.u64 %d0, %d0, %d1;\nld.u32 %r0, [%d0];\nshl.b32 %r1, %t, 2;\nadd.u32 %r2, %s, %r1;\n\
         st.shared.u32 [%r2], %r0;\nbar.warp.sync -1;\n@%p0 bra CHANGED;\n{change}\n\
         mbarrier.init.shared.b64 [full], 1;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {BYTES};\n\
         CHANGED:\nbar.warp.sync -1;\n\
         tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \
         [%map], [%s], 128;\n\
         fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n@%p0 bra COPIED;\n\
         mov.u32 %r3, box;\nmov.u32 %value, full;\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], \
         [%map, {{%zero, %zero}}], [%value];\n\
         COPIED:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra COPIED;\n\
         mov.u32 %r3, box;\nsetp.ge.u32 %p2, %r1, {BYTES};\n@%p2 ret;\nadd.u32 %r3, %r3, %r1;\n\
         ld.shared.u32 %r0, [%r3];\nadd.u64 %out, %out, %d1;\nst.global.u32 [%out], %r0;\nret;\n}}\n",
        2 * BYTES
    )
}

fn bytes(at: u64, count: usize) -> &'static mut [u8] {
    let from = std::ptr::with_exposed_provenance_mut::<u8>(at as usize);
    // SAFETY: an allocation of the machine, leaked for the test, which one thread uses.
    unsafe { std::slice::from_raw_parts_mut(from, count) }
}

/// What the copy gets by the map of zeros, once it was changed; `new` has bytes 0, 1, 2, …
fn run(change: &str, map: impl Fn(u64) -> TensorMap) -> Result<Vec<u8>, String> {
    let machine = Box::leak(Box::new(Machine::new(Config { threads: 1, ..Config::default() })));
    let allocate = |name: &str| machine.memory().allocate(1024, name).expect("room");
    let [old, new, published, out] = ["old", "new", "published", "out"].map(allocate);
    bytes(old, 1024).fill(0);
    bytes(new, 1024).iter_mut().zip(0..).for_each(|(byte, at)| *byte = (at % 251) as u8);
    let mut params = map(old).encode().to_vec();
    [new, published, out].iter().for_each(|at| params.extend(at.to_le_bytes()));
    let module = machine.load(&ptx(change)).expect("PTX");
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    machine.launch(&launch, &params).map_err(|fault| fault.headline())?;
    Ok(bytes(out, BYTES).to_vec())
}

fn map(address: u64) -> TensorMap {
    TensorMap {
        data_type: 6,
        rank: 2,
        address,
        extent: [BOX.0 as u64, BOX.1 as u64, 1, 1, 1],
        stride: [2 * BOX.0 as u64, 0, 0, 0],
        box_extent: [BOX.0 as u32, BOX.1 as u32, 1, 1, 1],
        element_stride: [1; 5],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        nan_fill: false,
        im2col: None,
    }
}

/// As a grouped product does it: another address, other extents and another stride; what lies outside of them is
/// zero. The address may be in a register of 64 bits.
#[test]
fn a_map_gets_another_tensor() {
    let change = "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s], %new;\n\
        cvt.u64.u32 %d2, %s;\nmov.u32 %value, 6;\n\
        tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d2], 0, %value;\nmov.u32 %value, 3;\n\
        tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d2], 1, %value;\nmov.u64 %d3, 64;\n\
        tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%d2], 0, %d3;";
    let copied = run(change, map).expect("a copy");
    for (at, byte) in copied.into_iter().enumerate() {
        let (row, column) = (at / 16, at % 16);
        let inside = row < 3 && column < 12;
        assert_eq!(byte, if inside { (64 * row + column) as u8 } else { 0 }, "byte {at}");
    }
    assert_eq!(run("", map).expect("a copy"), [0; BYTES], "the map as it was");
}

#[test]
fn what_no_map_has_is_a_fault() {
    let odd = "add.u64 %new, %new, 8;\n\
        tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s], %new;";
    let fault = run(odd, map).expect_err("no map");
    assert!(fault.contains("addresses are multiples of 16 (PTX ISA 9.7.9.28)"), "{fault}");
}

/// Sixteen elements of four bits take sixteen bytes of shared memory, and eight are counted.
#[test]
fn padding_is_not_counted() {
    let padded = |address| TensorMap {
        data_type: 14,
        extent: [128, 1, 1, 1, 1],
        stride: [64, 0, 0, 0],
        box_extent: [128, 1, 1, 1, 1],
        ..map(address)
    };
    let filled = "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s], %new;";
    let copied = run(filled, padded).expect("64 bytes at the mbarrier");
    for (at, byte) in copied.into_iter().enumerate() {
        let (group, byte_of) = (at / 16, at % 16);
        assert_eq!(byte, if byte_of < 8 { (8 * group + byte_of) as u8 } else { 0 }, "byte {at}");
    }
}

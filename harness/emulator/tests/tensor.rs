//! Boxes of tensors to shared memory and back (PTX ISA 5.5, 9.7.9.25.5): what lies outside is filled, rows are
//! swizzled as the manual's patterns say, and what is stored lands where it came from.

use emulator::{Config, LaunchConfig, Level, Machine};
use emulator::{Interleave, Swizzle, TensorMap};

const WIDTH: usize = 100;
const HEIGHT: usize = 40;
/// Box: 64 columns of 2 bytes, 8 rows.
const BOX: (usize, usize) = (64, 8);

fn ptx() -> String {
    ".version 9.0\n.target sm_90a\n.address_size 64\n\
     .visible .entry kernel(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 x, .param .u32 y, \
     .param .u32 back_x, .param .u32 back_y, .param .align 64 .b8 back[128])\n{\n\
     .shared .align 1024 .b8 s[1024];\n.shared .align 8 .b8 full[8];\n\
     .reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .pred %p<4>;\n\
     mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n\
     mov.u32 %r1, s;\nmov.u32 %r2, full;\nld.param.u32 %r3, [x];\nld.param.u32 %r4, [y];\n\
     mov.b64 %d0, map;\ncvta.param.u64 %d0, %d0;\n\
     mov.b64 %d1, back;\ncvta.param.u64 %d1, %d1;\nld.param.u64 %d2, [out];\n\
     @%p0 bra WAIT;\n\
     mbarrier.init.shared.b64 [full], 1;\n\
     mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;\n\
     cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0, {%r3, %r4}], [%r2];\n\
     WAIT:\nbar.warp.sync -1;\n\
     AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra AGAIN;\n\
     shl.b32 %r5, %r0, 2;\n\
     NEXT:\nadd.u32 %r6, %r5, %r1;\nld.shared.u32 %r7, [%r6];\ncvt.u64.u32 %d3, %r5;\nadd.u64 %d3, %d3, %d2;\n\
     st.global.u32 [%d3], %r7;\nadd.u32 %r5, %r5, 128;\nsetp.lt.u32 %p2, %r5, 1024;\n@%p2 bra NEXT;\n\
     bar.warp.sync -1;\n@%p0 ret;\nld.param.u32 %r3, [back_x];\nld.param.u32 %r4, [back_y];\n\
     cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%r3, %r4}], [%r1];\n\
     cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nret;\n}\n"
        .to_owned()
}

fn words(at: u64, count: usize) -> &'static mut [u16] {
    let from = std::ptr::with_exposed_provenance_mut::<u16>(at as usize);
    // SAFETY: an allocation of the machine, leaked for the test, which one thread uses.
    unsafe { std::slice::from_raw_parts_mut(from, count) }
}

/// Load the box at `from`, and store it at `to`: shared memory, and the tensor that was stored to.
fn run(
    swizzle: Swizzle,
    nan_fill: bool,
    from: (i32, i32),
    to: (i32, i32),
) -> Result<(Vec<u16>, Vec<u16>), String> {
    let machine = Box::leak(Box::new(Machine::new(Config {
        level: Level::detect(),
        threads: 1,
        ..Config::default()
    })));
    let allocate = |elements: usize, name: &str| {
        machine.memory().allocate(2 * elements as u64, name).expect("room")
    };
    // Rows are padded to a multiple of 16 bytes.
    let pitch = WIDTH.next_multiple_of(8);
    let (tensor, copy, out) = (
        allocate(pitch * HEIGHT, "tensor"),
        allocate(pitch * HEIGHT, "copy"),
        allocate(BOX.0 * BOX.1, "out"),
    );
    for (index, word) in words(tensor, pitch * HEIGHT).iter_mut().enumerate() {
        *word = value(index / pitch, index % pitch);
    }
    let map = |address| TensorMap {
        data_type: 6,
        rank: 2,
        address,
        extent: [WIDTH as u64, HEIGHT as u64, 1, 1, 1],
        stride: [2 * pitch as u64, 0, 0, 0],
        box_extent: [BOX.0 as u32, BOX.1 as u32, 1, 1, 1],
        element_stride: [1; 5],
        interleave: Interleave::None,
        swizzle,
        nan_fill,
        im2col: None,
    };
    let mut params = map(tensor).encode().to_vec();
    params.extend(out.to_le_bytes());
    for coordinate in [from.0, from.1, to.0, to.1] {
        params.extend(coordinate.to_le_bytes());
    }
    params.resize(192, 0);
    params.extend(map(copy).encode());
    let module = machine.load(&ptx()).expect("PTX");
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    machine.launch(&launch, &params).map_err(|fault| fault.headline())?;
    Ok((words(out, BOX.0 * BOX.1).to_vec(), words(copy, pitch * HEIGHT).to_vec()))
}

fn value(row: usize, column: usize) -> u16 {
    (1 + row * 256 + column) as u16
}

/// What the box holds at its row and column.
fn expected(x: i32, y: i32, row: usize, column: usize, fill: u16) -> u16 {
    let (x, y) = (x + column as i32, y + row as i32);
    let inside = (0..WIDTH as i32).contains(&x) && (0..HEIGHT as i32).contains(&y);
    if inside { value(y as usize, x as usize) } else { fill }
}

/// Storing goes on to the next multiple of 16 bytes, as on an H200: the last column is 99, the padding
/// begins at byte 200 and ends at 208.
#[test]
fn boxes_over_the_edges_are_filled_and_stored_back() {
    for ((x, y), (to_x, to_y)) in [
        ((0, 0), (0, 0)),
        ((16, 5), (16, 5)),
        ((-8, -2), (0, 1)),
        ((88, 36), (88, 36)),
        ((200, 0), (96, 39)),
    ] {
        for nan_fill in [false, true] {
            let fill = if nan_fill { 0x7ff7 } else { 0 };
            let result = run(Swizzle::None, nan_fill, (x, y), (to_x, to_y));
            let (shared, stored) = result.expect("a legal copy");
            for row in 0..BOX.1 {
                for column in 0..BOX.0 {
                    let wanted = expected(x, y, row, column, fill);
                    assert_eq!(shared[row * BOX.0 + column], wanted, "({x}, {y}): {row}, {column}");
                }
            }
            let pitch = WIDTH.next_multiple_of(8);
            for (index, &word) in stored.iter().enumerate() {
                let (row, column) = (index / pitch, index % pitch);
                let within = |at: usize, from: i32, extent: usize| {
                    (from..from + extent as i32).contains(&(at as i32))
                };
                let moved = within(column, to_x, BOX.0) && within(row, to_y, BOX.1);
                let from = |at: usize, to: i32| (at as i32 - to) as usize;
                let wanted =
                    if moved { shared[from(row, to_y) * BOX.0 + from(column, to_x)] } else { 0 };
                assert_eq!(word, wanted, "{row}, {column}");
            }
        }
    }
}

#[test]
fn what_a_card_calls_illegal_is_a_fault() {
    let fault = |from, to| run(Swizzle::None, false, from, to).expect_err("no copy");
    let odd = fault((17, 0), (0, 0));
    assert!(odd.contains("begins at byte 34 of a row (coordinate 17): a multiple of 16"), "{odd}");
    let odd = fault((0, 0), (4, 0));
    assert!(odd.contains("begins at byte 8 of a row"), "{odd}");
    let before = fault((-8, 0), (0, -1));
    assert!(before.contains("at coordinate -1 of dimension 1"), "{before}");
}

/// Rows of 128 bytes are eight chunks of 16. With 128-byte swizzling chunk `c` of row `r` stands at `c ^ r`;
/// with 64 bytes only the low two bits of the row count, with 32 the lowest (the figures of 5.5.7).
#[test]
fn chunks_are_exchanged_by_row() {
    for (swizzle, place) in [
        (Swizzle::Bytes128, (|c, r| c ^ r) as fn(usize, usize) -> usize),
        (Swizzle::Bytes64, |c, r| c ^ (r & 3)),
        (Swizzle::Bytes32, |c, r| c ^ (r & 1)),
    ] {
        let (shared, stored) = run(swizzle, false, (8, 3), (8, 3)).expect("a legal copy");
        for row in 0..BOX.1 {
            for column in 0..BOX.0 {
                let chunk = place(column / 8, row);
                let given = shared[row * BOX.0 + 8 * chunk + column % 8];
                assert_eq!(given, expected(8, 3, row, column, 0), "{swizzle:?}: {row}, {column}");
            }
        }
        let pitch = WIDTH.next_multiple_of(8);
        assert_eq!(stored[3 * pitch + 8], value(3, 8), "stored through the same pattern");
        assert_eq!(stored[10 * pitch + 71], value(10, 71));
    }
}

//! Tensor copies that are no boxes: the pixels of a convolution (PTX ISA 5.5.4) and four rows by number
//! (5.5.3.4); and swizzles that keep 32 or 64 bytes together (5.5.7).

use emulator::{Config, LaunchConfig, Machine};
use emulator::{Im2col, Interleave, Swizzle, TensorMap};

/// Bytes of shared memory that a copy fills.
const BYTES: usize = 1024;

/// Copies what `load` says to shared memory and from there to `out`; then stores it, one added to each
/// element of 2 bytes, as `store` says.
fn ptx(load: &str, store: &str) -> String {
    format!(
        ".version 9.0\n.target sm_100a\n.address_size 64\n\
         .visible .entry kernel(.param .align 64 .b8 map[128], .param .align 64 .b8 back[128], \
         .param .u64 out, .param .align 4 .b8 at[32])\n{{\n\
         .shared .align 1024 .b8 s[{BYTES}];\n.shared .align 8 .b8 full[8];\n\
         .reg .b16 %o<2>;\n.reg .b32 %r<8>;\n.reg .b32 %c<8>;\n.reg .b64 %d<8>;\n.reg .pred %p<4>;\n\
         mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\nmov.u32 %r1, s;\nmov.u32 %r2, full;\n\
         ld.param.u32 %c0, [at];\nld.param.u32 %c1, [at+4];\nld.param.u32 %c2, [at+8];\n\
         ld.param.u32 %c3, [at+12];\nld.param.u32 %c4, [at+16];\n\
         ld.param.u16 %o0, [at+20];\nld.param.u16 %o1, [at+24];\n\
         mov.b64 %d0, map;\ncvta.param.u64 %d0, %d0;\nmov.b64 %d1, back;\ncvta.param.u64 %d1, %d1;\n\
         ld.param.u64 %d2, [out];\n@%p0 bra WAIT;\n\
         mbarrier.init.shared.b64 [full], 1;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {BYTES};\n{load}\n\
         WAIT:\nbar.warp.sync -1;\n\
         AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra AGAIN;\n\
         shl.b32 %r5, %r0, 2;\n\
         NEXT:\nadd.u32 %r6, %r5, %r1;\nld.shared.u32 %r7, [%r6];\ncvt.u64.u32 %d3, %r5;\n\
         add.u64 %d3, %d3, %d2;\nst.global.u32 [%d3], %r7;\nadd.u32 %r7, %r7, 0x10001;\n\
         st.shared.u32 [%r6], %r7;\nadd.u32 %r5, %r5, 128;\nsetp.lt.u32 %p2, %r5, {BYTES};\n@%p2 bra NEXT;\n\
         fence.proxy.async.shared::cta;\nbar.warp.sync -1;\n@%p0 ret;\n{store}\n\
         cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nret;\n}}\n"
    )
}

fn words(at: u64, count: usize) -> &'static mut [u16] {
    let from = std::ptr::with_exposed_provenance_mut::<u16>(at as usize);
    // SAFETY: an allocation of the machine, leaked for the test, which one thread uses.
    unsafe { std::slice::from_raw_parts_mut(from, count) }
}

/// A tensor of `count` elements, 1 + its index each: what the copy got of it, and what became of another
/// one of zeros by the store.
fn run(
    program: &str,
    map: impl Fn(u64) -> TensorMap,
    count: usize,
    at: [i32; 7],
) -> (Vec<u16>, Vec<u16>) {
    let machine = Box::leak(Box::new(Machine::new(Config { threads: 1, ..Config::default() })));
    let allocate =
        |bytes: usize, name: &str| machine.memory().allocate(bytes as u64, name).expect("room");
    let (tensor, back) = (allocate(2 * count, "tensor"), allocate(2 * count, "back"));
    let out = allocate(BYTES, "out");
    words(tensor, count).iter_mut().enumerate().for_each(|(i, word)| *word = 1 + i as u16);
    let mut params = map(tensor).encode().to_vec();
    params.extend(map(back).encode());
    params.extend(out.to_le_bytes());
    at.iter().for_each(|value| params.extend(value.to_le_bytes()));
    params.resize(296, 0);
    let module = machine.load(program).expect("PTX");
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    machine.launch(&launch, &params).unwrap_or_else(|fault| panic!("{}", fault.headline()));
    (words(out, BYTES / 2).to_vec(), words(back, count).to_vec())
}

fn plain(address: u64, extent: [u64; 5], rank: u8) -> TensorMap {
    let mut stride = [2 * extent[0]; 4];
    for d in 1..4 {
        stride[d] = stride[d - 1] * extent[d];
    }
    TensorMap {
        data_type: 1,
        rank,
        address,
        extent,
        stride,
        box_extent: [1; 5],
        element_stride: [1; 5],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        nan_fill: false,
        im2col: None,
    }
}

/// A convolution of 3 × 2 taps over images of 5 × 4 pixels with 8 channels, one pixel of padding on every
/// side: output pixel `number` of tap `(s, r)` is the input pixel at its place plus the tap's, less the
/// padding. 64 pixels from output 7 on, for every tap; the third image's end is reached, and passed.
#[test]
fn the_pixels_of_a_convolution() {
    const C: usize = 8;
    let (w, h, n) = (5i32, 4i32, 3i32);
    let (taps_w, taps_h) = (3i32, 2i32);
    let (out_w, out_h) = (w + 2 - taps_w + 1, h + 2 - taps_h + 1);
    let program = ptx(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes \
         [%r1], [%d0, {%c0, %c1, %c2, %c3}], [%r2], {%o0, %o1};",
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group \
         [%d1, {%c0, %c1, %c2, %c3}], [%r1];",
    );
    let im2col = Im2col {
        lower: [-1, -1, 0],
        // Where the last tap's base may stand, from the image's last pixel.
        upper: [1 - (taps_w as i16 - 1), 1 - (taps_h as i16 - 1), 0],
        channels: C as u32,
        pixels: 64,
    };
    let map = |address| TensorMap {
        im2col: Some(im2col.clone()),
        ..plain(address, [C as u64, w as u64, h as u64, n as u64, 1], 4)
    };
    let count = C * (w * h * n) as usize;
    let inside = |x: i32, y: i32, z: i32| x >= 0 && x < w && y >= 0 && y < h && z < n;
    let index = |x: i32, y: i32, z: i32| ((z * h + y) * w + x) as usize * C;
    for (s, r) in (0..taps_w).flat_map(|s| (0..taps_h).map(move |r| (s, r))) {
        let first = 7;
        let base = |number: i32| {
            let rest = number % (out_w * out_h);
            (rest % out_w - 1, rest / out_w - 1, number / (out_w * out_h))
        };
        let (x, y, z) = base(first);
        let (got, back) = run(&program, map, count, [0, x, y, z, 0, s, r]);
        let mut stored = vec![0u16; count];
        for pixel in 0..64 {
            let (x, y, z) = base(first + pixel);
            for c in 0..C {
                let here = inside(x + s, y + r, z);
                let want = if here { 1 + (index(x + s, y + r, z) + c) as u16 } else { 0 };
                let given = got[pixel as usize * C + c];
                assert_eq!(given, want, "tap ({s}, {r}), pixel {pixel}, channel {c}");
                if inside(x, y, z) {
                    stored[index(x, y, z) + c] = want + 1;
                }
            }
        }
        assert_eq!(back, stored, "tap ({s}, {r}) stored without offsets");
    }
}

/// Rows 6, 1, 40 (which is not there) and 3 of a matrix of 160 columns, 128 of them from column 24 on.
#[test]
fn four_rows_by_number() {
    let (columns, rows) = (160, 12);
    let program = ptx(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes \
         [%r1], [%d0, {%c0, %c1, %c2, %c3, %c4}], [%r2];",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group \
         [%d1, {%c0, %c1, %c2, %c3, %c4}], [%r1];",
    );
    let map = |address| TensorMap {
        box_extent: [128, 1, 1, 1, 1],
        ..plain(address, [columns as u64, rows as u64, 1, 1, 1], 2)
    };
    let numbers = [6usize, 1, 40, 3];
    let (got, back) = run(&program, map, columns * rows, [24, 6, 1, 40, 3, 0, 0]);
    let mut stored = vec![0u16; columns * rows];
    for (place, row) in numbers.into_iter().enumerate() {
        for column in 0..128 {
            let index = row * columns + 24 + column;
            let want = if row < rows { 1 + index as u16 } else { 0 };
            assert_eq!(got[place * 128 + column], want, "row {row}, column {column}");
            if row < rows {
                stored[index] = want + 1;
            }
        }
    }
    assert_eq!(back, stored);
}

/// The manual's tables for the 128-byte swizzle: which 16 bytes of a row stand where, row by row.
#[test]
fn swizzles_that_keep_more_together() {
    const ATOM_32: [[usize; 8]; 4] = [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [2, 3, 0, 1, 6, 7, 4, 5],
        [4, 5, 6, 7, 0, 1, 2, 3],
        [6, 7, 4, 5, 2, 3, 0, 1],
    ];
    const ATOM_64: [[usize; 8]; 2] = [[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 0, 1, 2, 3]];
    let program = ptx(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes \
         [%r1], [%d0, {%c0, %c1}], [%r2];",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {%c0, %c1}], [%r1];",
    );
    for (swizzle, table) in
        [(Swizzle::Bytes128Atom32, &ATOM_32[..]), (Swizzle::Bytes128Atom64, &ATOM_64[..])]
    {
        let map = |address| TensorMap {
            box_extent: [64, 8, 1, 1, 1],
            swizzle,
            ..plain(address, [64, 8, 1, 1, 1], 2)
        };
        let (got, back) = run(&program, map, 512, [0; 7]);
        for (row, chunk) in (0..8).flat_map(|row| (0..8).map(move |chunk| (row, chunk))) {
            let source = table[row % table.len()][chunk];
            let want = 1 + (row * 64 + 8 * source) as u16;
            assert_eq!(got[row * 64 + 8 * chunk], want, "{swizzle:?}: row {row}, chunk {chunk}");
        }
        assert!(back.iter().enumerate().all(|(i, &word)| word == 2 + i as u16), "and back");
    }
}

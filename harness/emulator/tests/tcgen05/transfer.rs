//! `tcgen05.ld` and `.st`: which register of which lane is which cell.

use super::device::{Kernel, allocate, free, registers};

/// A layout of CUTLASS (`cute/atom/copy_traits_sm100.hpp`, `DstLayout` of the loads): where in the bits of
/// the moved rows, one row behind the other, a thread's values lie. Extents, and strides for one repeat
/// and for each further factor of it.
struct Layout {
    name: &'static str,
    rows: usize,
    /// Bits of a row.
    row: usize,
    threads: &'static [(usize, usize)],
    values: &'static [(usize, usize)],
    repeats: &'static [usize],
}

/// Strides that are multiples of a row grow with the repeats; these do not.
const fn fixed(stride: usize) -> usize {
    stride | FIXED
}
const FIXED: usize = 1 << 30;

const LAYOUTS: &[Layout] = &[
    Layout {
        name: "32x32b",
        rows: 32,
        row: 32,
        threads: &[(32, 32)],
        values: &[(32, fixed(1)), (128, fixed(32))],
        repeats: &[1, 2, 4, 8, 16, 32, 64, 128],
    },
    Layout {
        name: "16x64b",
        rows: 16,
        row: 64,
        threads: &[(2, 512), (2, fixed(32)), (8, 64)],
        values: &[(32, fixed(1)), (128, fixed(64))],
        repeats: &[1, 4, 64],
    },
    Layout {
        name: "16x128b",
        rows: 16,
        row: 128,
        threads: &[(4, fixed(32)), (8, 128)],
        values: &[(32, fixed(1)), (2, 1024), (64, fixed(128))],
        repeats: &[1, 2, 32],
    },
    Layout {
        name: "16x256b",
        rows: 16,
        row: 256,
        threads: &[(4, fixed(64)), (8, 256)],
        values: &[(64, fixed(1)), (2, 2048), (32, fixed(256))],
        repeats: &[1, 4, 16],
    },
    // Its second half begins where the first ends.
    Layout {
        name: "16x32bx2",
        rows: 16,
        row: 64,
        threads: &[(16, 64), (2, 32)],
        values: &[(32, fixed(1)), (128, fixed(32))],
        repeats: &[1, 2, 8, 64],
    },
];

impl Layout {
    fn at(&self, modes: &[(usize, usize)], mut index: usize, repeat: usize) -> usize {
        let mut bit = 0;
        for &(extent, stride) in modes {
            let stride = if stride & FIXED != 0 { stride ^ FIXED } else { stride * repeat };
            bit += index % extent * stride;
            index /= extent;
        }
        bit
    }

    /// Row and column of a register.
    fn cell(&self, lane: usize, register: usize, repeat: usize) -> (usize, usize) {
        let bit = self.at(self.threads, lane, repeat) + self.at(self.values, 32 * register, repeat);
        let row = self.row * repeat;
        (bit / row, bit % row / 32)
    }

    fn registers(&self, repeat: usize) -> usize {
        self.rows * self.row * repeat / 1024
    }

    fn second(&self, repeat: usize) -> String {
        if self.name == "16x32bx2" { format!(", {repeat}") } else { String::new() }
    }
}

/// Columns of the pattern, and the first of them.
const FIRST: usize = 3;

/// Every cell gets `lane << 16 | column` by stores of one column.
fn fill(columns: usize) -> String {
    let mut text = "shl.b32 %y, %w, 21;\nadd.u32 %x, %x, %y;\nshl.b32 %z, %t, 16;\n".to_owned();
    for column in 0..columns {
        text += &format!(
            "or.b32 %r0, %z, {column};\nadd.u32 %y, %x, {column};\n\
             tcgen05.st.sync.aligned.32x32b.x1.b32 [%y], {{%r0}};\n"
        );
    }
    text + "tcgen05.wait::st.sync.aligned;\n"
}

fn store_out(count: usize) -> String {
    let mut text = format!(
        "mul.lo.u32 %y, %t, {};\ncvt.u64.u32 %at, %y;\nadd.u64 %at, %at, %out;\n",
        4 * count
    );
    for register in 0..count {
        text += &format!("st.global.u32 [%at+{}], %r{register};\n", 4 * register);
    }
    text
}

fn load(layout: &Layout, repeat: usize, packed: bool, upper: bool) {
    let (name, count) = (layout.name, layout.registers(repeat));
    let columns = layout.row / 32 * repeat * if packed { 2 } else { 1 };
    let second = match (layout.name, packed) {
        ("16x32bx2", true) => format!(", {}", 2 * repeat),
        _ => layout.second(repeat),
    };
    let pack = if packed { ".pack::16b" } else { "" };
    let add = FIRST + if upper { 16 << 16 } else { 0 };
    let body = allocate(512)
        + &fill(FIRST + columns)
        + &format!(
            "add.u32 %z, %x, {add};\n\
             tcgen05.ld.sync.aligned.{name}.x{repeat}{pack}.b32 {{{}}}, [%z]{second};\n\
             tcgen05.wait::ld.sync.aligned;\n",
            registers(count)
        )
        + &store_out(count)
        + "ld.shared.u32 %x, [taddr];\n"
        + &free(512);
    let out = Kernel { threads: 128, body: &body }.run(&[], 128 * count);
    let out = out.unwrap_or_else(|fault| panic!("{name}.x{repeat}: {}", fault.headline()));
    for thread in 0..128 {
        for register in 0..count {
            let (row, column) = layout.cell(thread % 32, register, repeat);
            let lane = thread / 32 * 32 + row + if upper { 16 } else { 0 };
            let expected = if packed {
                // The lower halves of two columns: what is there is the column's number.
                let column = FIRST + 2 * column;
                (column | (column + 1) << 16) as u32
            } else {
                ((lane << 16) + FIRST + column) as u32
            };
            assert_eq!(
                out[thread * count + register],
                expected,
                "{name}.x{repeat}{pack}, thread {thread}, register {register}"
            );
        }
    }
}

#[test]
fn loads_find_the_cells_of_the_layouts() {
    for layout in LAYOUTS {
        for &repeat in layout.repeats {
            load(layout, repeat, false, false);
        }
        load(layout, layout.repeats[1], true, false);
        if layout.rows == 16 {
            load(layout, layout.repeats[0], false, true);
            load(layout, layout.repeats[1], true, true);
        }
    }
}

/// What is stored in a shape is loaded in rows.
#[test]
fn stores_reach_the_cells_of_the_layouts() {
    for layout in LAYOUTS {
        for &repeat in &layout.repeats[..2] {
            for packed in [false, true] {
                store(layout, repeat, packed);
            }
        }
    }
}

fn store(layout: &Layout, repeat: usize, packed: bool) {
    let (name, count) = (layout.name, layout.registers(repeat));
    let columns = layout.row / 32 * repeat * if packed { 2 } else { 1 };
    let unpack = if packed { ".unpack::16b" } else { "" };
    let second = match (layout.name, packed) {
        ("16x32bx2", true) => format!(", {}", 2 * repeat),
        _ => layout.second(repeat),
    };
    let mut body = allocate(512) + &fill(columns) + "shl.b32 %z, %t, 16;\n";
    for register in 0..count {
        body += &format!("or.b32 %r{register}, %z, {};\n", 0x8000 | register);
    }
    body += &format!(
        "tcgen05.st.sync.aligned.{name}.x{repeat}{unpack}.b32 [%x]{second}, {{{}}};\n\
         tcgen05.wait::st.sync.aligned;\n",
        registers(count)
    );
    let width = columns.next_power_of_two();
    body += &format!(
        "tcgen05.ld.sync.aligned.32x32b.x{width}.b32 {{{}}}, [%x];\n\
         tcgen05.wait::ld.sync.aligned;\n",
        registers(width)
    );
    body += &store_out(width);
    body += &("ld.shared.u32 %x, [taddr];\n".to_owned() + &free(512));
    let out = Kernel { threads: 128, body: &body }.run(&[], 128 * width);
    let out = out.unwrap_or_else(|fault| panic!("{name}.x{repeat}: {}", fault.headline()));
    for thread in 0..128 {
        for register in 0..count {
            let (row, column) = layout.cell(thread % 32, register, repeat);
            let lane = thread / 32 * 32 + row;
            let value = (thread << 16 | 0x8000 | register) as u32;
            let cell = |column: usize| out[lane * width + column];
            let found =
                if packed { cell(2 * column) | cell(2 * column + 1) << 16 } else { cell(column) };
            assert_eq!(found, value, "{name}.x{repeat}{unpack}: thread {thread}, {register}");
        }
    }
}

fn fault(threads: u32, body: &str) -> String {
    match (Kernel { threads, body }).run(&[], 1) {
        Ok(_) => panic!("no fault"),
        Err(fault) => fault.headline(),
    }
}

#[test]
fn what_the_manual_forbids_is_a_fault() {
    let load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%x];\n";
    let alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], ";
    let cases = [
        (
            format!("{}add.u32 %x, %x, 32;\n{load}", allocate(32)),
            "kernel reads columns 32 to 32 of tensor memory, and its columns 0 to 31 are allocated \
             (PTX ISA 9.7.16.8)",
        ),
        (
            format!("{}add.u32 %x, %x, 0x200000;\n{load}", allocate(32)),
            "kernel reads tensor memory from lane 32 on in warp 0, which reaches lanes 0 to 31 \
             together (PTX ISA 9.7.16.8)",
        ),
        (
            format!("{}add.u32 %x, %x, %t;\n{load}", allocate(32)),
            "kernel gives tensor memory addresses 0x0 and 0x1 in lanes of one warp, which must agree \
             (PTX ISA 9.7.16.5)",
        ),
        (
            format!("{alloc}48;\n"),
            "kernel allocates 48 columns of tensor memory; a power of two from 32 to 512 will do \
             (PTX ISA 9.7.16.7.1)",
        ),
        (
            format!("{alloc}512;\n{alloc}32;\n"),
            "kernel cannot go on: warp 0 asks for ever for 32 columns of tensor memory, of which the block \
             holds 512 of 512",
        ),
        (
            format!("{}{alloc}32;\n", allocate(32)),
            "kernel allocates tensor memory behind its own tcgen05.relinquish_alloc_permit (PTX ISA \
             9.7.16.7.1)",
        ),
        (
            format!("{}tcgen05.dealloc.cta_group::1.sync.aligned.b32 %x, 64;\n", allocate(32)),
            "kernel frees 64 columns of tensor memory at 0x00000000, and its columns 0 to 31 are \
             allocated (PTX ISA 9.7.16.7.1)",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(fault(32, &body), expected);
    }
}

/// Warp 1 asks for what warp 0 holds, and gets it when that is freed.
#[test]
fn an_allocation_waits_until_there_is_room() {
    let body = "setp.ne.u32 %p0, %w, 0;\n@%p0 bra SECOND;\n\
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], 512;\nbar.sync 0;\n\
        ld.shared.u32 %x, [taddr];\nmov.u32 %r0, 0;\n\
        LATER:\nadd.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 100000;\n@%p1 bra LATER;\n\
        mov.u32 %r1, 7;\nst.shared.u32 [s], %r1;\n\
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %x, 512;\nret;\n\
        SECOND:\nbar.sync 0;\n\
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], 256;\n\
        ld.shared.u32 %r2, [s];\nst.global.u32 [%out], %r2;\nld.shared.u32 %x, [taddr];\n\
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %x, 256;\n";
    let out = Kernel { threads: 64, body }.run(&[], 1).expect("runs");
    assert_eq!(out, [7]);
}

/// Reading what was never allocated is no access to the host's memory.
#[test]
fn tensor_memory_that_was_not_allocated_is_nobodys() {
    let body = "mov.u32 %x, 0;\ntcgen05.ld.sync.aligned.16x64b.x1.b32 {%r0}, [%x];\n";
    assert!(fault(32, body).contains("nothing is allocated"));
    let body = "mov.u32 %x, 0xffff;\ntcgen05.st.sync.aligned.32x32b.x128.b32 [%x], {".to_owned()
        + &registers(128)
        + "};\n";
    assert!(fault(32, &body).contains("nothing is allocated"));
    let body = allocate(512) + "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r0}, [%x], 65535;\n";
    assert!(fault(32, &body).contains("reads columns 65535 to 65535"));
}

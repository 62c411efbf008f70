//! `wmma`: matrices in memory, in both layouts, against the same evaluation as `mma`.

use emulator::{Config, LaunchConfig, Level, Machine};

use crate::float::{self, Format};
use crate::warp::{Random, Range};
use crate::{NEW, ROUNDS};

/// A matrix in memory: `at` gives the element's number.
#[derive(Clone, Copy)]
struct Memory {
    by_columns: bool,
    stride: usize,
}

impl Memory {
    fn at(&self, row: usize, column: usize) -> usize {
        let (major, minor) = if self.by_columns { (column, row) } else { (row, column) };
        major * self.stride + minor
    }

    fn word(&self) -> &'static str {
        if self.by_columns { "col" } else { "row" }
    }
}

struct Case {
    shape: (usize, usize, usize),
    a: (&'static str, Memory, usize),
    b: (&'static str, Memory, usize),
    sum: (&'static str, Memory, usize),
    /// Between the shape and the end of `wmma.mma`.
    types: &'static str,
}

/// Bytes of `a`, `b` and `c` through the instructions to those of `d`.
fn run(case: &Case, bytes: [&[u8]; 3]) -> Vec<u8> {
    let (m, n, k) = case.shape;
    let shape = format!("m{m}n{n}k{k}");
    let list = |name: char, count: usize| {
        let names: Vec<_> = (0..count).map(|i| format!("%{name}{i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let load = |which: char, (ty, memory, count): (&str, Memory, usize), register: char| {
        format!(
            "wmma.load.{which}.sync.aligned.{}.{shape}.global.{ty} {}, [%p{register}], {};\n",
            memory.word(),
            list(register, count),
            memory.stride
        )
    };
    let sum = case.sum;
    let ptx = format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{{\n\
         .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n.reg .b64 %pa, %pb, %pc, %pd;\n\
         ld.param.u64 %pa, [a];\nld.param.u64 %pb, [b];\nld.param.u64 %pc, [c];\nld.param.u64 %pd, [d];\n\
         {}{}{}\
         wmma.mma.sync.aligned.{}.{}.{shape}.{} {}, {}, {}, {};\n\
         wmma.store.d.sync.aligned.{}.{shape}.global.{} [%pd], {}, {};\nret;\n}}\n",
        load('a', case.a, 'a'),
        load('b', case.b, 'b'),
        load('c', case.sum, 'c'),
        case.a.1.word(),
        case.b.1.word(),
        case.types,
        list('d', sum.2),
        list('a', case.a.2),
        list('b', case.b.2),
        list('c', sum.2),
        sum.1.word(),
        sum.0,
        list('d', sum.2),
        sum.1.stride
    );
    let machine = Machine::new(Config { level: Level::detect(), threads: 1, ..Config::default() });
    let mut params = Vec::new();
    let mut last = 0;
    for bytes in bytes.iter().chain([&bytes[2]]) {
        last = machine.memory().allocate(bytes.len() as u64, "matrix").expect("room");
        let to = std::ptr::with_exposed_provenance_mut::<u8>(last as usize);
        // SAFETY: the allocation above, which nothing else uses now.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        params.extend(last.to_le_bytes());
    }
    let module = machine.load(&ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    machine.launch(&launch, &params).unwrap_or_else(|f| panic!("{}\n{ptx}", f.headline()));
    let from = std::ptr::with_exposed_provenance::<u8>(last as usize);
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(from, bytes[2].len()) }.to_vec()
}

const ROWS: fn(usize) -> Memory = |stride| Memory { by_columns: false, stride };
const COLUMNS: fn(usize) -> Memory = |stride| Memory { by_columns: true, stride };

fn element(bytes: &[u8], number: usize, bits: u32) -> u32 {
    let at = number * bits as usize / 8;
    match bits {
        8 => bytes[at].into(),
        16 => u16::from_le_bytes([bytes[at], bytes[at + 1]]).into(),
        _ => u32::from_le_bytes(bytes[at..][..4].try_into().expect("four")),
    }
}

fn fill(random: &mut Random, format: &Format, len: usize) -> Vec<u8> {
    (0..len.div_ceil(4)).flat_map(|_| random.word(format, Range::NearOne).to_le_bytes()).collect()
}

fn floats(case: &Case, format: Format, sum: Format, wide: bool) {
    let (m, n, k) = case.shape;
    for round in 0..ROUNDS / 4 {
        let mut random = Random(round);
        // Large enough for any of the layouts.
        let [a, b] = [0, 1].map(|_| fill(&mut random, &format, 40 * 40 * format.bits as usize / 8));
        let c = fill(&mut random, &sum, 40 * 40 * sum.bits as usize / 8);
        let d = run(case, [&a, &b, &c]);
        for row in 0..m {
            for column in 0..n {
                let read =
                    |bytes: &[u8], number: usize| format.read(element(bytes, number, format.bits));
                let left: Vec<_> = (0..k).map(|i| read(&a, case.a.1.at(row, i))).collect();
                let right: Vec<_> = (0..k).map(|i| read(&b, case.b.1.at(i, column))).collect();
                let at = case.sum.1.at(row, column);
                let expected = NEW.add(&left, &right, sum.read(element(&c, at, sum.bits)), wide);
                assert_eq!(element(&d, at, sum.bits), expected, "{}: {row}, {column}", case.types);
            }
        }
    }
}

#[test]
fn floats_in_every_shape_and_layout() {
    use float::{BF16, F16, F32, TF32};
    for (shape, a_bf16, b_bf16) in [((16, 16, 16), 4, 4), ((8, 32, 16), 2, 8), ((32, 8, 16), 8, 2)]
    {
        for (a, b, c) in [(ROWS(24), COLUMNS(16), ROWS(40)), (COLUMNS(32), ROWS(40), COLUMNS(36))] {
            let f32s = ("f32", c, 8);
            let half =
                Case { shape, a: ("f16", a, 8), b: ("f16", b, 8), sum: f32s, types: "f32.f32" };
            floats(&half, F16, F32, true);
            let sum = ("f16", c, 4);
            let half = Case { shape, a: ("f16", a, 8), b: ("f16", b, 8), sum, types: "f16.f16" };
            floats(&half, F16, F16, false);
            let types = "f32.bf16.bf16.f32";
            let brain =
                Case { shape, a: ("bf16", a, a_bf16), b: ("bf16", b, b_bf16), sum: f32s, types };
            floats(&brain, BF16, F32, true);
        }
    }
    let (a, b) = (("tf32", COLUMNS(16), 4), ("tf32", ROWS(20), 4));
    let sum = ("f32", ROWS(16), 8);
    let types = "f32.tf32.tf32.f32";
    floats(&Case { shape: (16, 16, 8), a, b, sum, types }, TF32, F32, true);
}

#[test]
fn bytes() {
    for (shape, a, b) in [((16, 16, 16), 2, 2), ((8, 32, 16), 1, 4), ((32, 8, 16), 4, 1)] {
        let case = Case {
            shape,
            a: ("s8", ROWS(32), a),
            b: ("u8", COLUMNS(16), b),
            sum: ("s32", ROWS(32), 8),
            types: "s32.s8.u8.s32",
        };
        let (m, n, k) = shape;
        let mut random = Random(3);
        let mut bytes = |len: usize| (0..len).map(|_| random.next() as u8).collect::<Vec<_>>();
        let (a, b, c) = (bytes(32 * 32), bytes(32 * 32), bytes(4 * 32 * 32));
        let d = run(&case, [&a, &b, &c]);
        for row in 0..m {
            for column in 0..n {
                let dot: i32 = (0..k)
                    .map(|i| {
                        let a = a[case.a.1.at(row, i)] as i8;
                        i32::from(a) * i32::from(b[case.b.1.at(i, column)])
                    })
                    .sum();
                let at = case.sum.1.at(row, column);
                let expected = dot.wrapping_add(element(&c, at, 32) as i32) as u32;
                assert_eq!(element(&d, at, 32), expected, "({row}, {column})");
            }
        }
    }
}

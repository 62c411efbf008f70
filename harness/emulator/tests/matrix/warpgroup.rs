//! Every form of `wgmma`, on random operands in every layout, against the evaluation of `float.rs`: bytes are put where the
//! manual's layouts have them (PTX ISA 9.7.15.5.1), and sums are added up as integers.

use emulator::{Config, Counters, LaunchConfig, Level, Machine};

use crate::float::{self, Format, Number, Rule};
use crate::warp::{Random, Range};

/// A matrix in shared memory: rows along K or along M and N, swizzled by `width` bytes (16: not at all).
#[derive(Clone, Copy, Debug)]
struct Layout {
    k_major: bool,
    width: usize,
    /// Bytes along K at which the matrix begins within an atom.
    step: usize,
}

const fn k_major(width: usize, step: usize) -> Layout {
    Layout { k_major: true, width, step }
}

const fn mn_major(width: usize) -> Layout {
    Layout { k_major: false, width, step: 0 }
}

impl Layout {
    /// Leading and stride offsets for this many rows of elements of this many bytes.
    fn offsets(&self, rows: usize, each: usize) -> (usize, usize) {
        let atom = 8 * self.width;
        let along = rows * each / self.width * atom;
        match (self.k_major, self.width) {
            (true, _) => (rows / 8 * atom, atom),
            (false, 16) => (along, atom),
            (false, _) => (atom, along),
        }
    }

    /// Where byte `byte` of element `k` of a row lies, from a multiple of 1024 on.
    fn place(&self, rows: usize, each: usize, row: usize, k: usize, byte: usize) -> usize {
        let (leading, stride) = self.offsets(rows, each);
        let width = self.width;
        let linear = if self.k_major {
            let along = k * each + byte + self.step;
            row / 8 * stride + row % 8 * width + along / width * leading + along % width
        } else {
            let along = row * each + byte;
            let (atoms, groups) = if width == 16 { (stride, leading) } else { (leading, stride) };
            along / width * atoms + k / 8 * groups + k % 8 * width + along % width
        };
        let turn = match width {
            32 => linear >> 7 & 1,
            64 => linear >> 7 & 3,
            128 => linear >> 7 & 7,
            _ => 0,
        };
        linear ^ turn << 4
    }

    /// The descriptor but for its start.
    fn bits(&self, rows: usize, each: usize) -> u64 {
        let (leading, stride) = self.offsets(rows, each);
        let code = match self.width {
            128 => 1u64,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        (leading as u64 >> 4) << 16 | (stride as u64 >> 4) << 32 | code << 62
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Float(Format, Format, Rule),
    /// Signedness of A and B, and whether sums are clamped.
    Integer([bool; 2], bool),
    Bit,
}

#[derive(Clone, Copy)]
struct Case<'a> {
    /// Types of D, A and B.
    types: [&'a str; 3],
    kind: Kind,
    n: usize,
    /// In registers if it has no layout.
    a: Option<Layout>,
    b: Layout,
    negated: [i32; 2],
    add: bool,
    /// With the selector.
    sparse: Option<usize>,
}

/// Where A begins in shared memory, and B.
const A: usize = 0;
const B: usize = 16384;
const SHARED: usize = B + 49152;

impl Case<'_> {
    fn bits(&self) -> usize {
        match self.kind {
            Kind::Float(format, ..) => format.bits as usize,
            Kind::Integer(..) => 8,
            Kind::Bit => 1,
        }
    }

    /// K, in elements.
    fn depth(&self) -> usize {
        256 / self.bits() * if self.sparse.is_some() { 2 } else { 1 }
    }

    fn wide(&self) -> bool {
        self.types[0] != "f16"
    }

    fn sums(&self) -> usize {
        if self.wide() { self.n / 2 } else { self.n / 4 }
    }

    fn name(&self) -> String {
        let [d, a, b] = self.types;
        let sparse = if self.sparse.is_some() { ".sp" } else { "" };
        let (n, k) = (self.n, self.depth());
        match self.kind {
            Kind::Integer(_, true) => {
                format!("wgmma.mma_async{sparse}.sync.aligned.m64n{n}k{k}.satfinite.{d}.{a}.{b}")
            }
            Kind::Bit => format!("wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}.and.popc"),
            _ => format!("wgmma.mma_async{sparse}.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}"),
        }
    }

    fn instruction(&self) -> String {
        let list = |name: &str, count: usize| {
            let registers: Vec<_> = (0..count).map(|i| format!("%{name}{i}")).collect();
            format!("{{{}}}", registers.join(", "))
        };
        let a = if self.a.is_some() { "%descA".to_owned() } else { list("a", 4) };
        let sparse = self.sparse.map_or(String::new(), |selector| format!(", %meta, {selector}"));
        let mut tail = String::new();
        if let Kind::Float(format, ..) = self.kind {
            tail += &format!(", {}, {}", self.negated[0], self.negated[1]);
            let direction = |layout: Layout| i32::from(!layout.k_major);
            if format.bits == 16 {
                if let Some(a) = self.a {
                    tail += &format!(", {}", direction(a));
                }
                tail += &format!(", {}", direction(self.b));
            }
        }
        let d = list("d", self.sums());
        format!("{} {d}, {a}, %descB{sparse}, %add{tail};\n", self.name())
    }

    /// Loads what a thread has, does `body`, and stores D.
    fn ptx(&self, body: &str) -> String {
        let sums = self.sums();
        let each = self.bits().div_ceil(8);
        let descriptor = |layout: Layout, rows: usize, at: usize, name: &str| {
            let start = at + layout.step;
            format!(
                "mov.u32 %x, s;\nadd.u32 %x, %x, {start};\nand.b32 %x, %x, 0x3ffff;\nshr.u32 %x, %x, 4;\n\
                 cvt.u64.u32 %desc{name}, %x;\nor.b64 %desc{name}, %desc{name}, {:#x};\n",
                layout.bits(rows, each)
            )
        };
        let a = self.a.map_or(String::new(), |layout| descriptor(layout, 64, A, "A"));
        let b = descriptor(self.b, self.n, B, "B");
        let load = |name: &str, count: usize, first: usize| -> String {
            let one = |i| format!("ld.global.b32 %{name}{i}, [%from+{}];\n", first + 4 * i);
            (0..count).map(one).collect()
        };
        let stores: String =
            (0..sums).map(|i| format!("st.global.b32 [%to+{}], %d{i};\n", 4 * i)).collect();
        let each_thread = 4 * (sums + 5);
        format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n\
             .visible .entry kernel(.param .u64 image, .param .u64 in, .param .u64 out)\n{{\n\
             .shared .align 1024 .b8 s[{SHARED}];\n\
             .reg .b32 %a<4>, %d<128>, %meta, %tid, %x, %y;\n\
             .reg .b64 %from, %to, %descA, %descB, %far, %image;\n.reg .pred %add, %more;\n\
             mov.u32 %tid, %tid.x;\nld.param.u64 %image, [image];\n\
             ld.param.u64 %from, [in];\nld.param.u64 %to, [out];\n\
             shl.b32 %x, %tid, 2;\n\
             COPY:\ncvt.u64.u32 %far, %x;\nadd.u64 %far, %far, %image;\nld.global.b32 %y, [%far];\n\
             mov.u32 %meta, s;\nadd.u32 %meta, %meta, %x;\nst.shared.b32 [%meta], %y;\n\
             add.u32 %x, %x, 512;\nsetp.lt.u32 %more, %x, {SHARED};\n@%more bra COPY;\n\
             fence.proxy.async;\nbar.sync 0;\n\
             mul.wide.u32 %far, %tid, {each_thread};\nadd.u64 %from, %from, %far;\n\
             mul.wide.u32 %far, %tid, {};\nadd.u64 %to, %to, %far;\n\
             {}{}ld.global.b32 %meta, [%from+{}];\n{a}{b}\
             setp.ne.u32 %add, {}, 0;\n{body}{stores}ret;\n}}\n",
            4 * sums,
            load("d", sums, 0),
            load("a", 4, 4 * sums),
            4 * sums + 16,
            u32::from(self.add),
        )
    }
}

/// Bytes of A (as it is stored) and B by rows, sums, and where in K the stored elements stand.
struct Operands {
    a: Vec<Vec<u8>>,
    b: Vec<Vec<u8>>,
    c: Vec<u32>,
    places: Vec<Vec<usize>>,
}

impl Operands {
    fn new(case: &Case, seed: u64, range: Range) -> Self {
        let mut random = Random(seed);
        let mut rows = |count: usize, bytes: usize, which: usize| -> Vec<Vec<u8>> {
            let mut word = || match case.kind {
                Kind::Float(a, b, _) => random.word(if which == 0 { &a } else { &b }, range),
                _ => random.next() as u32,
            };
            (0..count)
                .map(|_| (0..bytes / 4).flat_map(|_| word().to_le_bytes()).collect())
                .collect()
        };
        let a = rows(64, 32, 0);
        let b = rows(case.n, case.depth() * case.bits() / 8, 1);
        let sum = |_| match case.kind {
            Kind::Float(..) if case.wide() => random.float(range),
            Kind::Float(..) => random.pair(&float::F16, range),
            // Near the ends, so that some are clamped.
            _ => (random.next() as i32 >> 3 | 0x7000_0000) as u32,
        };
        let c = (0..128 * case.sums()).map(sum).collect();
        let places = (0..64).map(|_| places(case, &mut random)).collect();
        Self { a, b, c, places }
    }

    fn image(&self, case: &Case) -> Vec<u8> {
        let mut image = vec![0u8; SHARED];
        let each = case.bits().div_ceil(8);
        let mut put = |matrix: &[Vec<u8>], layout: Layout, first: usize| {
            for (row, bytes) in matrix.iter().enumerate() {
                for (at, &byte) in bytes.iter().enumerate() {
                    let place = layout.place(matrix.len(), each, row, at / each, at % each);
                    image[first + place] = byte;
                }
            }
        };
        if let Some(layout) = case.a {
            put(&self.a, layout, A);
        }
        put(&self.b, case.b, B);
        image
    }

    /// Sums, registers of A and metadata of every thread.
    fn threads(&self, case: &Case) -> Vec<u32> {
        let sums = case.sums();
        let mut words = Vec::new();
        for thread in 0..128 {
            let (warp, g, q) = (thread / 32, thread % 32 / 4, thread % 4);
            words.extend(&self.c[thread * sums..][..sums]);
            for i in 0..4 {
                let row = &self.a[16 * warp + g + 8 * (i & 1)];
                let word = &row[4 * (q + 4 * (i >> 1))..][..4];
                words.push(u32::from_le_bytes(word.try_into().expect("four bytes")));
            }
            words.push(self.metadata(case, thread));
        }
        words
    }

    fn metadata(&self, case: &Case, thread: usize) -> u32 {
        let (warp, g, q) = (thread / 32, thread % 32 / 4, thread % 4);
        let Some(selector) = case.sparse else { return 0 };
        let mut word = 0;
        for bit in (0..32).step_by(4) {
            let (h, chunk) = if case.bits() == 8 {
                (q & 1, 8 * (q >> 1) + bit / 4)
            } else {
                // Lanes that the selector does not choose hold rubbish.
                if q / 2 != selector {
                    return 0xdead_beef;
                }
                (bit / 16, 4 * (q & 1) + bit % 16 / 4)
            };
            let places = &self.places[16 * warp + g + 8 * h];
            let four = match case.bits() {
                32 if places[chunk].is_multiple_of(2) => 0b0100,
                32 => 0b1110,
                _ => (places[2 * chunk] % 4) | ((places[2 * chunk + 1] % 4) << 2),
            };
            word |= (four as u32) << bit;
        }
        word
    }

    fn expected(&self, case: &Case, row: usize, column: usize, c: u32) -> u32 {
        let element = |bytes: &[u8], index: usize| {
            let bits = case.bits();
            let at = index * bits;
            let mut word = [0u8; 4];
            let from = &bytes[at / 8..][..bits.div_ceil(8)];
            word[..from.len()].copy_from_slice(from);
            u32::from_le_bytes(word) >> (at % 8)
        };
        let (left, right) = (&self.a[row], &self.b[column]);
        let stored = 256 / case.bits();
        let pairs = (0..stored).map(|i| (element(left, i), element(right, self.places[row][i])));
        match case.kind {
            Kind::Float(x, y, rule) => {
                let read = |(a, b): (u32, u32)| {
                    let mut a = x.read(a);
                    if case.negated[0] != case.negated[1] {
                        a.significand = -a.significand;
                        a.special = a.special.map(|special| -special);
                    }
                    (a, y.read(b))
                };
                let (a, b): (Vec<Number>, Vec<Number>) = pairs.map(read).unzip();
                let c = if case.wide() { float::F32.read(c) } else { float::F16.read(c) };
                let bits = rule.add(&a, &b, c, case.wide());
                let short = case.wide() && x.bits == 8 && bits != 0x7fff_ffff;
                if short { bits & !0x3ff } else { bits }
            }
            Kind::Integer(signs, clamps) => {
                let read = |word: u32, signed: bool| {
                    if signed { i64::from(word as i8) } else { i64::from(word as u8) }
                };
                let products = pairs.map(|(a, b)| read(a, signs[0]) * read(b, signs[1]));
                let sum = i64::from(c as i32) + products.sum::<i64>();
                let clamped = sum.clamp(i32::MIN.into(), i32::MAX.into());
                if clamps { clamped as u32 } else { sum as u32 }
            }
            Kind::Bit => c.wrapping_add(pairs.map(|(a, b)| a & b & 1).sum()),
        }
    }
}

/// Where the stored elements of a row stand in K.
fn places(case: &Case, random: &mut Random) -> Vec<usize> {
    let stored = 256 / case.bits();
    if case.sparse.is_none() {
        return (0..stored).collect();
    }
    if case.bits() == 32 {
        return (0..stored).map(|i| 2 * i + (random.next() >> 40) as usize % 2).collect();
    }
    let two = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    (0..stored / 2)
        .flat_map(|chunk| two[(random.next() >> 40) as usize % 6].map(|place| 4 * chunk + place))
        .collect()
}

fn run(
    ptx: &str,
    params: [&[u8]; 2],
    results: usize,
    sanitize: bool,
) -> Result<(Vec<u32>, Counters), String> {
    let machine =
        Machine::new(Config { level: Level::detect(), threads: 1, sanitize, ..Config::default() });
    let mut bytes = Vec::new();
    for (content, name) in params.into_iter().zip(["image", "in"]) {
        let at = machine.memory().allocate(content.len() as u64, name).expect("room");
        let to = std::ptr::with_exposed_provenance_mut::<u8>(at as usize);
        // SAFETY: an allocation of this size, which nobody else uses.
        unsafe { to.copy_from_nonoverlapping(content.as_ptr(), content.len()) };
        bytes.extend(at.to_le_bytes());
    }
    let out = machine.memory().allocate(4 * results as u64, "out").expect("room");
    bytes.extend(out.to_le_bytes());
    let module = machine.load(ptx).expect("PTX");
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [1, 1, 1],
        block: [128, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    let counters = machine.launch(&launch, &bytes).map_err(|fault| fault.headline())?;
    let from = std::ptr::with_exposed_provenance::<u32>(out as usize);
    // SAFETY: as above.
    let results = unsafe { std::slice::from_raw_parts(from, results) }.to_vec();
    Ok((results, counters))
}

const WAIT: &str = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";

fn check(case: Case) {
    for round in 0..4 {
        let range = match round {
            3 => Range::Any,
            2 => Range::Finite,
            _ => Range::NearOne,
        };
        let operands = Operands::new(&case, round, range);
        let body = format!("wgmma.fence.sync.aligned;\n{}{WAIT}", case.instruction());
        let words = operands.threads(&case);
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sums = case.sums();
        let (given, _) = run(&case.ptx(&body), [&operands.image(&case), &words], 128 * sums, false)
            .unwrap_or_else(|said| panic!("{}: {said}", case.name()));
        for thread in 0..128 {
            let (warp, g, q) = (thread / 32, thread % 32 / 4, thread % 4);
            for i in 0..sums * if case.wide() { 1 } else { 2 } {
                // Registers of f16 hold two columns.
                let (j, h, v) = (i / 4, i / 2 % 2, i % 2);
                let (row, column) = (16 * warp + g + 8 * h, 8 * j + 2 * q + v);
                let read = |words: &[u32]| match case.wide() {
                    true => words[thread * sums + i],
                    false => words[thread * sums + i / 2] >> (16 * v) & 0xffff,
                };
                let c = if case.add { read(&operands.c) } else { 0 };
                let (expected, found) = (operands.expected(&case, row, column, c), read(&given));
                assert!(
                    expected == found,
                    "{} A {:?} B {:?}, round {round}, ({row}, {column}): {found:#x} where {expected:#x} is right",
                    case.name(),
                    case.a,
                    case.b
                );
            }
        }
    }
}

const SUMS: Rule = Rule { fraction: 25, steps: 1, converted: false };
const SUMS_OF_FP8: Rule = Rule { fraction: 13, steps: 1, converted: false };

const HALF: Case = Case {
    types: ["f32", "f16", "f16"],
    kind: Kind::Float(float::F16, float::F16, SUMS),
    n: 64,
    a: None,
    b: k_major(128, 0),
    negated: [1, 1],
    add: true,
    sparse: None,
};

#[test]
fn matrices_lie_in_every_layout() {
    let layouts = [
        k_major(16, 0),
        k_major(32, 0),
        k_major(64, 0),
        k_major(64, 32),
        k_major(128, 0),
        k_major(128, 96),
        mn_major(16),
        mn_major(32),
        mn_major(64),
        mn_major(128),
    ];
    for layout in layouts {
        check(Case { a: Some(layout), ..HALF });
        check(Case { b: layout, ..HALF });
    }
}

#[test]
fn sixteen_bits_and_more() {
    for n in [8, 24, 136, 256] {
        check(Case { n, ..HALF });
        check(Case { n, types: ["f16", "f16", "f16"], ..HALF });
    }
    let brain = Kind::Float(float::BF16, float::BF16, SUMS);
    let single = Kind::Float(float::TF32, float::TF32, SUMS);
    for a in [None, Some(k_major(64, 0))] {
        for (types, kind) in [(["f32", "bf16", "bf16"], brain), (["f32", "tf32", "tf32"], single)] {
            check(Case { types, kind, a, n: 40, ..HALF });
        }
    }
}

#[test]
fn products_may_be_negated_and_sums_begun_anew() {
    for negated in [[1, -1], [-1, 1], [-1, -1]] {
        check(Case { negated, ..HALF });
        check(Case { negated, a: Some(k_major(32, 0)), add: false, ..HALF });
    }
}

#[test]
fn eight_bits_keep_thirteen_of_a_sum() {
    let formats = [("e4m3", float::E4M3), ("e5m2", float::E5M2)];
    for (a, x) in formats {
        for (b, y) in formats {
            for d in ["f32", "f16"] {
                let kind = Kind::Float(x, y, SUMS_OF_FP8);
                check(Case { types: [d, a, b], kind, n: 32, ..HALF });
                check(Case { types: [d, a, b], kind, n: 8, a: Some(k_major(128, 64)), ..HALF });
            }
        }
    }
}

#[test]
fn integers_and_bits() {
    let names = [("s8", true), ("u8", false)];
    for (a, x) in names {
        for (b, y) in names {
            for clamps in [false, true] {
                let kind = Kind::Integer([x, y], clamps);
                check(Case { types: ["s32", a, b], kind, n: 48, a: Some(k_major(32, 0)), ..HALF });
            }
        }
    }
    check(Case { types: ["s32", "b1", "b1"], kind: Kind::Bit, n: 16, ..HALF });
}

#[test]
fn sparse_rows_have_only_what_they_store() {
    let float = |format, rule| Kind::Float(format, format, rule);
    for (types, kind) in [
        (["f32", "f16", "f16"], float(float::F16, SUMS)),
        (["f16", "f16", "f16"], float(float::F16, SUMS)),
        (["f32", "bf16", "bf16"], float(float::BF16, SUMS)),
        (["f32", "tf32", "tf32"], float(float::TF32, SUMS)),
        (["f32", "e4m3", "e4m3"], float(float::E4M3, SUMS_OF_FP8)),
        (["f16", "e5m2", "e5m2"], float(float::E5M2, SUMS_OF_FP8)),
        (["s32", "s8", "s8"], Kind::Integer([true; 2], true)),
    ] {
        for a in [None, Some(k_major(32, 0))] {
            let selectors = if types[1].contains('8') || types[1].starts_with('e') { 1 } else { 2 };
            for selector in 0..selectors {
                check(Case { types, kind, a, n: 32, sparse: Some(selector), ..HALF });
                // Longer than an atom's row.
                let b = k_major(32, 0);
                check(Case { types, kind, a, b, n: 16, sparse: Some(selector), ..HALF });
            }
        }
    }
}

/// Registers as a kernel finds them that does `body` with `%d0` to `%d15` of ones and products of ones.
fn sums_after(body: &str) -> Vec<f32> {
    let case = Case { n: 32, a: Some(k_major(32, 0)), b: k_major(32, 0), ..HALF };
    let mut operands = Operands::new(&case, 0, Range::NearOne);
    let ones = |bytes: &mut u8, at: usize| *bytes = if at.is_multiple_of(2) { 0 } else { 0x3c };
    for row in operands.a.iter_mut().chain(&mut operands.b) {
        row.iter_mut().enumerate().for_each(|(at, byte)| ones(byte, at));
    }
    operands.c.fill(1f32.to_bits());
    let words: Vec<u8> =
        operands.threads(&case).iter().flat_map(|word| word.to_le_bytes()).collect();
    let body = body.replace("MULTIPLY", &case.instruction());
    let given = run(&case.ptx(&body), [&operands.image(&case), &words], 128 * case.sums(), false);
    let given: Vec<_> = given.expect("a legal kernel").0.into_iter().map(f32::from_bits).collect();
    assert!(given.iter().all(|sum| *sum == given[0]), "{given:?}");
    given
}

#[test]
fn sums_are_in_registers_when_their_group_was_waited_for() {
    let commit = "wgmma.commit_group.sync.aligned;\n";
    let wait = |n: u32| format!("wgmma.wait_group.sync.aligned {n};\n");
    // Nobody has waited: what was there before.
    assert_eq!(sums_after("MULTIPLY")[0], 1.0);
    assert_eq!(sums_after(&format!("MULTIPLY{commit}"))[0], 1.0);
    assert_eq!(sums_after(&format!("MULTIPLY{}", wait(0)))[0], 1.0, "no group has it");
    assert_eq!(sums_after(&format!("MULTIPLY{commit}{}", wait(1)))[0], 1.0);
    assert_eq!(sums_after(&format!("MULTIPLY{commit}{}", wait(0)))[0], 17.0);
    // A later group, of nothing.
    assert_eq!(sums_after(&format!("MULTIPLY{commit}{commit}{}", wait(1)))[0], 17.0);
    // The second adds to what the first has made, and both arrive together.
    let two = format!("MULTIPLY{commit}MULTIPLY{commit}");
    assert_eq!(sums_after(&format!("{two}{}", wait(1)))[0], 1.0);
    assert_eq!(sums_after(&format!("{two}{}", wait(0)))[0], 33.0);
}

#[test]
fn a_descriptor_leads_no_further_than_shared_memory() {
    let case = Case { a: Some(k_major(128, 0)), ..HALF };
    let operands = Operands::new(&case, 0, Range::NearOne);
    let words: Vec<u8> =
        operands.threads(&case).iter().flat_map(|word| word.to_le_bytes()).collect();
    for (change, right) in [("or.b64 %descB, %descB, 0x3fff;\n", false), ("", true)] {
        let body = format!("{change}{}{WAIT}", case.instruction());
        let said =
            run(&case.ptx(&body), [&operands.image(&case), &words], 128 * case.sums(), false);
        assert_eq!(said.is_ok(), right, "{said:?}");
        if let Err(said) = said {
            assert!(said.contains("reads 16 bytes of shared memory"), "{said}");
        }
    }
}

/// What the sanitizer says of `body`, with A of 64 rows in shared memory from `s` on.
fn sanitized(body: &str) -> Result<(Vec<u32>, Counters), String> {
    let case = Case { n: 16, a: Some(k_major(128, 0)), ..HALF };
    let operands = Operands::new(&case, 0, Range::NearOne);
    let words: Vec<u8> =
        operands.threads(&case).iter().flat_map(|word| word.to_le_bytes()).collect();
    let body = body.replace("MULTIPLY", &case.instruction());
    run(&case.ptx(&body), [&operands.image(&case), &words], 128 * case.sums(), true)
}

#[test]
fn the_sanitizer_names_what_comes_before_the_wait() {
    let commit = "wgmma.commit_group.sync.aligned;\n";
    let write =
        "mov.u32 %x, 0xdeadbeef;\nsetp.eq.u32 %more, %tid, 0;\n@%more st.shared.b32 [s], %x;\n";
    let early = "reads a register that wgmma has not written its sums to yet";
    let overwritten = "wgmma is still reading: nobody waited for its group";
    for (body, said) in [
        (format!("MULTIPLY{WAIT}"), None),
        (format!("MULTIPLY{WAIT}bar.sync 0;\n{write}"), None),
        ("MULTIPLY".to_owned(), Some(early)),
        (format!("MULTIPLY{commit}"), Some(early)),
        (format!("MULTIPLY{commit}mov.b32 %d3, %x;\n{WAIT}"), Some("writes a register")),
        (format!("MULTIPLY{commit}{write}{WAIT}"), Some(overwritten)),
        (format!("MULTIPLY{write}{WAIT}"), Some(overwritten)),
    ] {
        let found = sanitized(&body).err();
        let right = match (&found, said) {
            (Some(found), Some(said)) => found.contains(said),
            (None, None) => true,
            _ => false,
        };
        assert!(right, "{body}: {found:?}");
    }
}

#[test]
fn products_and_what_they_read_are_counted() {
    let (_, counters) = sanitized(&format!("MULTIPLYMULTIPLY{WAIT}")).expect("a legal kernel");
    assert_eq!(counters.multiply_adds, [("f16".to_owned(), 2 * 64 * 16 * 16)]);
    assert_eq!(counters.tensor_shared_bytes, 2 * (64 + 16) * 32);
}

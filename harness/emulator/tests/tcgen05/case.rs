//! One `tcgen05.mma` against an evaluation in integers (`tests/matrix/float.rs`) of what was measured on a B200 by
//! others: elements are placed one by one, and every cell of tensor memory is looked at afterwards.

use super::device::{Kernel, allocate, free};
use super::operand::{Operand, Swizzle};
use crate::float::{self, Format, Number, Rule};

const NEW: Rule = Rule { fraction: 25, steps: 1, converted: false };

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A code of a format: `near` those of numbers within a few powers of two of 1, otherwise any finite one,
    /// subnormals and zeros among them, or any at all.
    fn code(&mut self, format: &Format, bits: u32, round: u64) -> u32 {
        loop {
            let code = (self.next() >> 32) as u32 & (u32::MAX >> (32 - bits));
            let number = format.read(code);
            let far = number.significand != 0 && number.exponent.abs() > 40;
            let close = number.exponent.abs() <= 3;
            match round % 3 {
                0 if number.special.is_none() && (close || bits < 16) => return code,
                1 if number.special.is_none() && !far => return code,
                1 if self.next().is_multiple_of(8) => return 0,
                2 => return code,
                _ => {}
            }
        }
    }
}

/// Columns of tensor memory.
const D: u32 = 32;
const A: u32 = 300;
const SCALES: [u32; 2] = [320, 330];
const METADATA: u32 = 340;
const COLUMNS: usize = 512;

/// One of them, before its operands are known.
#[derive(Clone)]
pub struct Case {
    pub kind: &'static str,
    pub m: u32,
    pub n: u32,
    /// Format, bits and elements in 16 bytes, for A and B.
    pub formats: [(Format, u32, u32); 2],
    /// Codes of the types in the instruction descriptor.
    pub types: [u32; 2],
    pub transposed: [bool; 2],
    pub swizzle: [Swizzle; 2],
    pub negate: [bool; 2],
    /// D's type: 0 f16, 1 f32, 2 s32.
    pub sums: u32,
    pub accumulate: bool,
    /// Scales of a row, their format, bit 23, and the first bytes.
    pub scales: Option<(usize, Format, u32, [u32; 2])>,
    pub a_in_tensor: bool,
    pub lane: u32,
    pub extra: u32,
    pub ws: bool,
    pub masks: Option<[u32; 4]>,
    pub shift: u32,
    /// A is sparse; the selector.
    pub sparse: Option<u32>,
}

impl Case {
    pub fn new(kind: &'static str, format: (Format, u32, u32), code: u32) -> Self {
        Self {
            kind,
            m: 128,
            n: 32,
            formats: [format; 2],
            types: [code; 2],
            transposed: [false; 2],
            swizzle: [Swizzle::B128; 2],
            negate: [false; 2],
            sums: 1,
            accumulate: true,
            scales: None,
            a_in_tensor: false,
            lane: 0,
            extra: 0,
            ws: false,
            masks: None,
            shift: 0,
            sparse: None,
        }
    }

    /// K, and how much of it A stores.
    fn depth(&self) -> u32 {
        self.stored() * if self.sparse.is_some() { 2 } else { 1 }
    }

    fn stored(&self) -> u32 {
        2 * self.formats[0].2
    }

    fn descriptor(&self) -> u32 {
        let flag = |on: bool, bit: u32| u32::from(on) << bit;
        let mut bits = self.types[0] << 7
            | self.types[1] << 10
            | flag(self.negate[0], 13)
            | flag(self.negate[1], 14)
            | flag(self.transposed[0], 15)
            | flag(self.transposed[1], 16)
            | (self.n / 8) << 17
            | self.sparse.map_or(0, |selector| 1 << 2 | selector)
            | self.extra;
        bits |= match self.scales {
            None => self.sums << 4 | (self.m / 16) << 24,
            Some((_, _, format, [a, b])) => b << 4 | format << 23 | (self.m / 128) << 27 | a << 29,
        };
        bits
    }

    /// Lane and column of an element of D: tables of 9.7.16.10.5.
    fn cell(&self, m: u32, n: u32) -> (u32, u32) {
        match (self.m, self.ws) {
            (64, false) => (32 * (m / 16) + m % 16 + self.lane, n),
            (64, true) => (m + 64 * (n / (self.n / 2)), n % (self.n / 2)),
            (32, _) => (m + 32 * (n / (self.n / 4)), n % (self.n / 4)),
            _ => (m, n),
        }
    }

    /// Run with random operands, and compare every cell.
    pub fn check(&self, round: u64) {
        let mut random = Random(round);
        let operand = |index: usize, random: &mut Random| {
            let (format, bits, per_piece) = self.formats[index];
            let rows = if index == 0 { self.m } else { self.n };
            let depth = if index == 0 { self.stored() } else { self.depth() };
            let mut codes: Vec<_> =
                (0..rows * depth).map(|_| random.code(&format, bits, round)).collect();
            if round % 5 == 3 && self.sums != 2 {
                // Cancellation: a second element is the first with the other sign, nearly.
                let sign = if index == 0 { 1 << (bits - 1) } else { 0 };
                for pair in codes.chunks_exact_mut(2) {
                    pair[1] = pair[0] ^ sign ^ u32::from(random.next().is_multiple_of(5));
                }
            }
            Operand {
                bits,
                per_piece,
                transposed: self.transposed[index],
                swizzle: self.swizzle[index],
                base: [0, 32768][index],
                rows,
                depth,
                codes,
            }
        };
        let (a, b) = (operand(0, &mut random), operand(1, &mut random));
        let mut image = vec![0u32; 16384];
        if !self.a_in_tensor {
            a.store(&mut image);
        }
        b.store(&mut image);
        let mut cells: Vec<u32> = (0..128 * COLUMNS).map(|_| random.next() as u32).collect();
        let place = |column: u32, lane: u32| (column * 128 + lane) as usize;
        for m in 0..self.m {
            for n in 0..self.n {
                let (lane, column) = self.cell(m, n);
                let cell = &mut cells[place(D + column, lane)];
                *cell = match self.sums {
                    0 => random.code(&float::F16, 16, round) | (random.next() as u32) << 16,
                    1 => random.code(&float::F32, 32, round),
                    _ if round.is_multiple_of(2) => i32::MAX as u32 - (random.next() % 999) as u32,
                    _ => random.next() as u32,
                };
            }
        }
        if self.a_in_tensor {
            let per_word = self.stored() / 8;
            let bits = 32 / per_word;
            for lane in 0..128 {
                for word in 0..8 {
                    cells[place(A + word, lane)] = 0;
                }
            }
            for m in 0..self.m {
                // Each copy that a lane needs.
                for n in 0..self.n {
                    let (lane, _) = self.cell(m, n);
                    for word in 0..8 {
                        cells[place(A + word, lane)] = (0..per_word)
                            .map(|part| {
                                // Narrow elements stand in the middle of their byte.
                                let code = a.code(m, word * per_word + part);
                                let code = if self.formats[0].1 == 4 && bits == 8 {
                                    code << 2
                                } else {
                                    code
                                };
                                code << (part * bits)
                            })
                            .fold(0, |all, code| all | code);
                    }
                }
            }
        }
        if let Some((_, format, ..)) = self.scales {
            for column in SCALES[0]..SCALES[1] + 8 {
                for lane in 0..128 {
                    let word = (0..4).fold(0, |word, byte| {
                        word | random.code(&format, 8, round.min(4)) << (8 * byte)
                    });
                    // All four copies.
                    cells[place(column, lane)] =
                        if lane < 32 { word } else { cells[place(column, lane % 32)] };
                }
            }
        }
        let places = match self.sparse {
            Some(selector) => self.sparsity(selector, &mut cells, &mut random),
            None => vec![(0..self.depth()).collect(); self.m as usize],
        };
        let found = self.run(&a, &b, &image, &cells);
        let mut expected = cells.clone();
        for m in 0..self.m {
            for n in 0..self.n {
                let (lane, column) = self.cell(m, n);
                let at = place(D + column, lane);
                let off = self
                    .masks
                    .is_some_and(|masks| masks[(lane / 32) as usize] >> (lane % 32) & 1 == 1);
                if !off {
                    expected[at] = self.element(&a, &b, (m, n), &places[m as usize], &cells);
                }
            }
        }
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                found == expected,
                "{}, M {}, N {}, round {round}: lane {}, column {}: {found:#x} where {expected:#x} is \
                 right",
                self.kind,
                self.m,
                self.n,
                at % 128,
                at / 128
            );
        }
    }

    /// Random metadata, put where CUTLASS's `tmem_e_frg` has them: for each row of A, the places in K of what is
    /// stored.
    fn sparsity(&self, selector: u32, cells: &mut [u32], random: &mut Random) -> Vec<Vec<u32>> {
        let (bits, pairs) = (self.formats[0].1, self.formats[0].2 == 32);
        // Elements of a chunk, which four bits are for.
        let chunk = match (bits, pairs) {
            (32, _) => 2,
            (_, true) => 8,
            _ => 4,
        };
        let mut put = |lane: u32, column: u32, bit: u32, four: u32| {
            let cell = &mut cells[((METADATA + column) * 128 + lane) as usize];
            *cell = *cell & !(15 << bit) | four << bit;
        };
        let places = |m: u32| {
            let mut all = Vec::new();
            for first in (0..self.depth()).step_by(chunk) {
                let fours: &[u32] = match bits {
                    32 => &[0b0100, 0b1110],
                    _ => &[0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110],
                };
                let four = fours[(random.next() % fours.len() as u64) as usize];
                match (bits, pairs) {
                    (32, _) => all.push(first + u32::from(four == 0b1110)),
                    (_, true) => all.extend(
                        [four & 3, four >> 2]
                            .iter()
                            .flat_map(|pair| [first + 2 * pair, first + 2 * pair + 1]),
                    ),
                    _ => all.extend([first + (four & 3), first + (four >> 2)]),
                }
                // The lanes of each sixteen rows, all copies of them.
                for n in 0..self.n {
                    let base = self.cell(m / 16 * 16, n).0;
                    match bits {
                        16 => put(
                            base + m % 8 + first / 16 * 8,
                            selector,
                            first % 16 + m / 8 % 2 * 16,
                            four,
                        ),
                        32 => put(
                            base + m % 8 + first / 8 * 8,
                            selector,
                            first % 8 * 2 + m / 8 % 2 * 16,
                            four,
                        ),
                        _ if pairs => put(base + m % 16, first / 64, first % 64 / 2, four),
                        _ => put(base + m % 16, first / 32, first % 32, four),
                    }
                }
            }
            all
        };
        (0..self.m).map(places).collect()
    }

    fn element(
        &self,
        a: &Operand,
        b: &Operand,
        (m, n): (u32, u32),
        places: &[u32],
        cells: &[u32],
    ) -> u32 {
        let (lane, column) = self.cell(m, n);
        let cell = cells[((D + column) * 128 + lane) as usize];
        let pairs = || (0..).zip(places).map(|(stored, &k)| (a.code(m, stored), b.code(n, k)));
        if self.sums == 2 {
            let number = |index: usize, code: u32| match self.types[index] {
                1 => i64::from(code as u8 as i8),
                _ => i64::from(code),
            };
            let sum: i64 = pairs().map(|(a, b)| number(0, a) * number(1, b)).sum();
            let c = if self.accumulate { i64::from(cell as i32) } else { 0 };
            let saturates = self.extra >> 3 & 1 == 1;
            let bounds = i64::from(i32::MIN)..=i64::from(i32::MAX);
            let exact = sum + c;
            return if saturates { exact.clamp(*bounds.start(), *bounds.end()) } else { exact }
                as u32;
        }
        let read = |index: usize, code: u32| {
            let mut number = self.formats[index].0.read(code);
            if self.negate[index] {
                number.significand = -number.significand;
                number.special = number.special.map(|special| -special);
            }
            number
        };
        let (left, right): (Vec<Number>, Vec<Number>) =
            pairs().map(|(a, b)| (read(0, a), read(1, b))).unzip();
        let wide = self.sums == 1;
        let sum = if wide { float::F32 } else { float::F16 };
        let mut c =
            sum.read(if self.accumulate { cell & (u32::MAX >> (32 - sum.bits)) } else { 0 });
        c.exponent = (c.exponent - self.shift as i32).max(-126);
        match self.scales {
            None => NEW.add(&left, &right, c, wide),
            Some((vectors, format, _, first)) => {
                let byte = |side: usize, index: u32, v: u32| {
                    let cell = (SCALES[side] + index / 32) * 128 + index % 32;
                    format.read(cells[cell as usize] >> (8 * (first[side] + v)) & 0xff)
                };
                let scales: Vec<_> =
                    (0..vectors as u32).map(|v| (byte(0, m, v), byte(1, n, v))).collect();
                match vectors {
                    1 => NEW.add_scaled(&left, &right, c, scales[0]),
                    _ => float::add_groups(&left, &right, c, &scales),
                }
            }
        }
    }

    fn run(&self, a: &Operand, b: &Operand, image: &[u32], cells: &[u32]) -> Vec<u32> {
        let lane = self.lane << 16;
        let enable = if self.accumulate { "eq" } else { "ne" };
        let from = match self.a_in_tensor {
            true => format!("[%r{}]", 11),
            false => "%d1".to_owned(),
        };
        let ws = if self.ws { ".ws" } else { "" };
        let (sp, metadata) = match self.sparse {
            Some(_) => (".sp", "[%r15], "),
            None => ("", ""),
        };
        let beside = match (&self.scales, self.masks) {
            (Some(_), _) => "[%r13], [%r14], ".to_owned(),
            (None, Some(masks)) => {
                format!("{{{}}}, ", masks.map(|mask| mask.to_string()).join(", "))
            }
            _ => String::new(),
        };
        let shift = if self.shift > 0 { format!(", {}", self.shift) } else { String::new() };
        let mma = format!(
            "setp.{enable}.u32 %p1, 0, 0;\nmov.u64 %d1, {:#x};\nmov.u64 %d2, {:#x};\n\
             mov.u32 %r10, {:#x};\nadd.u32 %r11, %x, {};\nadd.u32 %r12, %x, {};\n\
             add.u32 %r13, %x, {};\nadd.u32 %r14, %x, {};\nadd.u32 %r15, %x, {};\n\
             tcgen05.mma{ws}{sp}.cta_group::1.kind::{} [%r12], {from}, %d2, {metadata}%r10, {beside}%p1{shift};\n",
            a.descriptor(),
            b.descriptor(),
            self.descriptor(),
            A + lane,
            D + lane,
            SCALES[0],
            SCALES[1],
            METADATA + lane,
            self.kind,
        );
        let input = [image, cells].concat();
        Kernel { threads: 128, body: &around(&mma) }
            .run(&input, cells.len())
            .unwrap_or_else(|fault| panic!("{}: {}", self.kind, fault.headline()))
    }
}

/// Everything that a multiplication needs: shared memory from the image, all of tensor memory from the words
/// behind it, and back.
pub fn around(issue: &str) -> String {
    allocate(512)
        + "shl.b32 %y, %t, 4;\nmov.u32 %z, s;\nadd.u32 %z, %z, %y;\ncvt.u64.u32 %at, %y;\n\
           add.u64 %at, %at, %in;\nmov.u32 %r0, 0;\n\
           IMAGE:\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%at];\n\
           st.shared.v4.u32 [%z], {%r1, %r2, %r3, %r4};\n\
           add.u64 %at, %at, 2048;\nadd.u32 %z, %z, 2048;\nadd.u32 %r0, %r0, 1;\n\
           setp.lt.u32 %p1, %r0, 32;\n@%p1 bra IMAGE;\n\
           mul.wide.u32 %at, %t, 4;\nadd.u64 %at, %at, %in;\nadd.u64 %at, %at, 65536;\n\
           shl.b32 %y, %w, 21;\nadd.u32 %y, %y, %x;\nmov.u32 %r0, 0;\n\
           CELLS:\nld.global.u32 %r1, [%at];\n\
           tcgen05.st.sync.aligned.32x32b.x1.b32 [%y], {%r1};\n\
           add.u64 %at, %at, 512;\nadd.u32 %y, %y, 1;\nadd.u32 %r0, %r0, 1;\n\
           setp.lt.u32 %p1, %r0, 512;\n@%p1 bra CELLS;\n\
           tcgen05.wait::st.sync.aligned;\nfence.proxy.async.shared::cta;\n\
           setp.ne.u32 %p2, %t, 0;\n@%p2 bra READY;\nmbarrier.init.shared.b64 [bar], 1;\n\
           READY:\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n\
           tcgen05.fence::after_thread_sync;\n@%p2 bra ISSUED;\n"
        + issue
        + "mov.u32 %z, bar;\n\
           tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%z];\n\
           ISSUED:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;\n@!%p3 bra ISSUED;\n\
           tcgen05.fence::after_thread_sync;\n"
        + OUT
        + &free(512)
}

/// All of tensor memory to `out`.
pub const OUT: &str = "mul.wide.u32 %at, %t, 4;\nadd.u64 %at, %at, %out;\n\
    shl.b32 %y, %w, 21;\nadd.u32 %y, %y, %x;\nmov.u32 %r0, 0;\n\
    OUT:\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%y];\ntcgen05.wait::ld.sync.aligned;\n\
    st.global.u32 [%at], %r1;\nadd.u64 %at, %at, 512;\nadd.u32 %y, %y, 1;\n\
    add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 512;\n@%p1 bra OUT;\n";

pub const F16: (Format, u32, u32) = (float::F16, 16, 8);
pub const BF16: (Format, u32, u32) = (float::BF16, 16, 8);
pub const TF32: (Format, u32, u32) = (float::TF32, 32, 4);
pub const E4M3: (Format, u32, u32) = (float::E4M3, 8, 16);
pub const E5M2: (Format, u32, u32) = (float::E5M2, 8, 16);
pub const E2M3: (Format, u32, u32) = (float::E2M3, 6, 16);
pub const E3M2: (Format, u32, u32) = (float::E3M2, 6, 16);
pub const E2M1: (Format, u32, u32) = (float::E2M1_PACKED, 4, 16);
pub const PACKED: (Format, u32, u32) = (float::E2M1_PACKED, 4, 32);
pub const I8: (Format, u32, u32) = (float::E4M3, 8, 16);

pub const SMALL: [((Format, u32, u32), u32); 5] =
    [(E4M3, 0), (E5M2, 1), (E2M3, 3), (E3M2, 4), (E2M1, 5)];

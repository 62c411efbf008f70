//! Every form of `mma`, on random operands, against an evaluation that shares nothing with the
//! emulator: elements are placed by the formulas of the manual, one shape at a time, numbers are taken
//! apart as integers, and sums are integers, too.

mod float;
mod layout;
mod rows;
mod warp;
mod warpgroup;
mod wmma;

use float::{Format, Rule};
use layout::Shape;
use warp::{Random, Range, Warp};

/// Operands per form: enough that each rounding happens, cheap enough for every build.
const ROUNDS: u64 = 12;

fn floats(target: &str, form: &str, shape: Shape, a: Format, b: Format, wide: bool, rule: Rule) {
    let sums = if wide { 4 } else { 2 };
    let mut warp = Warp::new(target, form, shape.a_registers(), shape.b_registers(), sums);
    for round in 0..ROUNDS {
        let mut random = Random(round);
        // Some rounds of all bit patterns, most of numbers that are near each other.
        let range = match round % 4 {
            3 => Range::Any,
            2 => Range::Finite,
            _ => Range::NearOne,
        };
        warp.fill(|matrix, _| match matrix {
            'c' if wide => random.float(range),
            'c' => random.pair(&float::F16, range),
            'a' => random.word(&a, range),
            _ => random.word(&b, range),
        });
        let given = warp.run();
        for row in 0..16 {
            for column in 0..8 {
                let left: Vec<_> =
                    (0..shape.depth).map(|k| a.read(warp.element('a', shape.a(row, k)))).collect();
                let right: Vec<_> = (0..shape.depth)
                    .map(|k| b.read(warp.element('b', shape.b(k, column))))
                    .collect();
                let place = shape.c(row, column);
                let (c, d) = if wide {
                    (float::F32.read(warp.value('c', place)), given[place.lane][place.index])
                } else {
                    let half = |word: u32| word >> (16 * (place.index % 2)) & 0xffff;
                    let c = warp.word('c', place.lane, place.index / 2);
                    (float::F16.read(half(c)), half(given[place.lane][place.index / 2]))
                };
                let expected = rule.add(&left, &right, c, wide);
                assert!(
                    expected == d,
                    "{form}, round {round}, ({row}, {column}): {d:#x} where {expected:#x} is right"
                );
            }
        }
    }
}

const OLD: Rule = Rule { fraction: 24, steps: 2, converted: false };
const OLD_SHORT: Rule = Rule { fraction: 24, steps: 1, converted: false };
const NEW: Rule = Rule { fraction: 25, steps: 1, converted: false };
const HOPPER_FP8: Rule = Rule { fraction: 25, steps: 1, converted: true };

#[test]
fn half_precision() {
    use float::F16;
    for (target, long, short) in
        [("sm_80", OLD, OLD_SHORT), ("sm_90a", NEW, NEW), ("sm_120a", NEW, NEW)]
    {
        let f16 = |shape: &str, sum: &str| {
            format!("mma.sync.aligned.{shape}.row.col.{sum}.f16.f16.{sum}")
        };
        floats(target, &f16("m16n8k16", "f32"), layout::K16_BITS16, F16, F16, true, long);
        floats(target, &f16("m16n8k16", "f16"), layout::K16_BITS16, F16, F16, false, long);
        floats(target, &f16("m16n8k8", "f32"), layout::K8_BITS16, F16, F16, true, short);
        floats(target, &f16("m16n8k8", "f16"), layout::K8_BITS16, F16, F16, false, short);
    }
}

#[test]
fn brain_floats_and_tensor_floats() {
    use float::{BF16, TF32};
    for (target, long, short) in [("sm_80", OLD, OLD_SHORT), ("sm_100a", NEW, NEW)] {
        let bf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
        floats(target, bf16, layout::K16_BITS16, BF16, BF16, true, long);
        let bf16 = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32";
        floats(target, bf16, layout::K8_BITS16, BF16, BF16, true, short);
        let tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
        floats(target, tf32, layout::K8_BITS32, TF32, TF32, true, long);
        let tf32 = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32";
        floats(target, tf32, layout::K4_BITS32, TF32, TF32, true, short);
    }
}

#[test]
fn eight_bits_and_fewer() {
    use float::{E2M1, E2M3, E3M2, E4M3, E5M2};
    for (a, x) in [("e4m3", E4M3), ("e5m2", E5M2)] {
        for (b, y) in [("e4m3", E4M3), ("e5m2", E5M2)] {
            for (sum, wide) in [("f32", true), ("f16", false)] {
                let form = format!("mma.sync.aligned.m16n8k32.row.col.{sum}.{a}.{b}.{sum}");
                floats("sm_90a", &form, layout::K32_BITS8, x, y, wide, HOPPER_FP8);
                floats("sm_120a", &form, layout::K32_BITS8, x, y, wide, NEW);
                let form = format!("mma.sync.aligned.m16n8k16.row.col.{sum}.{a}.{b}.{sum}");
                floats("sm_90a", &form, layout::K16_BITS8, x, y, wide, HOPPER_FP8);
            }
        }
    }
    let all = [("e4m3", E4M3), ("e5m2", E5M2), ("e3m2", E3M2), ("e2m3", E2M3), ("e2m1", E2M1)];
    for (a, x) in all {
        for (b, y) in all {
            let form = format!("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{a}.{b}.f32");
            floats("sm_120a", &form, layout::K32_BITS8, x, y, true, NEW);
        }
    }
}

/// What is kept of a fragment is used only while all of its registers hold the same, in every lane.
#[test]
fn a_fragment_that_changes_is_taken_apart_anew() {
    use float::{BF16, E4M3, F16, TF32};
    let bytes = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32";
    for (form, shape, format) in [
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", layout::K8_BITS16, F16),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", layout::K16_BITS16, F16),
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", layout::K16_BITS16, BF16),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", layout::K8_BITS32, TF32),
        (bytes, layout::K32_BITS8, E4M3),
    ] {
        let (a, b) = (shape.a_registers(), shape.b_registers());
        let registers = (0..a).map(|r| format!("%a{r}")).chain((0..b).map(|r| format!("%b{r}")));
        for (at, register) in registers.enumerate() {
            let run = |flip: u32| {
                let change = format!(
                    "{{ .reg .pred %is; .reg .b32 %flip; setp.eq.u32 %is, %lane, {}; \
                     selp.b32 %flip, {flip}, 0, %is; xor.b32 {register}, {register}, %flip; }}",
                    11 * at % 32
                );
                let mut warp = Warp::new("sm_120a", form, a, b, 4).again("").again(&change);
                let mut random = Random(at as u64);
                warp.fill(|matrix, _| match matrix {
                    'c' => 0,
                    _ => random.word(&format, Range::NearOne),
                });
                warp.run()
            };
            assert_ne!(run(0), run(1 << 31), "{form}: a sign of {register}");
        }
    }
}

/// `m16n8k64` and `m16n8k32` with block scales: every selector, both spellings.
fn scaled(form: &str, shape: Shape, formats: [Format; 2], vectors: usize, scale: Format) {
    let [a, b] = formats;
    let selectors: Vec<_> = match vectors {
        1 => (0..4).flat_map(|byte| [(byte, 0), (byte, 1)]).collect(),
        2 => vec![(0, 0), (2, 1), (0, 1)],
        _ => vec![(0, 0), (0, 1)],
    };
    for (round, &(byte, thread)) in selectors.iter().enumerate() {
        let other = (byte, (thread + 2 * round) % 4);
        let mut warp =
            Warp::scaled(form, shape.a_registers(), shape.b_registers(), (byte, thread), other);
        for seed in 0..ROUNDS / 3 {
            let mut random = Random(seed + 100 * round as u64);
            let range = [Range::NearOne, Range::Finite, Range::Any, Range::NearOne][seed as usize];
            warp.fill(|matrix, _| match matrix {
                'c' => random.float(range),
                'a' => random.word(&a, range),
                'b' => random.word(&b, range),
                _ => random.scales(&scale, range),
            });
            let given = warp.run();
            for row in 0..16 {
                for column in 0..8 {
                    let place = shape.c(row, column);
                    let c = float::F32.read(warp.value('c', place));
                    let pick = |word: u32, v: usize| scale.read(word >> (8 * (byte + v)) & 0xff);
                    let scale_a = warp.word('s', 4 * (row % 8) + 2 * thread + row / 8, 0);
                    let scale_b = warp.word('t', 4 * column + other.1, 0);
                    let read = |matrix: char, format: &Format, place| {
                        format.read(warp.element(matrix, place))
                    };
                    let left: Vec<_> =
                        (0..shape.depth).map(|k| read('a', &a, shape.a(row, k))).collect();
                    let right: Vec<_> =
                        (0..shape.depth).map(|k| read('b', &b, shape.b(k, column))).collect();
                    let scales: Vec<_> =
                        (0..vectors).map(|v| (pick(scale_a, v), pick(scale_b, v))).collect();
                    let expected = if vectors == 1 {
                        NEW.add_scaled(&left, &right, c, scales[0])
                    } else {
                        float::add_groups(&left, &right, c, &scales)
                    };
                    let d = given[place.lane][place.index];
                    assert!(
                        expected == d,
                        "{form}, {round}/{seed}, ({row}, {column}): {d:#x}, not {expected:#x}"
                    );
                }
            }
        }
    }
}

#[test]
fn block_scaled_fp4() {
    use float::{E2M1_PACKED, UE4M3, UE8M0};
    let fp4 = [E2M1_PACKED, E2M1_PACKED];
    let k64 = layout::K64_BITS4;
    let tail = "f32.e2m1.e2m1.f32";
    let start = "mma.sync.aligned.m16n8k64.row.col";
    scaled(&format!("{start}.kind::mxf4.block_scale.{tail}.ue8m0"), k64, fp4, 2, UE8M0);
    // The other order, as CUTLASS writes it.
    let swapped = "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col";
    scaled(&format!("{swapped}.{tail}.ue8m0"), k64, fp4, 2, UE8M0);
    let nv = format!("{start}.kind::mxf4nvf4.block_scale");
    scaled(&format!("{nv}.scale_vec::2X.{tail}.ue8m0"), k64, fp4, 2, UE8M0);
    scaled(&format!("{nv}.scale_vec::4X.{tail}.ue4m3"), k64, fp4, 4, UE4M3);
    scaled(&format!("{nv}.scale_vec::4X.{tail}.ue8m0"), k64, fp4, 4, UE8M0);
}

#[test]
fn block_scaled_bytes() {
    use float::{E2M1, E2M3, E3M2, E4M3, E5M2, UE8M0};
    for (a, b, formats) in [
        ("e4m3", "e5m2", [E4M3, E5M2]),
        ("e2m1", "e2m1", [E2M1, E2M1]),
        ("e3m2", "e2m3", [E3M2, E2M3]),
    ] {
        let form = format!(
            "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.{a}.{b}.f32.ue8m0"
        );
        scaled(&form, layout::K32_BITS8, formats, 1, UE8M0);
    }
}

fn integers(form: &str, shape: Shape, a_signed: bool, b_signed: bool, saturate: bool) {
    let sums = shape.rows / 4;
    let mut warp = Warp::new("sm_80", form, shape.a_registers(), shape.b_registers(), sums);
    for round in 0..ROUNDS / 2 {
        let mut random = Random(round);
        warp.fill(|matrix, _| match matrix {
            // Near the ends of the range, so that sums leave it.
            'c' if round % 2 == 1 => i32::MAX.wrapping_add(random.next() as i32 % 512 - 100) as u32,
            _ => random.next() as u32,
        });
        let given = warp.run();
        let number = |signed: bool, bits: u32| {
            let shift = 32 - shape.bits as u32;
            if signed { i64::from((bits << shift) as i32 >> shift) } else { i64::from(bits) }
        };
        for row in 0..shape.rows {
            for column in 0..8 {
                let place = shape.c(row, column);
                let sum: i64 = (0..shape.depth)
                    .map(|k| {
                        let a = warp.element('a', shape.a(row, k));
                        let b = warp.element('b', shape.b(k, column));
                        number(a_signed, a) * number(b_signed, b)
                    })
                    .sum();
                let exact = sum + i64::from(warp.value('c', place) as i32);
                let bound = exact.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
                let expected = if saturate { bound } else { exact } as u32;
                assert_eq!(given[place.lane][place.index], expected, "{form} ({row}, {column})");
            }
        }
    }
}

#[test]
fn whole_numbers() {
    for (a, a_signed) in [("s", true), ("u", false)] {
        for (b, b_signed) in [("s", true), ("u", false)] {
            for (modifier, saturate) in [("", false), (".satfinite", true)] {
                for (shape, of) in [
                    ("m8n8k16", layout::M8_K16_BITS8),
                    ("m16n8k16", layout::K16_BITS8),
                    ("m16n8k32", layout::K32_BITS8),
                ] {
                    let form =
                        format!("mma.sync.aligned.{shape}.row.col{modifier}.s32.{a}8.{b}8.s32");
                    integers(&form, of, a_signed, b_signed, saturate);
                }
                for (shape, of) in [
                    ("m8n8k32", layout::M8_K32_BITS4),
                    ("m16n8k32", layout::K32_BITS4),
                    ("m16n8k64", layout::K64_BITS4),
                ] {
                    let form =
                        format!("mma.sync.aligned.{shape}.row.col{modifier}.s32.{a}4.{b}4.s32");
                    integers(&form, of, a_signed, b_signed, saturate);
                }
            }
        }
    }
}

#[test]
fn single_bits() {
    for (shape, of) in [
        ("m8n8k128", layout::M8_K128_BITS1),
        ("m16n8k128", layout::K128_BITS1),
        ("m16n8k256", layout::K256_BITS1),
    ] {
        for (product, f) in [("and", (|a, b| a & b) as fn(u32, u32) -> u32), ("xor", |a, b| a ^ b)]
        {
            let form = format!("mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{product}.popc");
            let sums = of.rows / 4;
            let mut warp = Warp::new("sm_80", &form, of.a_registers(), of.b_registers(), sums);
            let mut random = Random(1);
            warp.fill(|_, _| random.next() as u32);
            let given = warp.run();
            for row in 0..of.rows {
                for column in 0..8 {
                    let place = of.c(row, column);
                    let ones: u32 = (0..of.depth)
                        .map(|k| {
                            let a = warp.element('a', of.a(row, k));
                            f(a, warp.element('b', of.b(k, column)))
                        })
                        .sum();
                    let expected = warp.value('c', place).wrapping_add(ones);
                    assert_eq!(given[place.lane][place.index], expected, "{form}");
                }
            }
        }
    }
}

/// Doubles that a product and a sum of a few hundred leave exact, and one case that rounds.
#[test]
fn doubles() {
    for (shape, depth, rows) in
        [("m8n8k4", 4, 8), ("m16n8k4", 4, 16), ("m16n8k8", 8, 16), ("m16n8k16", 16, 16)]
    {
        let form = format!("mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64");
        let [a, b, c] = [rows * depth / 32, depth / 4, rows / 4];
        let mut warp = Warp::doubles(&form, a, b, c);
        let mut random = Random(7);
        warp.fill_doubles(|| (random.next() % 2001) as f64 - 1000.0);
        let given = warp.run();
        for row in 0..rows {
            for column in 0..8 {
                let at = |k: usize| 4 * (row % 8) + k % 4;
                let register = |k: usize| (k / 4) * (rows / 8) + row / 8;
                let place = (4 * (row % 8) + column / 2, 2 * (row / 8) + column % 2);
                let sum: f64 = (0..depth)
                    .map(|k| {
                        let a = warp.double('a', at(k), register(k));
                        a * warp.double('b', 4 * column + k % 4, k / 4)
                    })
                    .sum();
                let expected = sum + warp.double('c', place.0, place.1);
                let words = &given[place.0][2 * place.1..][..2];
                let d = f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32);
                assert_eq!(d, expected, "{form} ({row}, {column})");
            }
        }
    }
}

#[test]
fn infinities_and_nans() {
    let form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let mut warp = Warp::new("sm_90a", form, 4, 2, 4);
    // A is all ones but for row 0, which begins with infinity, and row 1, with NaN; B is ones.
    warp.fill(|matrix, (lane, register)| match (matrix, lane, register) {
        ('a', 0, 0) => 0x3c00_7c00,
        ('a', 4, 0) => 0x3c00_7e01,
        ('a' | 'b', ..) => 0x3c00_3c00,
        // C is -infinity at (0, 1).
        (_, 0, 1) => 0xff80_0000,
        _ => 0,
    });
    let given = warp.run();
    assert_eq!(given[0][0], f32::INFINITY.to_bits());
    assert_eq!(given[0][1], 0x7fff_ffff, "infinity less infinity");
    assert_eq!(given[4][0], 0x7fff_ffff, "NaN");
    assert_eq!(given[8][0], 16f32.to_bits(), "other rows do not notice");
}

#[test]
fn a_warp_that_is_not_whole_is_a_fault() {
    let form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
    let warp = Warp::new("sm_90a", form, 2, 1, 4);
    let fault = warp.run_with(20).expect_err("twelve lanes are missing");
    assert!(fault.contains("waits for the lanes 0xffffffff"), "{fault}");
}

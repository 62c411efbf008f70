//! `tcgen05.mma` in all kinds.

use super::case::{BF16, Case, E4M3, F16, I8, PACKED, SMALL, TF32};
use super::operand::Swizzle;
use crate::float::{self, Format};

#[test]
fn sixteen_bits() {
    for (format, code) in [(F16, 0), (BF16, 1)] {
        let case = Case::new("f16", format, code);
        (0..6).for_each(|round| case.check(round));
        Case { n: 256, ..case.clone() }.check(0);
        Case { n: 8, accumulate: false, ..case.clone() }.check(2);
        Case { negate: [true, false], ..case.clone() }.check(1);
        Case { negate: [true, true], ..case.clone() }.check(3);
    }
    let halves = Case { sums: 0, ..Case::new("f16", F16, 0) };
    (0..6).for_each(|round| halves.check(round));
}

#[test]
fn tensor_floats() {
    let case = Case::new("tf32", TF32, 2);
    (0..6).for_each(|round| case.check(round));
    let swizzle = [Swizzle::Atoms32; 2];
    Case { transposed: [true; 2], swizzle, ..case.clone() }.check(1);
    Case { transposed: [false, true], swizzle: [Swizzle::B128, Swizzle::Atoms32], ..case }.check(0);
}

#[test]
fn eight_bits_and_fewer() {
    for (round, (a, code_a)) in SMALL.into_iter().enumerate() {
        for (other, (b, code_b)) in SMALL.into_iter().enumerate() {
            let formats = [a, b];
            let types = [code_a, code_b];
            let case = Case { formats, types, ..Case::new("f8f6f4", a, code_a) };
            let rounds = [round + other, round + 2 * other + 1];
            rounds.into_iter().for_each(|round| case.check(round as u64));
            Case { sums: 0, ..case.clone() }.check(other as u64);
            Case { negate: [true, false], ..case }.check(1);
        }
    }
}

#[test]
fn whole_numbers() {
    for types in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let case = Case { types, sums: 2, ..Case::new("i8", I8, 0) };
        for round in [2, 5] {
            case.check(round);
            Case { extra: 1 << 3, ..case.clone() }.check(round);
        }
    }
}

#[test]
fn every_swizzle_in_both_directions() {
    let bytes = Case::new("f8f6f4", E4M3, 0);
    for swizzle in [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128] {
        for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
            for n in [64, 48] {
                let (transposed, swizzle) = ([a, b], [swizzle; 2]);
                // The last atom of N may be entered only in part.
                let f16 = Case { transposed, swizzle, n, ..Case::new("f16", F16, 0) };
                f16.check(1);
                Case { transposed, swizzle, n, ..bytes.clone() }.check(1);
            }
        }
    }
}

#[test]
fn block_scales_of_bytes() {
    for (round, (a, code)) in SMALL.into_iter().enumerate() {
        let (b, other) = SMALL[(round + 2) % 5];
        for first in 0..4 {
            let case = Case {
                formats: [a, b],
                types: [code, other],
                scales: Some((1, float::UE8M0, 1, [first, 3 - first])),
                ..Case::new("mxf8f6f4.block_scale", a, code)
            };
            (0..4).for_each(|more| case.check(round as u64 + more));
        }
    }
}

#[test]
fn block_scales_of_fp4() {
    let forms: [(&str, usize, Format, u32); 7] = [
        ("mxf4.block_scale", 2, float::UE8M0, 1),
        ("mxf4.block_scale.scale_vec::2X", 2, float::UE8M0, 1),
        ("mxf4.block_scale.block32", 2, float::UE8M0, 1),
        ("mxf4nvf4.block_scale.scale_vec::2X", 2, float::UE8M0, 1),
        ("mxf4nvf4.block_scale.scale_vec::4X", 4, float::UE4M3, 0),
        ("mxf4nvf4.block_scale.block16", 4, float::UE4M3, 0),
        ("mxf4nvf4.block_scale.scale_vec::4X", 4, float::UE8M0, 1),
    ];
    for (number, (kind, vectors, format, bit)) in forms.into_iter().enumerate() {
        for first in if vectors == 2 { vec![[0, 0], [2, 0], [0, 2]] } else { vec![[0, 0]] } {
            for round in 0..4 {
                let case = Case {
                    scales: Some((vectors, format, bit, first)),
                    n: [32, 128, 64, 200][round as usize],
                    accumulate: round != 1,
                    ..Case::new(kind, PACKED, 1)
                };
                case.check(round + number as u64);
            }
        }
    }
}

#[test]
fn sixty_four_rows() {
    for lane in [0, 16] {
        let case = Case { m: 64, lane, ..Case::new("f16", F16, 0) };
        case.check(0);
        Case { sums: 0, n: 256, ..case.clone() }.check(1);
        Case { a_in_tensor: true, ..case }.check(1);
    }
}

#[test]
fn a_from_tensor_memory() {
    for round in 0..3 {
        Case { a_in_tensor: true, ..Case::new("f16", F16, 0) }.check(round);
        Case { a_in_tensor: true, ..Case::new("tf32", TF32, 2) }.check(round);
        for (format, code) in SMALL {
            Case { a_in_tensor: true, ..Case::new("f8f6f4", format, code) }.check(round);
        }
        let scales = Some((4, float::UE4M3, 0, [0, 0]));
        let kind = "mxf4nvf4.block_scale.block16";
        Case { a_in_tensor: true, scales, ..Case::new(kind, PACKED, 1) }.check(round);
    }
}

#[test]
fn lanes_can_be_left_out_and_sums_divided() {
    let case = Case::new("f16", F16, 0);
    Case { masks: Some([1, 0, 0xffff_0000, 0x8000_0000]), ..case.clone() }.check(0);
    Case { masks: Some([0; 4]), ..case.clone() }.check(0);
    for shift in [1, 15] {
        Case { shift, ..case.clone() }.check(0);
        Case { shift, ..Case::new("tf32", TF32, 2) }.check(0);
    }
}

#[test]
fn weight_stationary_ones_deal_columns_to_lanes() {
    for (m, n) in [(32, 64), (32, 256), (64, 64), (64, 128), (128, 64)] {
        let case = Case { m, n, ws: true, ..Case::new("f16", F16, 0) };
        case.check(0);
        Case { a_in_tensor: true, ..case.clone() }.check(1);
        Case { m, n, ws: true, ..Case::new("f8f6f4", E4M3, 0) }.check(1);
    }
}

/// What is stored is multiplied by the elements of B that the metadata say.
#[test]
fn sparse_a() {
    for selector in [0, 1] {
        for (kind, format, code) in [("f16", F16, 0), ("f16", BF16, 1), ("tf32", TF32, 2)] {
            let case = Case { sparse: Some(selector), ..Case::new(kind, format, code) };
            (0..4).for_each(|round| case.check(round));
            Case { a_in_tensor: true, ..case.clone() }.check(1);
            for lane in [0, 16] {
                Case { m: 64, lane, ..case.clone() }.check(1);
            }
            Case { m: 64, n: 64, ws: true, ..case.clone() }.check(0);
            Case { m: 32, n: 128, ws: true, ..case }.check(1);
        }
    }
    let case = Case { sparse: Some(0), ..Case::new("f16", F16, 0) };
    Case { sums: 0, n: 256, ..case.clone() }.check(2);
    Case { transposed: [true; 2], ..case.clone() }.check(1);
    Case { negate: [true, false], ..case }.check(1);
}

#[test]
fn sparse_a_of_bytes_and_fewer_bits() {
    for (round, (a, code)) in SMALL.into_iter().enumerate() {
        let (b, other) = SMALL[(round + 3) % 5];
        let (formats, types) = ([a, b], [code, other]);
        let case = Case { sparse: Some(0), formats, types, ..Case::new("f8f6f4", a, code) };
        (0..4).for_each(|more| case.check(round as u64 + more));
        Case { m: 64, lane: 16, ..case.clone() }.check(1);
        Case { m: 32, n: 64, ws: true, ..case.clone() }.check(1);
        Case { a_in_tensor: true, ..case.clone() }.check(0);
        let scales = Some((1, float::UE8M0, 1, [round as u32 % 4, 1]));
        Case { kind: "mxf8f6f4.block_scale", scales, ..case }.check(round as u64);
    }
    for types in [[0, 1], [1, 0]] {
        Case { sparse: Some(0), types, sums: 2, ..Case::new("i8", I8, 0) }.check(2);
    }
    let forms: [(&str, usize, Format, u32); 3] = [
        ("mxf4.block_scale", 2, float::UE8M0, 1),
        ("mxf4nvf4.block_scale.block32", 2, float::UE8M0, 1),
        ("mxf4nvf4.block_scale.scale_vec::4X", 4, float::UE4M3, 0),
    ];
    for (kind, vectors, format, bit) in forms {
        let scales = Some((vectors, format, bit, [0, 0]));
        let case = Case { sparse: Some(0), scales, ..Case::new(kind, PACKED, 1) };
        (0..4).for_each(|round| case.check(round));
        Case { a_in_tensor: true, ..case }.check(1);
    }
}

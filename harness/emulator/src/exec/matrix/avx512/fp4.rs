//! Packed FP4 with block scales, 16 rows at a time (the rules: `block.rs`).
//!
//! As whole numbers of halves, E2M1 values are bytes from -12 to 12, and `vpdpbusd` adds the products of
//! four pairs of bytes to each of 16 words. It wants the first of a pair without a sign, so A is kept
//! 12 higher, and the sum begins at 12 times the sum of B less:
//!
//! ```text
//! word w of a row: elements k = 8·w … 8·w + 7, two in a byte; a group of 16 is two words
//! lower nibbles    k = 8·w, 8·w + 2, 8·w + 4, 8·w + 6      one vpdpbusd
//! upper nibbles    k = 8·w + 1, …                          another
//! ```
//!
//! A group's sum (12 bits) times its scales (two of at most 4 bits) is an exact `f32`. Cut off 35 bits below
//! the largest exponent it takes 64 bits, eight to a vector: that is where half of the time goes.

use std::arch::x86_64::*;

use super::{CUT, Lanes, all, every, exponent, halves, moderate, power, store, sums, tall};
use crate::exec::matrix::block::{FRACTION, GROUPS};
use crate::exec::matrix::element::ZERO_EXPONENT;
use crate::exec::matrix::fragment::{Operands, Register};
use crate::exec::matrix::{Multiply, Scale, ScaleFormat};

/// Exponents of `ue8m0` scales that are done here: products then stay far from the ends of `f32`.
const NEAR: i32 = 40;

/// K; of sparse A it is more.
const DEPTH: usize = 64;

/// By how much A is higher, in halves.
const BIAS: i8 = 12;

/// E2M1 values in halves, by code.
const HALVES: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// `HALVES` and more, for each of the four lanes of 128 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn table(more: i8) -> __m512i {
    // SAFETY: 16 bytes.
    let halves = unsafe { _mm_loadu_si128(HALVES.as_ptr().cast()) };
    _mm512_add_epi8(_mm512_broadcast_i32x4(halves), _mm512_set1_epi8(more))
}

/// The elements in lower and in upper nibbles, a byte each, by the codes of `table`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn nibbles(words: __m512i, table: __m512i) -> [__m512i; 2] {
    let mask = _mm512_set1_epi8(15);
    let low = _mm512_and_si512(words, mask);
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(words), mask);
    [_mm512_shuffle_epi8(table, low), _mm512_shuffle_epi8(table, high)]
}

/// Values of scales and the exponents they are aligned by (both floats), from the byte at bit `at` of words; or `None`
/// where one is NaN or far from 1.
#[inline]
#[target_feature(enable = "avx512f")]
fn scale(format: ScaleFormat, words: __m512i, at: u32) -> Option<(__m512, __m512)> {
    let byte = _mm512_srl_epi32(words, _mm_cvtsi32_si128(at as i32));
    match format {
        ScaleFormat::Ue8m0 => {
            let byte = _mm512_and_si512(byte, all(0xff));
            let exponent = _mm512_sub_epi32(byte, all(127));
            let far = _mm512_cmpgt_epi32_mask(_mm512_abs_epi32(exponent), all(NEAR));
            let value = _mm512_castsi512_ps(_mm512_slli_epi32::<23>(byte));
            (far == 0).then_some((value, _mm512_cvtepi32_ps(exponent)))
        }
        ScaleFormat::Ue4m3 => {
            let byte = _mm512_and_si512(byte, all(0x7f));
            let nan = _mm512_cmpeq_epi32_mask(byte, all(0x7f));
            let zero = _mm512_testn_epi32_mask(byte, byte);
            // Subnormals become normal by the conversion from an integer.
            let field = _mm512_srli_epi32::<3>(byte);
            let least = _mm512_max_epi32(field, all(1));
            let fraction = _mm512_and_si512(byte, all(7));
            let leading = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(field, field), all(8));
            let significand = _mm512_cvtepi32_ps(_mm512_or_si512(fraction, leading));
            let exponent = _mm512_cvtepi32_ps(_mm512_sub_epi32(least, all(7)));
            let value = _mm512_scalef_ps(significand, _mm512_sub_ps(exponent, every(3.0)));
            let exponent = _mm512_mask_mov_ps(exponent, zero, every(ZERO_EXPONENT as f32));
            (nan == 0).then_some((value, exponent))
        }
    }
}

/// Scale words of the 16 rows in the order of vectors, and of the eight columns, twice.
///
/// # Safety
/// `scales` must be valid.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn words(
    a: *const Register,
    thread_a: i32,
    b: *const Register,
    thread_b: i32,
) -> [__m512i; 2] {
    // SAFETY: by the contract.
    let [a, b] = unsafe { [halves(a), halves(b)] };
    // Row i + 4·z is q + 8·h with q = i + 4·(z mod 2), h = z / 2: lane 4·q + 2·s + h.
    let rows = _mm512_setr_epi32(0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    let columns = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    [
        _mm512_permutex2var_epi32(a[0], _mm512_add_epi32(rows, all(2 * thread_a)), a[1]),
        _mm512_permutex2var_epi32(b[0], _mm512_add_epi32(columns, all(thread_b)), b[1]),
    ]
}

/// # Safety
/// As for [`super::multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn multiply(form: &Multiply, operands: &Operands) -> bool {
    let Some(Scale { vectors, format }) = form.scale.filter(|_| form.depth == DEPTH) else {
        return false;
    };
    let &[scale_a, byte_a, thread_a, scale_b, byte_b, thread_b] = operands.scales else {
        return false;
    };
    // SAFETY: by the contract.
    let mut c = unsafe { sums(operands.c) };
    if !moderate(&c) {
        return false;
    }
    // Selectors are constants of the instruction, the same in every lane.
    // SAFETY: by the contract.
    let selector = |register: *const Register| unsafe { (*register).0[0] };
    let threads = [(selector(thread_a) & 1) as i32, (selector(thread_b) & 3) as i32];
    // SAFETY: by the contract.
    let [rows, columns] = unsafe { words(scale_a, threads[0], scale_b, threads[1]) };
    let byte = |first: u32, group: usize| 8 * ((first + (group * vectors / GROUPS) as u32) & 3);
    let zero = _mm512_setzero_si512();
    let mut left = [(_mm512_setzero_ps(), _mm512_setzero_ps()); GROUPS];
    let mut right = [([0.0f32; 16], [0.0f32; 16]); GROUPS];
    for group in 0..GROUPS {
        let a = scale(format, rows, byte(selector(byte_a), group));
        let b = scale(format, columns, byte(selector(byte_b), group));
        let (Some(a), Some((value, exponent))) = (a, b) else { return false };
        left[group] = a;
        // Products are quarters.
        let quarters = _mm512_mul_ps(value, every(0.25));
        // SAFETY: 16 floats each.
        unsafe {
            _mm512_storeu_ps(right[group].0.as_mut_ptr(), quarters);
            _mm512_storeu_ps(right[group].1.as_mut_ptr(), exponent);
        }
    }
    let mut a = [[zero; 2]; 8];
    let mut b = [[Lanes([0i32; 32]); 2]; 2];
    let mut begin = [Lanes([0i32; 32]); 2];
    for r in 0..2 {
        // SAFETY: by the contract.
        let rows = unsafe { tall(operands.a[2 * r], operands.a[2 * r + 1]) };
        for (t, word) in rows.into_iter().enumerate() {
            a[4 * r + t] = nibbles(word, table(BIAS));
        }
        // SAFETY: by the contract.
        for (half, words) in unsafe { halves(operands.b[r]) }.into_iter().enumerate() {
            let [low, high] = nibbles(words, table(0));
            let bias = _mm512_set1_epi8(BIAS);
            let excess = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(zero, bias, low), bias, high);
            let other = _mm512_shuffle_epi32::<0b10_11_00_01>(excess);
            let less = _mm512_sub_epi32(zero, _mm512_add_epi32(excess, other));
            // SAFETY: half of 32 lanes, aligned to 64 bytes.
            unsafe {
                let to = |lanes: &mut Lanes<i32>, vector| {
                    _mm512_store_si512(lanes.0.as_mut_ptr().add(16 * half).cast(), vector);
                };
                to(&mut b[r][0], low);
                to(&mut b[r][1], high);
                to(&mut begin[r], less);
            }
        }
    }
    for (column, c) in c.iter_mut().enumerate() {
        let mut largest = exponent(*c);
        for group in 0..GROUPS {
            let sum = _mm512_add_ps(left[group].1, every(right[group].1[column]));
            largest = _mm512_max_ps(largest, sum);
        }
        let up = _mm512_sub_ps(every(FRACTION as f32), largest);
        let align = power(up);
        let mut total = whole(_mm512_scalef_ps(*c, up));
        for group in 0..GROUPS {
            let (r, first) = (group / 2, 4 * column + group % 2 * 2);
            let mut dot = all(begin[r].0[first]);
            for word in 0..2 {
                for nibble in 0..2 {
                    let factor = all(b[r][nibble].0[first + word]);
                    dot = _mm512_dpbusd_epi32(dot, a[2 * group + word][nibble], factor);
                }
            }
            let scales = _mm512_mul_ps(left[group].0, every(right[group].0[column]));
            let exact = _mm512_mul_ps(_mm512_cvtepi32_ps(dot), scales);
            let cut = whole(_mm512_mul_ps(exact, align));
            total[0] = _mm512_add_epi64(total[0], cut[0]);
            total[1] = _mm512_add_epi64(total[1], cut[1]);
        }
        let low = _mm512_castps256_ps512(_mm512_cvt_roundepi64_ps::<CUT>(total[0]));
        let rounded = _mm512_insertf32x8::<1>(low, _mm512_cvt_roundepi64_ps::<CUT>(total[1]));
        let down = _mm512_sub_ps(largest, every(FRACTION as f32));
        *c = _mm512_scalef_round_ps::<CUT>(rounded, down);
    }
    // SAFETY: by the contract.
    unsafe { store(operands.d, &c) };
    true
}

/// Cut off to 64-bit integers.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn whole(x: __m512) -> [__m512i; 2] {
    [
        _mm512_cvttps_epi64(_mm512_castps512_ps256(x)),
        _mm512_cvttps_epi64(_mm512_extractf32x8_ps::<1>(x)),
    ]
}

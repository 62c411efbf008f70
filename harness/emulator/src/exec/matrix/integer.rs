//! Products of integers, of bits and of doubles: exact, or one `fma` after the other.

use super::Multiply;
use super::element::{BitProduct, Element};
use super::fragment::{self, Operands, Register, Sums};

/// Elements of a row of A at most.
const DEPTH: usize = 64;

/// # Safety
/// The operands must be valid registers, as many as `form` says.
#[inline(always)]
pub unsafe fn integers(form: &Multiply, operands: &Operands) {
    // SAFETY: by the contract.
    let (a, b, mut sums) = unsafe {
        (
            fragment::rows(operands.a, form.rows),
            fragment::columns(operands.b),
            fragment::sums(operands.c),
        )
    };
    let per_word = 32 / form.a.bits();
    let mut left = [[0i16; 16]; DEPTH];
    for k in 0..form.depth.min(DEPTH) {
        for row in 0..16 {
            left[k][row] = unpack(form.a, a[k / per_word][row], k % per_word);
        }
    }
    for column in 0..8 {
        let mut dot = [0i32; 16];
        for k in 0..form.depth.min(DEPTH) {
            let factor = unpack(form.b, b[column][k / per_word], k % per_word);
            for row in 0..16 {
                dot[row] += i32::from(left[k][row]) * i32::from(factor);
            }
        }
        for row in 0..16 {
            let c = sums[column][row] as i32;
            let saturated = c.saturating_add(dot[row]);
            let wrapped = c.wrapping_add(dot[row]);
            sums[column][row] = if form.saturate { saturated } else { wrapped } as u32;
        }
    }
    // SAFETY: by the contract.
    unsafe { fragment::store_sums(operands.d, &sums) };
}

#[inline(always)]
fn unpack(element: Element, word: u32, part: usize) -> i16 {
    match element {
        Element::S8 => i16::from((word >> (8 * part)) as i8),
        Element::U8 => i16::from((word >> (8 * part)) as u8),
        Element::S4 => i16::from((word >> (4 * part) << 4) as i8 >> 4),
        _ => (word >> (4 * part) & 15) as i16,
    }
}

/// `and` or `xor`, and the number of ones.
///
/// # Safety
/// As for [`integers`].
pub unsafe fn bits(form: &Multiply, operands: &Operands) {
    // SAFETY: by the contract.
    let (a, b, mut sums) = unsafe {
        (
            fragment::rows(operands.a, form.rows),
            fragment::columns(operands.b),
            fragment::sums(operands.c),
        )
    };
    let product = |a: u32, b: u32| match form.a {
        Element::Bits(BitProduct::Xor) => a ^ b,
        _ => a & b,
    };
    for column in 0..8 {
        for row in 0..16 {
            let ones = (0..form.depth / 32).map(|w| product(a[w][row], b[column][w]).count_ones());
            sums[column][row] = sums[column][row].wrapping_add(ones.sum());
        }
    }
    // SAFETY: by the contract.
    unsafe { fragment::store_sums(operands.d, &sums) };
}

/// Doubles: `fma` along K, in order, in the rounding of the modifier (PTX ISA 9.7.14.5.14).
///
/// # Safety
/// As for [`integers`].
pub unsafe fn doubles(form: &Multiply, operands: &Operands) {
    // SAFETY: by the contract, here and below.
    let read = |register: *const Register| unsafe { *register.cast::<[f64; 32]>() };
    let blocks = form.rows / 8;
    let mut a = [[0.0f64; 16]; 16];
    for (r, &register) in operands.a.iter().enumerate() {
        for (lane, value) in read(register).into_iter().enumerate() {
            a[lane % 4 + 4 * (r / blocks)][lane / 4 + 8 * (r % blocks)] = value;
        }
    }
    let mut b = [[0.0f64; 16]; 8];
    for (r, &register) in operands.b.iter().enumerate() {
        for (lane, value) in read(register).into_iter().enumerate() {
            b[lane / 4][lane % 4 + 4 * r] = value;
        }
    }
    let mut sums: Sums<f64> = [[0.0; 16]; 8];
    let place = |i: usize, lane: usize| (2 * (lane % 4) + i % 2, lane / 4 + 8 * (i / 2));
    for (i, &register) in operands.c.iter().enumerate() {
        for (lane, value) in read(register).into_iter().enumerate() {
            let (column, row) = place(i, lane);
            sums[column][row] = value;
        }
    }
    for column in 0..8 {
        for row in 0..form.rows {
            for k in 0..form.depth {
                let sum = sums[column][row];
                sums[column][row] =
                    crate::isa::exact::fma(form.rounding, a[k][row], b[column][k], sum);
            }
        }
    }
    for (i, &register) in operands.d.iter().enumerate() {
        let mut lanes = [0.0f64; 32];
        for (lane, value) in lanes.iter_mut().enumerate() {
            let (column, row) = place(i, lane);
            let sum = sums[column][row];
            *value = if sum.is_nan() { f64::from_bits(0x7fff_ffff_ffff_ffff) } else { sum };
        }
        // SAFETY: by the contract.
        unsafe { *register.cast() = lanes };
    }
}

//! `mma.m8n8k4` of `f16`: four products of 8×4 by 4×8, each by four lanes of the lower half of the warp
//! and the four 16 lanes above (PTX ISA 9.7.14.5.1). Volta's shape; later cards run it slowly, and so
//! does this.

use super::Multiply;
use super::dot::{one, settle, unpack};
use super::element::{Accumulator, Element, term};
use super::fragment::{Operands, Register};

/// # Safety
/// The operands must be valid registers, as many as `form` says.
#[cold]
#[inline(never)]
pub unsafe fn multiply(form: &Multiply, operands: &Operands) {
    // SAFETY: by the contract, here and below.
    let read = |register: *const Register| unsafe { (*register).0 };
    let (a, b): (Vec<_>, Vec<_>) = (
        operands.a.iter().map(|&register| read(register)).collect(),
        operands.b.iter().map(|&register| read(register)).collect(),
    );
    let c: Vec<_> = operands.c.iter().map(|&register| read(register)).collect();
    let half = |registers: &[[u32; 32]], lane: usize, i: usize| {
        (registers[i / 2][lane] >> (16 * (i % 2))) as u16
    };
    let wide = |accumulator| accumulator == Accumulator::F32;
    // Lane and element where (row, column) of an accumulator stands.
    let place = |quad: usize, row: usize, column: usize, wide: bool| {
        let high = 16 * (row / 4) + 4 * quad;
        if wide {
            let lane = (row & 1) | (column & 2);
            (high + lane, (column & 4) | (row & 2) | (column & 1))
        } else {
            (high + row % 4, column)
        }
    };
    let mut out = vec![[0u32; 32]; operands.d.len()];
    for quad in 0..4 {
        let factor = |registers: &[[u32; 32]], at: usize, k: usize, along_k: bool| {
            let (lane, i) = if along_k { (at % 4, k) } else { (k, at % 4) };
            half(registers, 16 * (at / 4) + 4 * quad + lane, i)
        };
        for row in 0..8 {
            for column in 0..8 {
                let terms: Vec<_> = (0..4)
                    .map(|k| {
                        let a = factor(&a, row, k, !form.columns[0]);
                        let b = factor(&b, column, k, form.columns[1]);
                        let a = unpack(Element::F16, u32::from(a), 0);
                        let b = unpack(Element::F16, u32::from(b), 0);
                        (f64::from(a.value) * f64::from(b.value), a.exponent + b.exponent)
                    })
                    .collect();
                let (lane, i) = place(quad, row, column, wide(form.c));
                let c = if wide(form.c) {
                    term(f32::from_bits(c[i][lane]), -126)
                } else {
                    term(formats::f16::decode(half(&c, lane, i)), -14)
                };
                let exact = one(form.rule, terms.into_iter(), 0, (c.value, c.exponent));
                let sum = settle(exact, form.d);
                let (lane, i) = place(quad, row, column, wide(form.d));
                if wide(form.d) {
                    out[i][lane] = sum.to_bits();
                } else {
                    out[i / 2][lane] |= u32::from(formats::f16::encode(sum)) << (16 * (i % 2));
                }
            }
        }
    }
    for (register, lanes) in operands.d.iter().zip(&out) {
        // SAFETY: by the contract.
        unsafe { (**register).0 = *lanes };
    }
}

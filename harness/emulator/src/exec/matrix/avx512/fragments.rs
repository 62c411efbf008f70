//! Fragments of A and B, taken apart, and kept for as long as their registers hold the same.
//!
//! To take both apart is a fifth of the time of a product, and kernels use each fragment with several of the
//! other matrix: with a warp's tile of 2 × 4 products, every A four times and every B twice. So
//! what was made of a register is kept beside a copy of it, in a place that the register's number
//! chooses, and used if the copy is equal still. To compare is nine instructions for A and five for B.

use std::arch::x86_64::*;

use super::elements::Kind;
use super::left::Left;
use super::right::Right;
use super::{all, halves};
use crate::exec::matrix::element::Element;
use crate::exec::matrix::fragment::{Operands, Register};

/// Most elements in a row of A.
pub const DEPTH: usize = 64;

/// Fragments of A, and of B, that are kept.
const KEPT: [usize; 2] = [4, 8];

/// What registers held, and as which elements they were taken apart.
#[derive(Clone, Copy)]
pub struct Origin<const VECTORS: usize> {
    element: Option<Element>,
    /// Vectors in use, two for a register.
    used: usize,
    registers: [__m512i; VECTORS],
}

/// What one host thread keeps.
pub struct Fragments {
    left: [Left; KEPT[0]],
    right: [Right; KEPT[1]],
}

impl<const VECTORS: usize> Origin<VECTORS> {
    pub fn none() -> Self {
        // SAFETY: zeros are vectors.
        Self { element: None, used: 0, registers: unsafe { std::mem::zeroed() } }
    }

    pub fn forget(&mut self) {
        self.element = None;
    }

    /// Whether the registers still hold these elements.
    ///
    /// # Safety
    /// `registers` must be valid.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub unsafe fn is(&self, element: Element, registers: &[*const Register]) -> bool {
        if self.element != Some(element) || self.used != 2 * registers.len() {
            return false;
        }
        let mut different = all(0);
        for (kept, &register) in self.registers.chunks_exact(2).zip(registers) {
            // SAFETY: by the contract.
            let [low, high] = unsafe { halves(register) };
            // different | (kept ^ held)
            different = _mm512_ternarylogic_epi32::<0xf6>(different, kept[0], low);
            different = _mm512_ternarylogic_epi32::<0xf6>(different, kept[1], high);
        }
        _mm512_test_epi32_mask(different, different) == 0
    }

    /// # Safety
    /// `registers` must be valid.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub unsafe fn keep(&mut self, element: Element, registers: &[*const Register]) {
        self.element = Some(element);
        self.used = 2 * registers.len();
        for (kept, &register) in self.registers.chunks_exact_mut(2).zip(registers) {
            // SAFETY: by the contract.
            kept.copy_from_slice(&unsafe { halves(register) });
        }
    }
}

impl Fragments {
    /// None yet. Not a part of its callers, whose stack it would take.
    #[cold]
    #[inline(never)]
    pub fn none() -> Box<Self> {
        let (left, right) = (Left::none(), Right::none());
        Box::new(Self { left: [left; KEPT[0]], right: [right; KEPT[1]] })
    }

    /// A and B, taken apart, unless one has infinities, NaN or numbers far from 1.
    ///
    /// # Safety
    /// The operands must be valid: eight, four or two of A, and half as many of B.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub unsafe fn both(
        &mut self,
        elements: [Element; 2],
        operands: &Operands,
    ) -> Option<(&Left, &Right)> {
        // SAFETY: passed on.
        unsafe {
            match Kind::of(elements[0]) {
                Kind::Half => self.of::<{ Kind::Half as usize }>(elements, operands),
                Kind::Byte => self.of::<{ Kind::Byte as usize }>(elements, operands),
                Kind::Brain => self.of::<{ Kind::Brain as usize }>(elements, operands),
                Kind::Single => self.of::<{ Kind::Single as usize }>(elements, operands),
            }
        }
    }

    /// The same of elements of a kind, by its number: so that each is compiled for itself.
    ///
    /// # Safety
    /// As for [`Self::both`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn of<const KIND: usize>(
        &mut self,
        [of_a, of_b]: [Element; 2],
        Operands { a, b, .. }: &Operands,
    ) -> Option<(&Left, &Right)> {
        let left = &mut self.left[place(a, 4, KEPT[0])];
        let right = &mut self.right[place(b, 2, KEPT[1])];
        // SAFETY: by the contract.
        let ready = unsafe {
            (left.origin.is(of_a, a) || left.fill::<KIND>(of_a, a))
                && (right.origin.is(of_b, b) || right.fill::<KIND>(of_b, b))
        };
        ready.then_some((left, right))
    }
}

/// Which of `kept` is for fragments of `size` registers. As many that follow each other, or that leave room
/// for as much again between them, as registers of sparse products do, have different ones.
fn place(registers: &[*const Register], size: usize, kept: usize) -> usize {
    let number = registers.first().map_or(0, |&register| register as usize / (128 * size));
    (number ^ (number / kept)) % kept
}

//! A, taken apart.

use std::arch::x86_64::*;

use super::elements::{Distances, Kind, are_near, values, widened};
use super::fragments::{DEPTH, Origin};
use super::{all, tall};
use crate::exec::matrix::element::Element;
use crate::exec::matrix::fragment::Register;

/// A by elements `k` of its rows.
#[derive(Clone, Copy)]
pub struct Left {
    pub origin: Origin<16>,
    pub values: [__m512; DEPTH],
    /// The byte of the exponent four times over, for four columns at once.
    pub exponents: [__m512i; DEPTH],
}

impl Left {
    /// Of nothing yet.
    pub fn none() -> Self {
        // SAFETY: zeros are vectors.
        let (zero, zeros) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        Self { origin: Origin::none(), values: [zeros; DEPTH], exponents: [zero; DEPTH] }
    }

    /// # Safety
    /// As for [`super::Fragments::both`].
    #[target_feature(enable = "avx512f,avx512bw")]
    pub unsafe fn fill<const KIND: usize>(
        &mut self,
        element: Element,
        registers: &[*const Register],
    ) -> bool {
        let kind = Kind::ALL[KIND];
        // The lower bytes of a word's halves, for all bytes of a word.
        let copies = |byte: i32| {
            let four = |word: i32| (4 * word + byte) * 0x0101_0101;
            _mm512_set4_epi32(four(3), four(2), four(1), four(0))
        };
        let copies = [copies(0), copies(2)];
        let mut furthest = all(0);
        for (r, pair) in registers.chunks_exact(2).enumerate() {
            // SAFETY: by the contract.
            let words = unsafe { tall(pair[0], pair[1]) };
            for (t, word) in words.into_iter().enumerate() {
                for (p, word) in
                    widened(kind, element, word).into_iter().take(kind.parts()).enumerate()
                {
                    let distances = Distances::of(kind, word);
                    furthest = distances.furthest(furthest);
                    let bytes = distances.of_a();
                    let values = values(kind, word);
                    let first = kind.run() * (r * kind.parts() + p);
                    for h in kind.first_half()..2 {
                        let k = (first + kind.place(t, h)) % DEPTH;
                        self.values[k] = values[h];
                        self.exponents[k] = _mm512_shuffle_epi8(bytes, copies[h]);
                    }
                }
            }
        }
        self.origin.forget();
        let near = are_near(kind, furthest);
        if near {
            // SAFETY: by the contract.
            unsafe { self.origin.keep(element, registers) };
        }
        near
    }
}

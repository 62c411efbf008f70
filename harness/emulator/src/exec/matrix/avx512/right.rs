//! B, taken apart: its elements are read one by one, for all rows, so they stand in memory by columns.

use std::arch::x86_64::*;

use super::elements::{Distances, Kind, are_near, values, widened};
use super::fragments::{DEPTH, Origin};
use super::{all, halves};
use crate::exec::matrix::element::Element;
use crate::exec::matrix::fragment::Register;

/// B by elements `k` of its columns.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Right {
    /// Element `8·i + j` of column `n` is `[i][n][j]`.
    pub values: [[[f32; 8]; 8]; DEPTH / 8],
    /// The bytes of columns 0 to 3, and of 4 to 7.
    pub exponents: [[u32; DEPTH]; 2],
    pub origin: Origin<8>,
}

impl Right {
    /// Of nothing yet.
    pub fn none() -> Self {
        Self {
            values: [[[0.0; 8]; 8]; DEPTH / 8],
            exponents: [[0; DEPTH]; 2],
            origin: Origin::none(),
        }
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
        let mut furthest = all(0);
        for group in 0..2 {
            // Words that make eight elements each, or four, for four columns.
            let mut words = [all(0); 8];
            for (r, &register) in registers.iter().enumerate().take(4) {
                // SAFETY: by the contract.
                let word = unsafe { halves(register) }[group];
                for (p, word) in
                    widened(kind, element, word).into_iter().take(kind.parts()).enumerate()
                {
                    words[r * kind.parts() + p] = word;
                }
            }
            let count = registers.len() * kind.parts();
            for (pair, words) in words.chunks_exact(2).take(count.div_ceil(2)).enumerate() {
                self.put(kind, group, pair, [words[0], words[1]]);
                let even = Distances::of(kind, words[0]);
                let odd = Distances::of(kind, words[1]);
                furthest = odd.furthest(even.furthest(furthest));
                let odd = _mm512_slli_epi16::<8>(odd.of_b());
                let bytes = _mm512_or_si512(even.of_b(), odd);
                self.arrange(kind, group, pair, bytes);
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

    /// Numbers of four columns.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn put(&mut self, kind: Kind, group: usize, pair: usize, words: [__m512i; 2]) {
        let mut store = |i: usize, half: usize, eights: __m512| {
            let columns = &mut self.values[i % (DEPTH / 8)][4 * group + 2 * half..][..2];
            // SAFETY: 16 floats.
            unsafe { _mm512_storeu_ps(columns.as_mut_ptr().cast(), eights) };
        };
        match kind {
            Kind::Half | Kind::Byte => {
                for (at, word) in words.into_iter().enumerate() {
                    let lower = _mm512_cvtph_ps(_mm512_castsi512_si256(word));
                    let upper = _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(word));
                    store(2 * pair + at, 0, lower);
                    store(2 * pair + at, 1, upper);
                }
            }
            Kind::Brain => {
                for (at, word) in words.into_iter().enumerate() {
                    let [lower, upper] = values(kind, word);
                    let [first, second] = fours(lower, upper);
                    store(2 * pair + at, 0, first);
                    store(2 * pair + at, 1, second);
                }
            }
            Kind::Single => {
                let [first, second] =
                    fours(_mm512_castsi512_ps(words[0]), _mm512_castsi512_ps(words[1]));
                store(pair, 0, first);
                store(pair, 1, second);
            }
        }
    }

    /// Exponents of four columns. Lane `4·n + t` has four bytes of column `n`, from the halves `h` of
    /// two words `w`: byte `2·h + w`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn arrange(&mut self, kind: Kind, group: usize, pair: usize, bytes: __m512i) {
        let in_lanes = |bytes: __m512i, order: [u8; 16]| {
            // SAFETY: 16 bytes.
            let order = unsafe { _mm_loadu_si128(order.as_ptr().cast()) };
            _mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(order))
        };
        // Of a column, its 16 bytes in the order of elements; then words of a column by words of all;
        // then four bytes of each of four columns by columns of each.
        let across = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        let words = _mm512_permutexvar_epi32(across, in_lanes(bytes, order(kind)));
        let columns = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        // Of `tf32` a pair makes eight elements; what is stored behind them, the next one overwrites.
        let first = 2 * kind.run() * (pair % (DEPTH / 16));
        let exponents = &mut self.exponents[group][first..][..16];
        // SAFETY: 16 words.
        unsafe {
            _mm512_storeu_si512(exponents.as_mut_ptr().cast(), in_lanes(words, columns));
        }
    }
}

/// Where the bytes of a column stand before they are in the order of elements ([`Right::arrange`]).
const fn order(kind: Kind) -> [u8; 16] {
    let mut order = [0; 16];
    let mut at = 0;
    while at < 16 {
        let (w, t, h) = (at / 8, at / 2 % 4, at % 2);
        if h >= kind.first_half() {
            order[kind.run() * w + kind.place(t, h)] = (4 * t + 2 * h + w) as u8;
        }
        at += 1;
    }
    order
}

/// Groups of four lanes, alternating.
#[inline]
#[target_feature(enable = "avx512f")]
fn fours(x: __m512, y: __m512) -> [__m512; 2] {
    let (x, y) = (_mm512_castps_pd(x), _mm512_castps_pd(y));
    let first = _mm512_permutex2var_pd(x, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), y);
    let second = _mm512_permutex2var_pd(x, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), y);
    [_mm512_castpd_ps(first), _mm512_castpd_ps(second)]
}

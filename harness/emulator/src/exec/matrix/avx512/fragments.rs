//! Fragments of A and B, taken apart, and kept for as long as their registers hold the same.
//!
//! To take both apart is a fifth of the time of a product, and kernels use each fragment with several of the
//! other matrix: with a warp's tile of 2 × 4 products, every A four times and every B twice. So
//! what was made of a register is kept beside a copy of it, in a place that the register's number
//! chooses, and used if the copy is equal still. To compare is nine instructions for A and five for B.

use std::arch::x86_64::*;

use super::elements::{Distances, Kind, are_near, widened};
use super::{all, halves, tall};
use crate::exec::Core;
use crate::exec::matrix::element::Element;
use crate::exec::matrix::fragment::Operands;
use crate::program::Slot;

/// Most elements in a row of A.
pub const DEPTH: usize = 32;

/// Fragments of A, and of B, that are kept.
const KEPT: [usize; 2] = [4, 8];

/// What registers held, and as which elements they were taken apart.
#[derive(Clone, Copy)]
struct Origin<const VECTORS: usize> {
    element: Option<Element>,
    /// Vectors in use, two for a register.
    used: usize,
    registers: [__m512i; VECTORS],
}

/// A by elements `k` of its rows.
#[derive(Clone, Copy)]
pub struct Left {
    origin: Origin<8>,
    pub values: [__m512; DEPTH],
    /// The byte of the exponent four times over, for four columns at once.
    pub exponents: [__m512i; DEPTH],
}

/// B by elements `k` of its columns.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Right {
    /// Element `8·i + j` of column `n` is `[i][n][j]`.
    pub values: [[[f32; 8]; 8]; DEPTH / 8],
    /// The bytes of columns 0 to 3, and of 4 to 7.
    pub exponents: [[u32; DEPTH]; 2],
    origin: Origin<4>,
}

/// What one host thread keeps.
pub struct Fragments {
    left: [Left; KEPT[0]],
    right: [Right; KEPT[1]],
}

impl<const VECTORS: usize> Origin<VECTORS> {
    /// Whether the registers still hold these elements.
    ///
    /// # Safety
    /// `slots` must be registers of the warp.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn is(&self, core: &Core, element: Element, slots: &[Slot]) -> bool {
        if self.element != Some(element) || self.used != 2 * slots.len() {
            return false;
        }
        let mut different = all(0);
        for (kept, &slot) in self.registers.chunks_exact(2).zip(slots) {
            // SAFETY: by the contract.
            let [low, high] = unsafe { halves(core, slot) };
            // different | (kept ^ held)
            different = _mm512_ternarylogic_epi32::<0xf6>(different, kept[0], low);
            different = _mm512_ternarylogic_epi32::<0xf6>(different, kept[1], high);
        }
        _mm512_test_epi32_mask(different, different) == 0
    }

    /// # Safety
    /// `slots` must be registers of the warp.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn keep(&mut self, core: &Core, element: Element, slots: &[Slot]) {
        self.element = Some(element);
        self.used = 2 * slots.len();
        for (kept, &slot) in self.registers.chunks_exact_mut(2).zip(slots) {
            // SAFETY: by the contract.
            kept.copy_from_slice(&unsafe { halves(core, slot) });
        }
    }
}

impl Fragments {
    /// None yet. Not a part of its callers, whose stack it would take.
    #[cold]
    #[inline(never)]
    pub fn none() -> Box<Self> {
        // SAFETY: zeros are vectors.
        let (zero, zeros) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        let left = Left {
            origin: Origin { element: None, used: 0, registers: [zero; 8] },
            values: [zeros; DEPTH],
            exponents: [zero; DEPTH],
        };
        let right = Right {
            values: [[[0.0; 8]; 8]; DEPTH / 8],
            exponents: [[0; DEPTH]; 2],
            origin: Origin { element: None, used: 0, registers: [zero; 4] },
        };
        Box::new(Self { left: [left; KEPT[0]], right: [right; KEPT[1]] })
    }

    /// A and B, taken apart, unless one has infinities, NaN or numbers far from 1.
    ///
    /// # Safety
    /// The operands must be registers of the warp: four or two of A, and half as many of B.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub unsafe fn both(
        &mut self,
        core: &Core,
        elements: [Element; 2],
        operands: &Operands,
    ) -> Option<(&Left, &Right)> {
        // SAFETY: passed on.
        unsafe {
            match Kind::of(elements[0]) {
                Kind::Half => self.of::<{ Kind::Half as usize }>(core, elements, operands),
                Kind::Byte => self.of::<{ Kind::Byte as usize }>(core, elements, operands),
                Kind::Brain => self.of::<{ Kind::Brain as usize }>(core, elements, operands),
                Kind::Single => self.of::<{ Kind::Single as usize }>(core, elements, operands),
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
        core: &Core,
        [of_a, of_b]: [Element; 2],
        Operands { a, b, .. }: &Operands,
    ) -> Option<(&Left, &Right)> {
        let left = &mut self.left[place(a, 4) % KEPT[0]];
        let right = &mut self.right[place(b, 2) % KEPT[1]];
        // SAFETY: by the contract.
        let ready = unsafe {
            (left.origin.is(core, of_a, a) || left.fill::<KIND>(core, of_a, a))
                && (right.origin.is(core, of_b, b) || right.fill::<KIND>(core, of_b, b))
        };
        ready.then_some((left, right))
    }
}

/// A number for fragments of `size` registers each, the next one for those that follow them.
fn place(slots: &[Slot], size: usize) -> usize {
    slots.first().map_or(0, |&slot| slot as usize / (128 * size))
}

impl Left {
    /// # Safety
    /// As for [`Fragments::both`].
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn fill<const KIND: usize>(
        &mut self,
        core: &Core,
        element: Element,
        slots: &[Slot],
    ) -> bool {
        let kind = Kind::ALL[KIND];
        // The lower bytes of a word's halves, for all bytes of a word.
        let copies = |byte: i32| {
            let four = |word: i32| (4 * word + byte) * 0x0101_0101;
            _mm512_set4_epi32(four(3), four(2), four(1), four(0))
        };
        let copies = [copies(0), copies(2)];
        let mut furthest = all(0);
        for (r, pair) in slots.chunks_exact(2).enumerate() {
            // SAFETY: by the contract.
            let words = unsafe { tall(core, pair[0], pair[1]) };
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
        self.origin.element = None;
        let near = are_near(kind, furthest);
        if near {
            // SAFETY: by the contract.
            unsafe { self.origin.keep(core, element, slots) };
        }
        near
    }
}

/// The numbers of the lower and the upper halves of words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn values(kind: Kind, word: __m512i) -> [__m512; 2] {
    match kind {
        Kind::Half | Kind::Byte => {
            // SAFETY: 64 bytes.
            let order = unsafe { _mm512_loadu_si512(SPLIT.as_ptr().cast()) };
            let split = _mm512_permutexvar_epi16(order, word);
            [
                _mm512_cvtph_ps(_mm512_castsi512_si256(split)),
                _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(split)),
            ]
        }
        Kind::Brain => {
            let upper = _mm512_and_si512(word, all(0xffff_0000_u32 as i32));
            let lower = _mm512_slli_epi32::<16>(word);
            [_mm512_castsi512_ps(lower), _mm512_castsi512_ps(upper)]
        }
        Kind::Single => [_mm512_castsi512_ps(word); 2],
    }
}

impl Right {
    /// # Safety
    /// As for [`Fragments::both`].
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn fill<const KIND: usize>(
        &mut self,
        core: &Core,
        element: Element,
        slots: &[Slot],
    ) -> bool {
        let kind = Kind::ALL[KIND];
        let mut furthest = all(0);
        for group in 0..2 {
            // Words that make eight elements each, or four, for four columns.
            let mut words = [all(0); 4];
            for (r, &slot) in slots.iter().enumerate().take(2) {
                // SAFETY: by the contract.
                let word = unsafe { halves(core, slot) }[group];
                for (p, word) in
                    widened(kind, element, word).into_iter().take(kind.parts()).enumerate()
                {
                    words[r * kind.parts() + p] = word;
                }
            }
            let count = slots.len() * kind.parts();
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
        self.origin.element = None;
        let near = are_near(kind, furthest);
        if near {
            // SAFETY: by the contract.
            unsafe { self.origin.keep(core, element, slots) };
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
                store(0, 0, first);
                store(0, 1, second);
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
        let exponents = &mut self.exponents[group][16 * (pair % 2)..][..16];
        // SAFETY: 16 words.
        unsafe {
            _mm512_storeu_si512(exponents.as_mut_ptr().cast(), in_lanes(words, columns));
        }
    }
}

/// The halves of words, lower ones first.
static SPLIT: [u16; 32] = {
    let mut split = [0; 32];
    let mut lane = 0;
    while lane < 32 {
        split[lane] = (2 * (lane % 16) + lane / 16) as u16;
        lane += 1;
    }
    split
};

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

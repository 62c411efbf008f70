//! A and B, on their way from where they lie to the registers of an `mma`.
//!
//! What one `tcgen05.mma` multiplies is 32 bytes of K wide, as is an `mma.m16n8`, and it is added up as one
//! does it. So M × N is cut in tiles of 16 × 8, and each goes through the engine of `mma` (`exec::matrix`), with
//! registers made for it: of A four for each band of 16 rows, of B two for each group of eight columns. Sparse A is made
//! dense, and has twice as many, as has B.

use crate::exec::matrix::{EXPANDED, Element, Matrix, Present, Register, expand};

/// Rows or columns of a register, and words of 32 bits that each has in it.
const ROWS: usize = 8;
const WORDS: usize = 4;

const ZERO: Register = Register([0; 32]);

/// Registers of the tiles.
pub struct Registers {
    /// By bands of 16 rows.
    pub a: [[Register; EXPANDED]; 8],
    /// Of sparse A, the elements that are there.
    pub present: [Present; 8],
    /// By groups of eight columns.
    pub b: [[Register; EXPANDED / 2]; 32],
    /// C and D of one tile.
    pub sums: [Register; 4],
    /// Scales by bands.
    pub scales_a: [Register; 8],
    /// Scales by the lanes of each warp, and groups of columns.
    pub scales_b: [[Register; 32]; 4],
    /// Constants 0 to 3.
    pub selectors: [Register; 4],
}

impl Registers {
    pub fn new() -> Box<Self> {
        Box::new(Self {
            a: [[ZERO; EXPANDED]; 8],
            present: [[0; 64]; 8],
            b: [[ZERO; EXPANDED / 2]; 32],
            sums: [ZERO; 4],
            scales_a: [ZERO; 8],
            scales_b: [[ZERO; 32]; 4],
            selectors: std::array::from_fn(|value| Register([value as u32; 32])),
        })
    }

    /// Word `word` of row `row` of band `band` of A.
    pub fn word_of_a(&mut self, band: usize, row: usize, word: usize) -> &mut u32 {
        let register = 2 * (word / WORDS) + row / ROWS;
        &mut self.a[band][register].0[WORDS * (row % ROWS) + word % WORDS]
    }

    /// Make band `band` of A, whose elements of `bits` are stored in its first registers, dense.
    pub fn expand(&mut self, band: usize, bits: usize, four: impl Fn(usize, usize) -> u32) {
        let [first, second, third, fourth, ..] = self.a[band];
        let stored = [first, second, third, fourth];
        (self.a[band], self.present[band]) = expand(&stored, bits, four);
    }
}

/// A matrix in shared memory, and how its elements are to be read.
pub struct Operand {
    pub matrix: Matrix,
    pub element: Element,
    pub negate: bool,
}

impl Operand {
    /// Rows `first` to `first + 7`, half `half` of the 32 bytes of K.
    ///
    /// # Safety
    /// The rows must lie in the memory, and that must be there still.
    pub unsafe fn register(&self, first: u32, half: u32) -> Register {
        // SAFETY: by the contract.
        let mut register = unsafe { self.matrix.block(first, half) };
        let bits = match self.element {
            Element::E2m1 => Some(4),
            Element::E2m3 | Element::E3m2 => Some(6),
            _ => None,
        };
        if let Some(bits) = bits {
            register.0.as_chunks_mut().0.iter_mut().for_each(|row| *row = spread(*row, bits));
        }
        if self.negate {
            let signs = signs(self.element);
            register.0.iter_mut().for_each(|word| *word ^= signs);
        }
        register
    }
}

/// Sixteen elements of four or six bits, and padding behind them, to a byte each: four bits into the middle,
/// six at the low end (9.7.16.9.1).
pub fn spread(words: [u32; 4], bits: u32) -> [u32; 4] {
    let packed = words.iter().rev().fold(0, |all, &word| all << 32 | u128::from(word));
    let byte = |i: u32| {
        let code = (packed >> (bits * i)) as u32 & ((1 << bits) - 1);
        if bits == 4 { code << 2 } else { code }
    };
    std::array::from_fn(|word| {
        (0..4).fold(0, |all, at| all | byte(4 * word as u32 + at) << (8 * at))
    })
}

/// The sign bits of a word's elements.
pub fn signs(element: Element) -> u32 {
    match element {
        Element::F16 | Element::Bf16 => 0x8000_8000,
        Element::Tf32 => 0x8000_0000,
        Element::E4m3 | Element::E5m2 => 0x8080_8080,
        Element::E3m2 | Element::E2m3 | Element::E2m1 => 0x2020_2020,
        Element::PackedE2m1 => 0x8888_8888,
        _ => 0,
    }
}

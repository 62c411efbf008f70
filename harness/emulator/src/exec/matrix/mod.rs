//! Matrix instructions: `mma`, `wmma`, `ldmatrix` and their kin (PTX ISA 9.7.14).
//!
//! A warp multiplies a 16×K matrix by a K×8 one and adds a third; every lane holds a few elements of
//! each in its registers. One rule places them all, whatever the format (PTX ISA 9.7.14.5.1-13): with
//! `g = lane / 4` and `t = lane % 4`, counting K in words of 32 bits,
//!
//! ```text
//! A   register r holds row g + 8·(r mod 2), word t + 4·(r div 2)     a row is K elements, packed
//! B   register r holds column g, word t + 4·r                        a column likewise
//! C   value i stands in row g + 8·(i div 2), column 2·t + (i mod 2)
//!
//! m16n8k16, f16: a word is two elements, a row eight words, A four registers, B two.
//! Lane 6 is g = 1, t = 2. Its A register 3 holds row 9, word 6: elements (9, 12) and (9, 13).
//! ```
//!
//! So unpacking is the same for all (`fragment.rs`), and what differs is arithmetic:
//!
//! ```text
//! dot.rs      floats: the tensor cores' own rounding, which is not IEEE's
//! block.rs    packed FP4 with block scales
//! avx512/     the two, fast, where the processor has it
//! integer.rs  integers, bits, and doubles: nothing to round, or one fma after the other
//! quads.rs    m8n8k4, four small products
//! tile.rs     wmma.load and wmma.store
//! wgmma.rs    products of a warpgroup, of shared memory (gather.rs); sums until they are waited for
//!             (in_flight.rs); sparse A (sparse.rs)
//! descriptor.rs  where wgmma and tcgen05 find matrices in shared memory
//! rows.rs     ldmatrix, stmatrix, movmatrix: rows of shared memory to and from fragments
//! ```

#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;
pub mod descriptor;
mod dot;
mod element;
mod fragment;
mod gather;
mod in_flight;
mod integer;
mod quads;
mod rows;
mod sparse;
mod tile;
mod wgmma;

/// What a host thread keeps of fragments: only code for AVX-512 keeps some.
#[cfg(not(target_arch = "x86_64"))]
pub type Fragments = ();
#[cfg(target_arch = "x86_64")]
pub use avx512::Fragments;
pub use element::{Accumulator, BitProduct, Element};
pub use fragment::{Operands, Present, Register};
pub use gather::Matrix;
pub use in_flight::InFlight;
pub use rows::{Move, load_rows, store_rows, transpose};
pub use sparse::{EXPANDED, expand};
pub use tile::{Role, Tile, load_tile, store_tile};
pub use wgmma::{WarpgroupMultiply, commit, wait, wgmma, wgmma_widest};

use super::{Core, Flow};
use crate::fault::FaultKind;
use crate::program::Inst;

/// What one `mma` multiplies, and how it rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiply {
    /// Rows of A: 16, or 8.
    pub rows: usize,
    /// K, in elements.
    pub depth: usize,
    pub a: Element,
    pub b: Element,
    pub c: Accumulator,
    pub d: Accumulator,
    pub scale: Option<Scale>,
    pub rule: Rule,
    /// Rounding of doubles: bits of `isa::flag`.
    pub rounding: u32,
    /// Integers stop at the ends of their range instead of wrapping.
    pub saturate: bool,
    /// `m8n8k4`: A and B stand in columns, not rows.
    pub columns: [bool; 2],
}

/// A [`Multiply`] with its numbers of registers, which are not to be counted each time.
#[derive(Clone, Debug)]
pub struct Product {
    pub form: Multiply,
    pub registers: [usize; 5],
}

impl From<Multiply> for Product {
    fn from(form: Multiply) -> Self {
        let registers = form.registers();
        Self { form, registers }
    }
}

/// How the tensor cores of a generation add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Bits kept below the leading bit of the largest summand.
    pub fraction: i32,
    /// K is added in two halves, rounded in between.
    pub halves: bool,
    /// FP8 is converted to `f16`: of every four elements the first two make the first half, the sum
    /// begins at zero, and C is added to it at the end (`dot.rs`).
    pub converted: bool,
    /// Bits of the fraction of an `f32` sum that are not cut off.
    pub kept: u32,
}

impl Rule {
    /// Bits of an `f32` that stay.
    pub fn mask(self) -> u32 {
        u32::MAX << (23 - self.kept.min(23))
    }

    /// A sum with the bits that are kept.
    #[inline(always)]
    pub fn cut(self, sum: f32) -> f32 {
        if sum.is_nan() { sum } else { f32::from_bits(sum.to_bits() & self.mask()) }
    }
}

/// Block scales of A and B: `vectors` of them along K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    pub vectors: usize,
    pub format: ScaleFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleFormat {
    Ue8m0,
    Ue4m3,
}

/// What a warp's instruction multiplies, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Of A.
    pub element: Element,
    /// Products of elements, absent ones of sparse A among them.
    pub multiply_adds: u64,
}

impl Multiply {
    pub fn work(&self) -> Work {
        let products = if self.is_quad() { 4 * 8 * 8 * 4 } else { self.rows * 8 * self.depth };
        Work { element: self.a, multiply_adds: products as u64 }
    }

    /// Registers of A, B, C and D, and of the scales with their selectors.
    pub fn registers(&self) -> [usize; 5] {
        let of = |rows: usize, element: Element| match element {
            // A register holds one double, or 32 bits.
            Element::F64 => rows * self.depth / 32,
            element => rows * self.depth * element.bits() / 1024,
        };
        let sums = |accumulator| match accumulator {
            Accumulator::F16 => self.rows / 8,
            _ => self.rows / 4,
        };
        let scales = if self.scale.is_some() { 6 } else { 0 };
        if self.is_quad() {
            let sums = |accumulator| if accumulator == Accumulator::F16 { 4 } else { 8 };
            return [2, 2, sums(self.c), sums(self.d), 0];
        }
        [of(self.rows, self.a), of(8, self.b), sums(self.c), sums(self.d), scales]
    }

    /// `m8n8k4` of `f16` is four small products, each by eight lanes.
    pub fn is_quad(&self) -> bool {
        self.depth == 4 && self.a == Element::F16
    }
}

/// The warp, whole: what `.aligned` demands. A lane that has ended makes the result undefined.
#[inline(always)]
pub fn whole_warp(core: &mut Core) -> Result<(), Flow> {
    if core.mask == u32::MAX {
        return Ok(());
    }
    if core.live != core.mask && core.live == u32::MAX {
        core.wanted = u32::MAX;
        return Err(Flow::Rendezvous);
    }
    let kind = FaultKind::MissingLanes { wanted: u32::MAX, arrived: core.mask };
    Err(core.stop(kind, core.mask.trailing_zeros()))
}

/// `mma`. The list holds the registers of D, A, B and C, then those of the scales.
///
/// # Safety
/// See [`super::Handler`]; `imm` must be the number of a [`Multiply`] of the program, and the list
/// must have its registers.
#[inline(always)]
pub unsafe fn mma(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { product::<false>(core, inst) }
}

/// [`mma`] where the processor has AVX-512.
///
/// # Safety
/// As for [`mma`].
#[inline(always)]
pub unsafe fn mma_widest(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { product::<true>(core, inst) }
}

#[inline(always)]
unsafe fn product<const WIDEST: bool>(core: &mut Core, inst: &Inst) -> Flow {
    if let Err(flow) = whole_warp(core) {
        return flow;
    }
    let program = core.program;
    let Product { form, registers: [a, b, c, d, _] } = &program.multiplies[inst.imm as usize];
    let slots = program.list(inst);
    // At most 20: D and C of `m8n8k4` have eight, A and B two.
    let mut written = [std::ptr::null_mut::<Register>(); 8];
    let mut read = [std::ptr::null::<Register>(); 24];
    let (results, sources) = slots.split_at(*d);
    // SAFETY: passed on.
    unsafe {
        for (to, &slot) in written.iter_mut().zip(results) {
            *to = core.lanes_of::<u32>(slot).cast();
        }
        for (to, &slot) in read.iter_mut().zip(sources) {
            *to = core.lanes_of::<u32>(slot).cast_const().cast();
        }
    }
    let (a, rest) = read[..sources.len().min(24)].split_at(*a);
    let (b, rest) = rest.split_at(*b);
    let (c, scales) = rest.split_at(*c);
    let operands = Operands { a, b, c, d: &written[..*d], scales, present: None };
    // SAFETY: passed on.
    unsafe { multiply_add::<WIDEST>(&mut core.fragments, form, &operands) };
    Flow::Next
}

/// D = A·B + C: `form.rows` × K by K × 8 elements, in one step that rounds once. What `mma` does with registers of a
/// warp, `wgmma` and `tcgen05` do with blocks of shared memory ([`gather`]).
///
/// # Safety
/// The operands must be valid registers, as many as `form` says; `WIDEST` needs a processor that has
/// [`crate::exec::Level::Widest`].
#[inline(always)]
pub unsafe fn multiply_add<const WIDEST: bool>(
    fragments: &mut Option<Box<Fragments>>,
    form: &Multiply,
    operands: &Operands,
) {
    // SAFETY: passed on.
    unsafe {
        match form.a {
            Element::F64 => integer::doubles(form, operands),
            Element::S8 | Element::U8 | Element::S4 | Element::U4 => {
                integer::integers(form, operands);
            }
            Element::Bits(_) => integer::bits(form, operands),
            #[cfg(target_arch = "x86_64")]
            _ if WIDEST && avx512::multiply(fragments, form, operands) => {}
            Element::PackedE2m1 => block::multiply(form, operands),
            _ if form.is_quad() => quads::multiply(form, operands),
            _ => dot::multiply(form, operands),
        }
    }
}

//! One `tcgen05.mma`, checked and waiting for its turn, and what it does (PTX ISA 9.7.16.10).

use super::instruction_descriptor::InstructionDescriptor;
use super::layout::{Band, Layout};
use super::memory::Address;
use super::operand::{Operand, Registers, signs};
use crate::exec::Core;
use crate::exec::matrix::{self, Accumulator, EXPANDED, Fragments, Operands, Register};

/// A CTA's share of A.
pub enum Rows {
    Shared(Operand),
    /// In the lanes of D; the first column.
    Tensor(u32),
}

/// What a CTA brings, and in whose tensor memory its sums are.
pub struct Part {
    pub rank: u32,
    pub a: Rows,
    /// Its columns of B.
    pub b: Operand,
}

/// Where scales lie: columns of A's and of B's.
#[derive(Clone, Copy)]
pub struct Scales {
    pub a: u32,
    pub b: u32,
    /// The columns of B are dealt to the lanes in two halves, and so are their scales.
    pub halves: bool,
}

/// What of sparse A is stored: four bits for each chunk of K (9.7.16.10.8.4; drawn there, the formulas are those of
/// CUTLASS's `tmem_e_frg`), in the lanes of a band of 16 rows.
///
/// ```text
/// f16, tf32    chunk c of row r    lane r mod 8 + 8·(c / 4)    bit 16·(r / 8) + 4·(c mod 4)
/// others                           lane r, column c / 8        bit 4·(c mod 8)
/// ```
#[derive(Clone, Copy)]
pub struct Metadata {
    /// The first column.
    pub column: u32,
    /// A column holds all, as of the kinds `f16` and `tf32`.
    pub folded: bool,
}

impl Metadata {
    /// Columns that they take.
    pub fn width(self) -> u32 {
        if self.folded { 1 } else { 2 }
    }

    /// Row and chunk of a band to lane, column and bit.
    fn place(self, row: usize, chunk: usize) -> (usize, u32, usize) {
        match self.folded {
            true => (row % 8 + 8 * (chunk / 4), self.column, 16 * (row / 8) + 4 * (chunk % 4)),
            false => (row, self.column + chunk as u32 / 8, 4 * (chunk % 8)),
        }
    }
}

/// The engine, compiled for a level.
pub type Engine = unsafe fn(&mut Option<Box<Fragments>>, &matrix::Multiply, &Operands);

pub struct Product {
    pub engine: Engine,
    pub descriptor: InstructionDescriptor,
    pub parts: Vec<Part>,
    pub layout: Layout,
    /// The column of D.
    pub d: u32,
    /// D is added to.
    pub accumulate: bool,
    pub scales: Option<Scales>,
    pub metadata: Option<Metadata>,
    /// D is divided by two to this power before.
    pub shift: u32,
    /// Lanes of each part that stay as they are.
    pub disabled: [u128; 2],
}

/// Groups of eight columns that are multiplied with all of A before the next: as many of B as the engine
/// keeps taken apart (`matrix::avx512::fragments`).
const KEPT: usize = 8;

impl Product {
    /// # Safety
    /// The shared memory of the parts' CTAs must be there, `core` must hold the tensor memories of their cluster,
    /// and the processor must have what the engine needs.
    pub unsafe fn run(&self, core: &mut Core) {
        let mut registers = core.tensor.registers.take().unwrap_or_else(Registers::new);
        let each = (self.descriptor.n / self.parts.len() as u32) as usize;
        let along = self.along();
        for (part, groups) in self.parts.iter().zip(registers.b.chunks_mut(each / 8)) {
            for (group, to) in groups.iter_mut().enumerate() {
                for (piece, to) in to[..along].iter_mut().enumerate() {
                    // SAFETY: by the contract.
                    *to = unsafe { part.b.register(8 * group as u32, piece as u32) };
                }
            }
        }
        for (index, part) in self.parts.iter().enumerate() {
            // SAFETY: passed on.
            unsafe { self.part(core, &mut registers, (index, part)) };
        }
        core.tensor.registers = Some(registers);
    }

    /// Registers of eight columns of B.
    fn along(&self) -> usize {
        if self.metadata.is_some() { EXPANDED / 2 } else { EXPANDED / 4 }
    }

    /// # Safety
    /// As for [`Self::run`].
    unsafe fn part(
        &self,
        core: &mut Core,
        registers: &mut Registers,
        (index, part): (usize, &Part),
    ) {
        let bands: Vec<Band> = self.layout.bands().collect();
        let rank = part.rank as usize;
        for (number, band) in bands.iter().enumerate() {
            match &part.a {
                Rows::Shared(a) => {
                    for (i, to) in (0..).zip(&mut registers.a[number][..EXPANDED / 2]) {
                        // SAFETY: by the contract.
                        *to = unsafe { a.register(band.row + 8 * (i % 2), i / 2) };
                    }
                }
                Rows::Tensor(first) => {
                    let negate = self.descriptor.negate[0];
                    let negate = if negate { signs(self.descriptor.tile.a) } else { 0 };
                    for word in 0..8 {
                        let column = core.tensor.memories[rank].column(first + word);
                        let cells = &column[band.lane as usize..][..16];
                        for (row, cell) in cells.iter().enumerate() {
                            *registers.word_of_a(number, row, word as usize) = cell ^ negate;
                        }
                    }
                }
            }
        }
        if let Some(metadata) = self.metadata {
            let memory = &core.tensor.memories[rank];
            for (number, band) in bands.iter().enumerate() {
                registers.expand(number, self.descriptor.tile.a.bits(), |row, chunk| {
                    let (lane, column, bit) = metadata.place(row, chunk);
                    memory.column(column)[band.lane as usize + lane] >> bit
                });
            }
        }
        self.gather_scales(core, registers, rank, &bands);
        let groups = self.layout.width() as usize / 8;
        for first in (0..groups).step_by(KEPT) {
            for (number, band) in bands.iter().enumerate() {
                for group in first..groups.min(first + KEPT) {
                    let at = Address { lane: band.lane, column: self.d + 8 * group as u32 };
                    self.read(core, registers, rank, at);
                    let of_b = band.column as usize / 8 + group;
                    // SAFETY: passed on.
                    unsafe { self.tile(core, registers, (number, band), of_b) };
                    self.write(core, registers, (rank, index), at);
                }
            }
        }
    }

    /// One tile: its sums are in the registers.
    ///
    /// # Safety
    /// As for [`Self::run`].
    unsafe fn tile(
        &self,
        core: &mut Core,
        registers: &mut Registers,
        (number, band): (usize, &Band),
        group: usize,
    ) {
        let form = &self.descriptor.tile;
        let along = self.along();
        let sums = if form.d == Accumulator::F16 { 2 } else { 4 };
        let d = registers.sums.each_mut().map(|sum| &raw mut *sum);
        let c = d.map(<*mut Register>::cast_const);
        let a = registers.a[number].each_ref().map(|register| &raw const *register);
        let b = registers.b[group].each_ref().map(|register| &raw const *register);
        let selector = |value: u32| &raw const registers.selectors[value as usize];
        let [first_a, first_b] = self.descriptor.scale_byte.map(selector);
        let zero = selector(0);
        let scales = [
            &raw const registers.scales_a[number],
            first_a,
            zero,
            &raw const registers.scales_b[band.lane as usize / 32][group],
            first_b,
            zero,
        ];
        let operands = Operands {
            a: &a[..2 * along],
            b: &b[..along],
            c: &c[..sums],
            d: &d[..sums],
            scales: if self.scales.is_some() { &scales } else { &[] },
            present: self.metadata.is_some().then(|| &registers.present[number]),
        };
        // SAFETY: the registers live, as many as the form has; whoever chose the engine found what it needs.
        unsafe { (self.engine)(&mut core.fragments, form, &operands) };
    }

    /// Scales to the lanes where `mma` looks for them with thread selectors 0: row q + 8·h in lane 4·q + h,
    /// column n in lane 4·n. Each band takes those of its own warp's lanes.
    fn gather_scales(&self, core: &Core, registers: &mut Registers, rank: usize, bands: &[Band]) {
        let Some(Scales { a, b, halves }) = self.scales else { return };
        let memory = &core.tensor.memories[rank];
        for (number, band) in bands.iter().enumerate() {
            let warp = band.lane / 32;
            let cell = |column: u32, at: u32| {
                memory.column(column + at / 32)[(32 * warp + at % 32) as usize]
            };
            for row in 0..16 {
                let lane = 4 * (row % 8) + row / 8;
                registers.scales_a[number].0[lane as usize] = cell(a, band.row + row);
            }
            for n in band.column..band.column + band.columns {
                let at = if halves { n - band.column } else { n };
                let register = &mut registers.scales_b[warp as usize][n as usize / 8];
                register.0[4 * (n as usize % 8)] = cell(b, at);
            }
        }
    }

    /// Columns of D to the registers of C.
    fn read(&self, core: &Core, registers: &mut Registers, rank: usize, at: Address) {
        let sums = &mut registers.sums;
        if !self.accumulate {
            *sums = [Register([0; 32]); 4];
            return;
        }
        let halves = self.descriptor.tile.d == Accumulator::F16;
        for column in 0..8 {
            let cells = core.tensor.memories[rank].column(at.column + column as u32);
            for (row, &cell) in cells[at.lane as usize..][..16].iter().enumerate() {
                let lane = 4 * (row % 8) + column / 2;
                if halves {
                    let word = &mut sums[row / 8].0[lane];
                    let half = u32::from(shifted_half(cell as u16, self.shift));
                    *word = if column % 2 == 0 { half } else { *word & 0xffff | half << 16 };
                } else {
                    sums[2 * (row / 8) + column % 2].0[lane] = shifted(cell, self.shift);
                }
            }
        }
    }

    /// The registers of D to its columns.
    fn write(
        &self,
        core: &mut Core,
        registers: &Registers,
        (rank, index): (usize, usize),
        at: Address,
    ) {
        let halves = self.descriptor.tile.d == Accumulator::F16;
        let disabled = self.disabled[index] >> at.lane;
        let lanes = (!disabled & 0xffff) << at.lane;
        for column in 0..8 {
            let cells = core.tensor.memories[rank].column_mut(at.column + column as u32, lanes);
            for (row, cell) in cells[at.lane as usize..][..16].iter_mut().enumerate() {
                if disabled >> row & 1 == 1 {
                    continue;
                }
                let lane = 4 * (row % 8) + column / 2;
                *cell = if halves {
                    // What the upper halves get is not said; zeros are a choice.
                    registers.sums[row / 8].0[lane] >> (16 * (column % 2)) & 0xffff
                } else {
                    registers.sums[2 * (row / 8) + column % 2].0[lane]
                };
            }
        }
    }
}

/// An `f32` times `2^-by`. A subnormal result is rounded; what it loses lies below what is kept of any sum.
fn shifted(cell: u32, by: u32) -> u32 {
    match by {
        0 => cell,
        _ => (f32::from_bits(cell) * f32::from_bits((127 - by) << 23)).to_bits(),
    }
}

/// The same of an `f16`.
fn shifted_half(half: u16, by: u32) -> u16 {
    match by {
        0 => half,
        _ => {
            let value = formats::f16::decode(half);
            formats::f16::encode(value * f32::from_bits((127 - by) << 23))
        }
    }
}

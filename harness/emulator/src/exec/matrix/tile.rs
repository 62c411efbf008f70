//! `wmma.load` and `wmma.store`: a matrix in memory, with a stride, to and from fragments
//! (PTX ISA 9.7.14.4).
//!
//! The manual leaves the layout of these fragments open. Here it is that of `mma`, tile by tile, which is
//! what the hardware has had since Ampere: `wmma.mma` becomes a few `mma` (`lower/wmma.rs`).
//!
//! ```text
//! m16n16k16, f32 accumulators: registers 0 to 3 are columns 0 to 7, registers 4 to 7 the others
//! m16n16k16, f16 A: four registers; the manual has eight, so the other four repeat them
//! ```

use super::whole_warp;
use crate::exec::access::{GENERIC, GLOBAL, LOCAL, Span, span};
use crate::exec::{Core, Flow};
use crate::fault::Access;
use crate::isa::flag;
use crate::program::Inst;

/// Which matrix a fragment is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    A,
    B,
    /// C or D.
    Sum,
}

/// A matrix of `rows` × `columns` elements of `bits` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    pub role: Role,
    pub rows: usize,
    pub columns: usize,
    pub bits: usize,
    /// Columns are contiguous in memory, not rows.
    pub by_columns: bool,
}

impl Tile {
    /// Bits of a register.
    fn register_bits(&self) -> usize {
        self.bits.max(32)
    }

    /// Row and column of element `part` of `register` in `lane`.
    fn place(&self, register: usize, lane: usize, part: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4);
        let per = self.register_bits() / self.bits;
        let (rows, columns) = match self.role {
            Role::A => (self.rows.min(16), self.columns),
            Role::B => (self.rows, 8),
            Role::Sum => (self.rows.min(16), 8),
        };
        let each = rows * columns / 32 / per;
        let tiles = (self.rows / rows) * (self.columns / columns);
        let (tile, r) = (register / each % tiles, register % each);
        // Only one of the two dimensions has several tiles.
        let (row, column) = if self.rows > rows { (tile * rows, 0) } else { (0, tile * columns) };
        let halves = rows / 8;
        match self.role {
            Role::A => (row + g + 8 * (r % halves), (t + 4 * (r / halves)) * per + part),
            Role::B => ((t + 4 * r) * per + part, column + g),
            Role::Sum if per == 2 => (row + g + 8 * r, column + 2 * t + part),
            Role::Sum => (row + g + 8 * (r / 2), column + 2 * t + r % 2),
        }
    }

    /// Host addresses of the stretches that are contiguous: rows, or columns.
    fn stretches(
        &self,
        core: &mut Core,
        inst: &Inst,
        from: Span,
        stride: u64,
        access: Access,
    ) -> Result<Vec<u64>, Flow> {
        let (count, length) = match self.by_columns {
            true => (self.columns, self.rows),
            false => (self.rows, self.columns),
        };
        let bytes = (length * self.bits).div_ceil(8) as u64;
        let align = (self.bits as u64 / 8).max(1);
        (0..count as u64)
            .map(|number| {
                let at = number * stride * self.bits as u64 / 8;
                let from = match from {
                    Span::Global(address) => Span::Global(address.wrapping_add(at)),
                    Span::Shared(address) => Span::Shared(address.wrapping_add(at as u32)),
                };
                span(core, inst, 0, from, bytes, align, access)
            })
            .collect()
    }
}

/// The matrix at `[a + imm]`, its stride in `b`, the tile's number in the flags.
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn matrix(core: &mut Core, inst: &Inst, access: Access) -> Result<(Tile, Vec<u64>), Flow> {
    whole_warp(core)?;
    let tile = core.program.tiles[(inst.flags & 0xffff) as usize];
    // SAFETY: lowering keeps slots within the file.
    let (from, stride) = unsafe {
        let stride = u64::from(core.read::<u32>(inst.b)[0]);
        let from = match (inst.flags >> flag::SPACE_SHIFT) as u8 & 3 {
            GLOBAL | GENERIC => Span::Global(core.read::<u64>(inst.a)[0].wrapping_add(inst.imm)),
            LOCAL => return Err(core.unsupported("a matrix in local memory")),
            _ => Span::Shared(core.read::<u32>(inst.a)[0].wrapping_add(inst.imm as u32)),
        };
        (from, stride)
    };
    let stretches = tile.stretches(core, inst, from, stride, access)?;
    Ok((tile, stretches))
}

/// `wmma.load`: to the registers of the list.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn load_tile(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    let (tile, stretches) = match unsafe { matrix(core, inst, Access::Read) } {
        Ok(found) => found,
        Err(flow) => return flow,
    };
    let program = core.program;
    let per = tile.register_bits() / tile.bits;
    for (register, &slot) in program.list(inst).iter().enumerate() {
        let mut lanes = [0u64; 32];
        for (lane, word) in lanes.iter_mut().enumerate() {
            for part in 0..per {
                let bits = read(&tile, &stretches, tile.place(register, lane, part));
                *word |= bits << (tile.bits * part);
            }
        }
        // SAFETY: lowering keeps slots within the file, of the width that the tile says.
        unsafe {
            if tile.bits == 64 {
                *core.lanes_of(slot) = lanes;
            } else {
                *core.lanes_of(slot) = lanes.map(|word| word as u32);
            }
        }
    }
    Flow::Next
}

/// Stretch and bits into it of a place.
fn spot(tile: &Tile, (row, column): (usize, usize)) -> (usize, usize) {
    let (major, minor) = if tile.by_columns { (column, row) } else { (row, column) };
    (major, minor * tile.bits)
}

fn read(tile: &Tile, stretches: &[u64], place: (usize, usize)) -> u64 {
    let (stretch, at) = spot(tile, place);
    let from = std::ptr::with_exposed_provenance::<u8>(stretches[stretch] as usize + at / 8);
    // SAFETY: `stretches` found the whole row, or column.
    unsafe {
        match tile.bits {
            1 | 4 => u64::from(from.read() >> (at % 8)) & ((1 << tile.bits) - 1),
            8 => u64::from(from.read()),
            16 => u64::from(from.cast::<u16>().read()),
            32 => u64::from(from.cast::<u32>().read()),
            _ => from.cast::<u64>().read(),
        }
    }
}

/// `wmma.store.d`: from the registers of the list.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn store_tile(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    let (tile, stretches) = match unsafe { matrix(core, inst, Access::Write) } {
        Ok(found) => found,
        Err(flow) => return flow,
    };
    let program = core.program;
    let per = tile.register_bits() / tile.bits;
    for (register, &slot) in program.list(inst).iter().enumerate() {
        // SAFETY: lowering keeps slots within the file, of the width that the tile says.
        let lanes: [u64; 32] = unsafe {
            if tile.bits == 64 { core.read(slot) } else { core.read::<u32>(slot).map(u64::from) }
        };
        for (lane, word) in lanes.into_iter().enumerate() {
            for part in 0..per {
                let (stretch, at) = spot(&tile, tile.place(register, lane, part));
                let to = stretches[stretch] as usize + at / 8;
                let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
                let bits = word >> (tile.bits * part);
                // SAFETY: `stretches` found the whole row, or column. Sums have 16 bits or more.
                unsafe {
                    match tile.bits {
                        16 => to.cast::<u16>().write(bits as u16),
                        32 => to.cast::<u32>().write(bits as u32),
                        _ => to.cast::<u64>().write(bits),
                    }
                }
            }
        }
    }
    Flow::Next
}

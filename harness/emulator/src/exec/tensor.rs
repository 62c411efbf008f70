//! Tensor copies: a box of a tensor that a map describes, to shared memory and back
//! (PTX ISA 5.5, 9.7.9.25.5).
//!
//! ```text
//! tensor of 2 dimensions, 100 × 40 elements of 2 bytes, box 64 × 8, coordinates (96, -1):
//!   rows -1 to 6 and columns 96 to 159 are wanted; what lies outside is filled with zeros,
//!   and 64·8·2 = 1024 bytes are counted at the barrier all the same.
//! ```
//!
//! In shared memory the box is dense, its first dimension the innermost; swizzling exchanges 16-byte
//! chunks by address bits (PTX ISA 5.5.7), so that a column of the box meets all banks:
//!
//! ```text
//! 128 bytes: bits 4…6 ^= bits 7…9     64: bits 4…5 ^= bits 7…8     32: bit 4 ^= bit 7
//! 128 bytes, 32 of them kept together: bits 5…6 ^= bits 7…8        64 kept: bit 6 ^= bit 7
//! ```
//!
//! Instead of a box there are four rows by their numbers (`.tile::gather4`, 5.5.3.4), or the pixels of a
//! convolution (im2col, `pixels.rs`). What happens at a tensor's edges stands in `edges.rs`.

mod edges;
mod pixels;

use super::access::{RANK_SHIFT, Span, span};
use super::bulk::{MULTICAST, REDUCES, TO_SHARED, lanes, narrow, receivers, signal, wide};
use super::{Core, Flow};
use crate::fault::{Access, FaultKind};
use crate::memory::{Interleave, Swizzle, TensorMap};
use crate::program::{Inst, Slot};

/// In the flags, beside those of bulk copies: five coordinates, of one column and four rows.
pub const FOUR_ROWS: u32 = 1 << 8;
/// The map's pixels; behind the coordinates stand the offsets, unless none are wanted.
pub const PIXELS: u32 = 1 << 9;
/// `.cta_group::2`: of each receiver's pair, the CTA is told whose rank is even or odd as that of the
/// mbarrier's is.
pub const PAIR: u32 = 1 << 10;

/// What is copied as a piece: 16 elements of the packed formats, one of the others.
struct Piece {
    elements: u64,
    /// In the tensor.
    bytes: u64,
    /// In shared memory.
    stored: u64,
    /// Whether there is a NaN to fill with.
    float: bool,
}

impl Piece {
    fn of(data_type: u8) -> Option<Self> {
        let plain = |bytes, float| Self { elements: 1, bytes, stored: bytes, float };
        Some(match data_type {
            0 => plain(1, false),
            1 => plain(2, false),
            2 | 3 => plain(4, false),
            4 | 5 => plain(8, false),
            6 | 9 => plain(2, true),
            7 | 10 | 11 | 12 => plain(4, true),
            8 => plain(8, true),
            13 => Self { elements: 16, bytes: 8, stored: 8, float: false },
            14 => Self { elements: 16, bytes: 8, stored: 16, float: false },
            15 => Self { elements: 16, bytes: 12, stored: 16, float: false },
            _ => return None,
        })
    }
}

/// `cp.async.bulk.tensor`: shared address, map, then to shared memory the barrier and a mask of
/// CTAs, then the coordinates. `imm` is the number of coordinates, and the reduction.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn copy(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let list = program.list(inst);
    for lane in lanes(core.mask) {
        // SAFETY: lowering keeps slots within the file.
        if let Err(flow) = unsafe { one(core, inst, list, lane) } {
            return flow;
        }
    }
    Flow::Next
}

unsafe fn one(core: &mut Core, inst: &Inst, list: &[Slot], lane: usize) -> Result<(), Flow> {
    let loads = inst.flags & TO_SHARED != 0;
    let fixed = if !loads {
        2
    } else if inst.flags & MULTICAST != 0 {
        4
    } else {
        3
    };
    let (fixed, coordinates) = list.split_at(fixed.min(list.len()));
    let &[shared, map, ref rest @ ..] = fixed else { return Ok(()) };
    // SAFETY: by the contract of `copy`, here and below.
    unsafe {
        let at =
            span(core, inst, lane, Span::Global(wide(core, map, lane)), 128, 64, Access::Read)?;
        let bytes = std::ptr::with_exposed_provenance::<[u8; 128]>(at as usize).read();
        let Some(map) = TensorMap::decode(&bytes) else {
            return Err(core.unsupported("a tensor map that the driver did not encode"));
        };
        let Some(piece) = Piece::of(map.data_type).filter(|_| map.interleave == Interleave::None)
        else {
            return Err(core.unsupported("an interleaved tensor map"));
        };
        let rank = usize::from(map.rank);
        let (pixels, four) = (inst.flags & PIXELS != 0, inst.flags & FOUR_ROWS != 0);
        if pixels != map.im2col.is_some() {
            let what = "a tiled copy of an im2col map, or the other way round";
            return Err(core.unsupported(what));
        }
        let offsets = if pixels && loads { rank.saturating_sub(2) } else { 0 };
        if coordinates.len() != offsets + if four { 5 } else { rank } || four && rank != 2 {
            let what =
                format!("{} coordinates for a tensor map of {rank} dimensions", coordinates.len());
            return Err(core.unsupported(&what));
        }
        let mut first = [0i64; 5];
        let mut offset = [0i64; 5];
        for (index, &slot) in coordinates.iter().enumerate() {
            let value = narrow(core, slot, lane);
            match index.checked_sub(rank).filter(|_| pixels) {
                // Sixteen bits, along W first.
                Some(index) => offset[(index + 1).min(4)] = i64::from(value & 0xffff),
                None => first[index.min(4)] = i64::from(value as i32),
            }
        }
        let shared = narrow(core, shared, lane);
        let tile = Tile { map: &map, piece: &piece, first, offset, four, stores: !loads };
        if let Some(message) = tile.illegal() {
            return Err(core.stop(FaultKind::Illegal { message }, lane as u32));
        }
        let bytes = tile.bytes();
        if !loads {
            let target =
                span(core, inst, lane, Span::Shared(shared), bytes, 128.min(bytes), Access::Read)?;
            let offset = u64::from(shared & 0x00ff_ffff);
            return tile.store(core, inst, lane, target, offset);
        }
        let barrier = rest.first().map_or(0, |&slot| narrow(core, slot, lane));
        for rank in receivers(core, inst, rest.get(1).copied(), lane) {
            let to = Span::Shared(shared).at(rank);
            let target = span(core, inst, lane, to, bytes, 16, Access::Write)?;
            tile.load(core, inst, lane, target, u64::from(shared & 0x00ff_ffff))?;
            let told = match inst.flags & PAIR != 0 {
                true => rank.map(|rank| rank & !1 | barrier >> RANK_SHIFT & 1),
                false => rank,
            };
            signal(core, inst, lane, Span::Shared(barrier).at(told).offset(), tile.counted())?;
        }
    }
    Ok(())
}

/// A box at its place in the tensor.
struct Tile<'a> {
    map: &'a TensorMap,
    piece: &'a Piece,
    first: [i64; 5],
    /// Added to each pixel's position.
    offset: [i64; 5],
    /// Behind the column there are four rows in `first`.
    four: bool,
    stores: bool,
}

impl Tile<'_> {
    /// Pieces of a row, and rows.
    fn counts(&self) -> (u64, u64) {
        let elements = |d: usize| {
            let stride = u64::from(self.map.element_stride[d].max(1));
            u64::from(self.map.box_extent[d]).div_ceil(stride)
        };
        let pieces = |elements: u64| elements.div_ceil(self.piece.elements);
        match &self.map.im2col {
            Some(im2col) => (pieces(im2col.channels.into()), im2col.pixels.into()),
            None if self.four => (pieces(elements(0)), 4),
            None => (pieces(elements(0)), (1..5).map(elements).product()),
        }
    }

    fn bytes(&self) -> u64 {
        let (pieces, rows) = self.counts();
        pieces * rows * self.piece.stored
    }

    /// What the mbarrier is told of: padding is not counted, as CUTLASS's kernels with FP4 beside FP8 rely on
    /// (its example 72c waits for four bits an element; the manual does not say).
    fn counted(&self) -> u64 {
        let (pieces, rows) = self.counts();
        pieces * rows * self.piece.bytes
    }

    /// The coordinates of each row, the first of them aside.
    fn places(&self) -> Box<dyn Iterator<Item = [i64; 5]> + '_> {
        if let Some(im2col) = &self.map.im2col {
            let pixels = pixels::Pixels::new(self.map, im2col, self.first);
            let shifted = |at: [i64; 5]| std::array::from_fn(|d| at[d] + self.offset[d]);
            return Box::new(pixels.map(shifted));
        }
        let [column, rows @ ..] = self.first;
        if self.four {
            return Box::new(rows.into_iter().map(move |row| [column, row, 0, 0, 0]));
        }
        Box::new((0..self.counts().1).map(|number| {
            let mut rest = number;
            let mut at = self.first;
            for (d, at) in at.iter_mut().enumerate().skip(1) {
                let stride = u64::from(self.map.element_stride[d].max(1));
                let count = u64::from(self.map.box_extent[d]).div_ceil(stride);
                *at += (rest % count * stride) as i64;
                rest /= count;
            }
            at
        }))
    }

    /// Rows of what is copied: the address of the tensor's row, if it lies in the tensor, and the row's
    /// offset in shared memory.
    fn rows(&self) -> impl Iterator<Item = (Option<u64>, u64)> + '_ {
        let bytes = self.counts().0 * self.piece.stored;
        self.places().zip(0..).map(move |(at, number)| {
            let mut address = self.map.address;
            let mut inside = true;
            let outer = at.into_iter().zip(self.map.extent).skip(1).zip(self.map.stride);
            for ((index, extent), stride) in
                outer.take(usize::from(self.map.rank).saturating_sub(1))
            {
                inside &= index >= 0 && (index as u64) < extent;
                address = address.wrapping_add((index as u64).wrapping_mul(stride));
            }
            (inside.then_some(address), number * bytes)
        })
    }

    /// Bytes from the tensor row's first to piece `step` of the box's, if that lies in the tensor.
    fn along(&self, step: u64) -> Option<u64> {
        let unit = u64::from(self.map.element_stride[0].max(1)) * self.piece.elements;
        let index = self.first[0] + (step * unit) as i64;
        let inside = index >= 0 && (index as u64) < self.width();
        inside.then(|| index as u64 / self.piece.elements * self.piece.bytes)
    }

    /// The stretch of a tensor row that the box covers, checked and counted as one request: its host
    /// address and the pieces in it.
    fn stretch(
        &self,
        core: &mut Core,
        inst: &Inst,
        lane: usize,
        row: Option<u64>,
        access: Access,
    ) -> Result<std::ops::Range<u64>, Flow> {
        let mut inside = (0..self.counts().0).filter(|&step| self.along(step).is_some());
        let (Some(row), Some(first)) = (row, inside.next()) else { return Ok(0..0) };
        let last = self.last_stored(core, row, first..inside.next_back().unwrap_or(first) + 1);
        let (from, to) = (self.along(first).unwrap_or(0), self.along(last).unwrap_or(0));
        let bytes = to - from + self.piece.bytes;
        span(core, inst, lane, Span::Global(row + from), bytes, 1, access)?;
        Ok(first..last + 1)
    }

    /// Where an offset of the box lies from its beginning, given the box's shared address.
    fn place(&self, core: &mut Core, shared: u64, offset: u64) -> Result<u64, Flow> {
        let address = shared + offset;
        let swizzled = match self.map.swizzle {
            Swizzle::None => address,
            Swizzle::Bytes32 => address ^ (address >> 3 & 0x10),
            Swizzle::Bytes64 => address ^ (address >> 3 & 0x30),
            Swizzle::Bytes128 => address ^ (address >> 3 & 0x70),
            Swizzle::Bytes128Atom32 => address ^ (address >> 2 & 0x60),
            Swizzle::Bytes128Atom64 => address ^ (address >> 1 & 0x40),
        };
        let at = swizzled.wrapping_sub(shared);
        if at.saturating_add(self.piece.stored) > self.bytes() {
            let what = "a swizzled box at a shared address that is not aligned to its pattern";
            return Err(core.unsupported(what));
        }
        Ok(at)
    }

    /// # Safety
    /// `target` must be the host address of [`Self::bytes`] bytes at shared address `shared`.
    unsafe fn load(
        &self,
        core: &mut Core,
        inst: &Inst,
        lane: usize,
        target: u64,
        shared: u64,
    ) -> Result<(), Flow> {
        for (row, offset) in self.rows() {
            let inside = self.stretch(core, inst, lane, row, Access::Read)?;
            for step in 0..self.counts().0 {
                let at = self.place(core, shared, offset + step * self.piece.stored)?;
                let to = std::ptr::with_exposed_provenance_mut::<u8>((target + at) as usize);
                let mut piece = [0u8; 16];
                if inside.contains(&step) {
                    let address = row.unwrap_or(0) + self.along(step).unwrap_or(0);
                    let from =
                        std::ptr::with_exposed_provenance::<u8>(core.memory.host(address) as usize);
                    // SAFETY: `stretch` found the bytes; a piece has 16 at most.
                    unsafe {
                        from.copy_to_nonoverlapping(piece.as_mut_ptr(), self.piece.bytes as usize);
                    }
                    edges::round(self.map.data_type, &mut piece);
                } else if self.map.nan_fill && self.piece.float {
                    piece.as_chunks_mut().0.fill(edges::NAN);
                }
                // SAFETY: by the contract, and `place` stays within the box.
                unsafe { to.copy_from_nonoverlapping(piece.as_ptr(), self.piece.stored as usize) };
            }
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Self::load`].
    unsafe fn store(
        &self,
        core: &mut Core,
        inst: &Inst,
        lane: usize,
        source: u64,
        shared: u64,
    ) -> Result<(), Flow> {
        let reduces = inst.flags & REDUCES != 0;
        let kind = super::reduction::of_tensor(self.map.data_type);
        let Some(code) = kind.or((!reduces).then_some(0)).map(|kind| kind | inst.imm) else {
            return Err(core.unsupported("a reduction on a tensor of such elements"));
        };
        let access = if reduces { Access::Atomic } else { Access::Write };
        for (row, offset) in self.rows() {
            let inside = self.stretch(core, inst, lane, row, access)?;
            for step in inside {
                let at = self.place(core, shared, offset + step * self.piece.stored)?;
                let to = core.memory.host(row.unwrap_or(0) + self.along(step).unwrap_or(0));
                // SAFETY: `stretch` found the bytes there, and `place` stays within the box.
                unsafe {
                    if reduces {
                        super::reduction::combine(code, to, source + at, self.piece.bytes);
                    } else {
                        super::bulk::move_bytes(source + at, to, self.piece.bytes);
                    }
                }
            }
        }
        Ok(())
    }
}

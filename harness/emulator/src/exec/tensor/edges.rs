//! What tensor copies do at the edges of tensors and to their elements where no manual says it, as seen on an
//! H200 (driver 580, 20 November 2026) with boxes of 1, 2 and 4 byte elements, swizzled and not:
//!
//! ```text
//! a box begins at a multiple of 16 bytes of a row                  else the instruction is illegal
//! a stored one begins nowhere before the tensor, a loaded one may  likewise
//! 150 columns of 2 bytes, stored: up to byte 304                   the next multiple of 16 behind byte 300
//! numbers that are filled in                                       0x7ff7, two bytes after two, any type
//! tf32, loaded: 0x3f803000 becomes 0x3f804000, NaN 0x7fffe000      to the nearest, ties to even
//! ```

use super::Tile;
use crate::exec::Core;

/// Bytes of a row that are stored together.
const GRANULE: u64 = 16;

/// What NaN fill writes, two bytes after two.
pub const NAN: [u8; 2] = [0xf7, 0x7f];

/// Data types: `f32` in memory, rounded on the way.
const TF32: std::ops::RangeInclusive<u8> = 11..=12;

impl Tile<'_> {
    /// What a GPU does not take, if so; of boxes only, the others were not tried.
    pub fn illegal(&self) -> Option<String> {
        if self.map.im2col.is_some() || self.four {
            return None;
        }
        let rank = usize::from(self.map.rank);
        if self.stores
            && let Some(d) = self.first[..rank].iter().position(|&at| at < 0)
        {
            return Some(format!(
                "stores a box of a tensor at coordinate {} of dimension {d}: only loads may begin \
                 before the tensor",
                self.first[d]
            ));
        }
        let byte = self.first[0].wrapping_mul(self.piece.bytes as i64);
        (self.piece.elements == 1 && byte % GRANULE as i64 != 0).then(|| {
            format!(
                "copies a box of a tensor that begins at byte {byte} of a row (coordinate {}): a \
                 multiple of {GRANULE} bytes is needed",
                self.first[0]
            )
        })
    }

    /// Elements of a row that the copy takes part in.
    pub fn width(&self) -> u64 {
        let extent = self.map.extent[0];
        if !self.stores || self.piece.elements > 1 || self.map.element_stride[0] > 1 {
            return extent;
        }
        (extent * self.piece.bytes).next_multiple_of(GRANULE) / self.piece.bytes
    }

    /// The last of the pieces in `inside` that are copied: what is stored behind the last column must not
    /// end in a fault where the allocation ends.
    pub fn last_stored(&self, core: &Core, row: u64, inside: std::ops::Range<u64>) -> u64 {
        let room = core.memory.locate(row).map_or(0, |index| {
            let info = &core.memory.range(index).info;
            info.base + info.len
        });
        let is_behind = |step: u64| self.first[0] + step as i64 >= self.map.extent[0] as i64;
        let fits = |step| self.along(step).is_some_and(|at| row + at + self.piece.bytes <= room);
        let mut steps = inside.clone().rev();
        steps.find(|&step| !is_behind(step) || fits(step)).unwrap_or(inside.start)
    }
}

/// An element as it arrives in shared memory.
pub fn round(data_type: u8, piece: &mut [u8; 16]) {
    if TF32.contains(&data_type)
        && let Some(word) = piece.first_chunk_mut()
    {
        *word = tf32(u32::from_le_bytes(*word)).to_le_bytes();
    }
}

fn tf32(bits: u32) -> u32 {
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_e000;
    }
    (bits + 0xfff + (bits >> 13 & 1)) & !0x1fff
}

#[cfg(test)]
mod tests {
    use super::tf32;

    /// What an H200 made of these words.
    #[test]
    fn words_become_tf32_as_on_a_card() {
        for (word, seen) in [
            (0x3f80_0000, 0x3f80_0000),
            (0x3f80_1000, 0x3f80_0000),
            (0x3f80_1001, 0x3f80_2000),
            (0x3f80_3000, 0x3f80_4000),
            (0x3fff_ffff, 0x4000_0000),
            (0x7f7f_ffff, 0x7f80_0000),
            (0x7f80_0000, 0x7f80_0000),
            (0x7f80_0001, 0x7fff_e000),
            (0xff80_0fff, 0x7fff_e000),
            (0x8000_1000, 0x8000_0000),
            (0x007f_ffff, 0x0080_0000),
        ] {
            assert_eq!(tf32(word), seen, "{word:#x}");
        }
    }
}

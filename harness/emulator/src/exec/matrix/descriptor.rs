//! Descriptors of matrices in shared memory, as `wgmma` and `tcgen05` take them: 64 bits that say where the
//! elements of A or B lie (PTX ISA 9.7.15.5.1.2 and 9.7.16.4.1; what the manual only draws is taken from
//! CUTLASS, `cute/arch/mma_sm90_desc.hpp` and `mma_sm100_desc.hpp`).
//!
//! ```text
//!         wgmma                                   tcgen05
//!  0-13   start address / 16                      the same
//! 16-29   leading byte offset / 16                the same
//! 32-45   stride byte offset / 16                 the same
//! 46-48   -                                       0b001
//! 49-51   base offset                             the same
//! 52      -                                       the leading offset is an address (sm_103a)
//! 61-63   62-63: 0 none, 1 128B, 2 64B, 3 32B     0 none, 2 128B, 4 64B, 6 32B, 1 128B of 32-byte atoms
//! ```
//!
//! Memory is built of *atoms*: eight rows of 16, 32, 64 or 128 bytes (the width of the swizzle), where a row
//! runs along K (K-major) or along M or N (MN-major). Within an atom of more than 16 bytes, pieces of 16 bytes
//! trade places: some bits of the *absolute* address are XORed into lower ones, so one atom may be
//! entered at any multiple of 16 bytes, and a kernel steps along K by adding to the start address.
//!
//! ```text
//! K-major, 128B, start 0x400, stride 1024: row 9, byte 40 along K
//!   atom 9 / 8 = 1, row 1 of it     0x400 + 1024 + 1·128 + 40 = 0x8a8
//!   bits 7-9 are 1                  bits 4-6 (2) become 2 ^ 1 = 3: 0x8b8
//! ```
//!
//! Offsets are taken as they come, aligned or not: the hardware computes with any. A base offset turns the pattern
//! for atoms that begin at no multiple of what it repeats after: it is subtracted from the bits that are
//! XORed in.

/// A descriptor, taken apart. Addresses and offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Where the matrix starts, in the shared memory of the CTA; 18 bits.
    pub start: u32,
    /// Between atoms along a row's direction. A K-major matrix whose rows are no longer than an atom's does not use it,
    /// and public kernels leave there what they like. (The manual calls it unused with every swizzle, but B of sparse
    /// products has 64 bytes along K, and an H200 takes it to get from one row of 32 bytes to the next.)
    pub leading: u32,
    /// Between atoms across.
    pub stride: u32,
    /// Rows of 128 bytes by which the pattern begins later than at a multiple of its repeat.
    pub base_offset: u32,
    /// `leading` is an address rather than a distance.
    pub absolute: bool,
    pub swizzle: Swizzle,
}

/// How pieces of an atom trade places; named by the bytes of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
    /// 128 bytes, in pieces of 32.
    B128In32,
}

/// The direction in which elements are neighbours in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    K,
    /// M of A, or N of B.
    Mn,
}

/// Why 64 bits are no descriptor of `tcgen05`. Every value is one of `wgmma`, which ignores what it does not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Bits 46-48, which must be `0b001`.
    Constant(u32),
    /// Bits 61-63.
    Swizzle(u32),
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(bits) => write!(f, "bits 46-48 are {bits:#05b}, not 0b001"),
            Self::Swizzle(bits) => {
                write!(f, "bits 61-63 are {bits}, which is no swizzle (0, 1, 2, 4 or 6)")
            }
        }
    }
}

/// Bytes of a piece that stays together.
pub const PIECE: u32 = 16;

impl Descriptor {
    /// A descriptor of `wgmma`.
    pub fn of_wgmma(bits: u64) -> Self {
        let swizzle = match bits >> 62 {
            0 => Swizzle::None,
            1 => Swizzle::B128,
            2 => Swizzle::B64,
            _ => Swizzle::B32,
        };
        Self { absolute: false, ..Self::with(bits, swizzle) }
    }

    /// A descriptor of `tcgen05`.
    ///
    /// # Errors
    /// Says which field has a value that the manual does not allow.
    pub fn of_tcgen05(bits: u64) -> Result<Self, Malformed> {
        let constant = field(bits, 46, 3);
        if constant != 1 {
            return Err(Malformed::Constant(constant));
        }
        let swizzle = match field(bits, 61, 3) {
            0 => Swizzle::None,
            1 => Swizzle::B128In32,
            2 => Swizzle::B128,
            4 => Swizzle::B64,
            6 => Swizzle::B32,
            other => return Err(Malformed::Swizzle(other)),
        };
        Ok(Self::with(bits, swizzle))
    }

    fn with(bits: u64, swizzle: Swizzle) -> Self {
        Self {
            start: field(bits, 0, 14) * PIECE,
            leading: field(bits, 16, 14) * PIECE,
            stride: field(bits, 32, 14) * PIECE,
            base_offset: field(bits, 49, 3),
            absolute: field(bits, 52, 1) == 1,
            swizzle,
        }
    }

    /// Address of byte `byte` along K of row `row` of M or N, of a K-major matrix. The [`PIECE`] that it lies in
    /// is contiguous.
    pub fn k_major(&self, row: u32, byte: u32) -> u32 {
        self.swizzled(self.start.wrapping_add(self.k_offset(row, byte)))
    }

    /// The same before pieces trade places, from the start.
    pub fn k_offset(&self, row: u32, byte: u32) -> u32 {
        let width = self.swizzle.width();
        row / 8 * self.stride + row % 8 * width + byte / width * self.leading + byte % width
    }

    /// Address of byte `byte` along M or N at element `k` of K, of an MN-major matrix. The [`PIECE`] that it lies
    /// in is contiguous.
    pub fn mn_major(&self, byte: u32, k: u32) -> u32 {
        self.swizzled(self.start.wrapping_add(self.mn_offset(byte, k)))
    }

    /// The same before pieces trade places, from the start.
    pub fn mn_offset(&self, byte: u32, k: u32) -> u32 {
        let swizzle = self.swizzle;
        let width = swizzle.width();
        let rows = if swizzle == Swizzle::B128In32 { 4 } else { 8 };
        let (along, across) = match swizzle {
            Swizzle::None => (self.stride, self.leading),
            _ => (self.leading, self.stride),
        };
        byte / width * along + k / rows * across + k % rows * width + byte % width
    }

    /// Where the pattern puts what would lie at `address`.
    #[inline(always)]
    pub fn swizzled(&self, address: u32) -> u32 {
        let row = (address >> 7).wrapping_sub(self.base_offset);
        address
            ^ match self.swizzle {
                Swizzle::None => 0,
                Swizzle::B32 => (row & 1) << 4,
                Swizzle::B64 => (row & 3) << 4,
                Swizzle::B128 => (row & 7) << 4,
                Swizzle::B128In32 => (row & 3) << 5,
            }
    }
}

impl Swizzle {
    /// Bytes of an atom's row.
    pub fn width(self) -> u32 {
        match self {
            Self::None => PIECE,
            Self::B32 => 32,
            Self::B64 => 64,
            Self::B128 | Self::B128In32 => 128,
        }
    }
}

fn field(bits: u64, first: u32, width: u32) -> u32 {
    (bits >> first) as u32 & ((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(generation: &str, bits: u64) -> Descriptor {
        match generation {
            "wgmma" => Descriptor::of_wgmma(bits),
            _ => Descriptor::of_tcgen05(bits).expect("CuTe's descriptors are in order"),
        }
    }

    /// `tests/fixtures/descriptors.cpp` made the truth of CuTe's layouts.
    #[test]
    fn elements_lie_where_cute_puts_them() {
        let truth = include_str!("../../../tests/fixtures/descriptors.txt");
        assert_eq!(truth.lines().count(), 20);
        for line in truth.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let [generation, major, rows, depth, bits, descriptor, addresses @ ..] = &words[..]
            else {
                panic!("{line}")
            };
            let [rows, depth, bits] =
                [rows, depth, bits].map(|n| n.parse::<u32>().expect("a number"));
            let hexadecimal = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
            let descriptor = read(generation, hexadecimal(descriptor));
            let found: Vec<u64> = if *major == "k" {
                let pieces = depth * bits / 128;
                let places = (0..rows).flat_map(|row| (0..pieces).map(move |at| (row, 16 * at)));
                places.map(|(row, byte)| descriptor.k_major(row, byte).into()).collect()
            } else {
                let pieces = rows * bits / 128;
                let places = (0..depth).flat_map(|k| (0..pieces).map(move |at| (16 * at, k)));
                places.map(|(byte, k)| descriptor.mn_major(byte, k).into()).collect()
            };
            let wanted: Vec<_> = addresses.iter().map(|text| hexadecimal(text)).collect();
            assert_eq!(found, wanted, "{line}");
        }
    }

    #[test]
    fn an_atom_may_be_entered_anywhere() {
        // The example above; then the same place from 32 bytes further along K.
        let at = |start: u64| read("tcgen05", 0x4000_4040_0000_0000 | start >> 4);
        assert_eq!(at(0x400).k_major(9, 40), 0x8b8);
        assert_eq!(at(0x420).k_major(9, 8), 0x8b8);
    }

    #[test]
    fn a_base_offset_turns_the_pattern() {
        // The same atoms, 0x180 further: as if they were at a multiple of 1024.
        let (aligned, later) = (0x4000_0040_0000_0000_u64, 0x4006_0040_0000_0000_u64 | 0x180 >> 4);
        for (row, byte) in [(0, 0), (3, 16), (7, 120), (13, 64)] {
            let [aligned, later] = [aligned, later].map(|bits| read("wgmma", bits));
            assert_eq!(later.k_major(row, byte), aligned.k_major(row, byte) + 0x180);
        }
    }

    #[test]
    fn fields_that_the_manual_does_not_allow_are_named() {
        let swizzle = |code: u64| Descriptor::of_tcgen05(1 << 46 | code << 61);
        for code in [3, 5, 7] {
            assert_eq!(swizzle(code), Err(Malformed::Swizzle(code as u32)));
        }
        assert_eq!(Descriptor::of_tcgen05(2 << 61), Err(Malformed::Constant(0)));
        assert!(Descriptor::of_tcgen05(1 << 46 | 1 << 52).is_ok_and(|d| d.absolute));
        assert!(!Descriptor::of_wgmma(u64::MAX).absolute);
    }
}

//! A or B in shared memory: elements placed by the manual's tables (PTX ISA 9.7.16.3-4), one at a time.

/// Bits 61 to 63 of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    None = 0,
    Atoms32 = 1,
    B128 = 2,
    B64 = 4,
    B32 = 6,
}

pub struct Operand {
    /// Bits of an element in shared memory, and elements in 16 bytes.
    pub bits: u32,
    pub per_piece: u32,
    pub transposed: bool,
    pub swizzle: Swizzle,
    pub base: u32,
    pub rows: u32,
    pub depth: u32,
    /// Element `(row, k)` is `codes[row * depth + k]`.
    pub codes: Vec<u32>,
}

impl Operand {
    pub fn code(&self, row: u32, k: u32) -> u32 {
        self.codes[(row * self.depth + k) as usize]
    }

    fn width(&self) -> u32 {
        match self.swizzle {
            Swizzle::None => 16,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            _ => 128,
        }
    }

    /// Leading and stride byte offsets.
    fn offsets(&self) -> (u32, u32) {
        let width = self.width();
        match (self.transposed, self.swizzle) {
            // Two groups of 16 bytes along K, then the next eight rows.
            (false, Swizzle::None) => (128, 256),
            (false, _) => (16, 8 * width),
            // Along K first, then the next 16 bytes of M or N.
            (true, Swizzle::None) => (128, 128 * self.depth.div_ceil(8)),
            (true, Swizzle::Atoms32) => (128 * self.depth, 4 * 128),
            (true, _) => (width * self.depth.next_multiple_of(8), 8 * width),
        }
    }

    pub fn descriptor(&self) -> u64 {
        let (leading, stride) = self.offsets();
        u64::from(self.base >> 4)
            | u64::from(leading >> 4) << 16
            | u64::from(stride >> 4) << 32
            | 1 << 46
            | (self.swizzle as u64) << 61
    }

    /// Byte of the element's 16 bytes, and its first bit in them.
    fn place(&self, row: u32, k: u32) -> (u32, u32) {
        let (leading, stride) = self.offsets();
        let (along, other) = if self.transposed { (row, k) } else { (k, row) };
        let (byte, bit) = (16 * (along / self.per_piece), along % self.per_piece * self.bits);
        let width = self.width();
        let offset = match (self.transposed, self.swizzle) {
            (false, Swizzle::None) => other % 8 * 16 + other / 8 * stride + byte / 16 * leading,
            (false, _) => other % 8 * width + other / 8 * stride + byte,
            (true, Swizzle::None) => byte / 16 * stride + other % 8 * 16 + other / 8 * leading,
            (true, Swizzle::Atoms32) => {
                byte % width + other % 4 * width + other / 4 * stride + byte / width * leading
            }
            (true, _) => {
                byte % width + other % 8 * width + other / 8 * stride + byte / width * leading
            }
        };
        let at = self.base + offset;
        let swizzled = match self.swizzle {
            Swizzle::None => at,
            Swizzle::B32 => at ^ (at >> 3 & 0x10),
            Swizzle::B64 => at ^ (at >> 3 & 0x30),
            Swizzle::B128 => at ^ (at >> 3 & 0x70),
            Swizzle::Atoms32 => at ^ (at >> 2 & 0x60),
        };
        (swizzled, bit)
    }

    /// Put every element into the image of shared memory.
    pub fn store(&self, image: &mut [u32]) {
        for row in 0..self.rows {
            for k in 0..self.depth {
                let (byte, bit) = self.place(row, k);
                let code = u64::from(self.code(row, k)) << (bit % 32);
                let word = (byte / 4 + bit / 32) as usize;
                image[word] |= code as u32;
                if code >> 32 != 0 {
                    image[word + 1] |= (code >> 32) as u32;
                }
            }
        }
    }
}

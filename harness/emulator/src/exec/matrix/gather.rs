//! Blocks of matrices in shared memory, as registers: eight rows of A (or columns of B) by 16 bytes along K, which is what
//! a register of a fragment is.
//!
//! ```text
//! K-major     16 bytes along K are neighbours      eight pieces of 16 bytes, one for each row
//! MN-major    eight rows are neighbours            of 16 bits: eight pieces, one for each element of K, transposed
//! ```

use super::descriptor::{Descriptor, Major, PIECE};
use super::fragment::Register;

/// A matrix in a CTA's shared memory.
pub struct Matrix {
    pub descriptor: Descriptor,
    pub major: Major,
    /// Bytes of an element as it lies in memory.
    pub element: u32,
    pub memory: *const u8,
    pub len: u64,
}

impl Matrix {
    /// An address of the `rows` by `bytes` along K that lies outside the memory, if there is one.
    pub fn outside(&self, rows: u32, bytes: u32) -> Option<u32> {
        let last = match self.major {
            Major::K => self.descriptor.k_offset(rows - 1, bytes - PIECE),
            Major::Mn => {
                let (row, k) = (rows * self.element - 1, bytes / self.element - 1);
                self.descriptor.mn_offset(row & !(PIECE - 1), k)
            }
        };
        // Offsets only grow, and what the pattern exchanges are pieces of 128 bytes.
        let end = (u64::from(self.descriptor.start) + u64::from(last)) | 127;
        if end < self.len {
            return None;
        }
        self.pieces(rows, bytes).find(|&at| u64::from(at) + u64::from(PIECE) > self.len)
    }

    /// The addresses of all pieces.
    pub fn pieces(&self, rows: u32, bytes: u32) -> impl Iterator<Item = u32> + '_ {
        let (across, along) = match self.major {
            Major::K => (rows, bytes),
            Major::Mn => (bytes / self.element, rows * self.element),
        };
        let pieces =
            (0..across).flat_map(move |at| (0..along.div_ceil(PIECE)).map(move |n| (at, n)));
        pieces.map(|(at, piece)| match self.major {
            Major::K => self.descriptor.k_major(at, piece * PIECE),
            Major::Mn => self.descriptor.mn_major(piece * PIECE, at),
        })
    }

    /// Rows `first` to `first + 7`, `piece` of 16 bytes along K.
    ///
    /// # Safety
    /// [`Self::outside`] must have found nothing for rows and bytes that include these; `first` is a multiple
    /// of 8.
    #[inline(always)]
    pub unsafe fn block(&self, first: u32, piece: u32) -> Register {
        // SAFETY: passed on.
        unsafe {
            match (self.major, self.element) {
                (Major::K, _) => self.block_of_rows(first, piece),
                (Major::Mn, 2) => self.block_of_halves(first, piece),
                (Major::Mn, _) => self.block_of_elements(first, piece),
            }
        }
    }

    /// # Safety
    /// As for [`Self::block`].
    #[inline(always)]
    unsafe fn block_of_rows(&self, first: u32, piece: u32) -> Register {
        let start =
            self.descriptor.start.wrapping_add(self.descriptor.k_offset(first, piece * PIECE));
        let pitch = self.descriptor.swizzle.width();
        let mut out = Register([0; 32]);
        for row in 0..8 {
            let at = self.descriptor.swizzled(start.wrapping_add(row * pitch));
            // SAFETY: by the contract.
            let words = unsafe { self.memory.add(at as usize).cast::<[u32; 4]>().read_unaligned() };
            out.0[4 * row as usize..][..4].copy_from_slice(&words);
        }
        out
    }

    /// # Safety
    /// As for [`Self::block`].
    unsafe fn block_of_halves(&self, first: u32, piece: u32) -> Register {
        let mut columns = [[0u16; 8]; 8];
        for (k, column) in (8 * piece..).zip(&mut columns) {
            let at = self.descriptor.mn_major(2 * first, k);
            // SAFETY: by the contract.
            *column = unsafe { self.memory.add(at as usize).cast::<[u16; 8]>().read_unaligned() };
        }
        let word = |lane: usize| {
            let (row, t) = (lane / 4, lane % 4);
            u32::from(columns[2 * t][row]) | u32::from(columns[2 * t + 1][row]) << 16
        };
        Register(std::array::from_fn(word))
    }

    /// # Safety
    /// As for [`Self::block`].
    unsafe fn block_of_elements(&self, first: u32, piece: u32) -> Register {
        let each = self.element;
        let mut out = [[0u8; 16]; 8];
        for (row, bytes) in (first..).zip(&mut out) {
            for (k, to) in (piece * PIECE / each..).zip(bytes.chunks_exact_mut(each as usize)) {
                for (byte, to) in (row * each..).zip(to) {
                    let at = self.descriptor.mn_major(byte, k);
                    // SAFETY: by the contract.
                    *to = unsafe { self.memory.add(at as usize).read() };
                }
            }
        }
        let word = |lane: usize| {
            let four = &out[lane / 4][4 * (lane % 4)..][..4];
            u32::from_le_bytes([four[0], four[1], four[2], four[3]])
        };
        Register(std::array::from_fn(word))
    }
}

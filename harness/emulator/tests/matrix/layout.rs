//! Where the elements stand, as PTX ISA 9.7.14.5.1-13 writes it down, shape by shape.

/// A lane, and the number of the element in it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub lane: usize,
    pub index: usize,
}

#[derive(Clone, Copy)]
pub struct Shape {
    pub rows: usize,
    pub depth: usize,
    /// Of an element.
    pub bits: usize,
    /// Row and column of element `i` of A, from `groupID` and `threadID_in_group`.
    a: fn(usize, usize, usize) -> (usize, usize),
    /// Row and column of element `i` of B.
    b: fn(usize, usize, usize) -> (usize, usize),
}

impl Shape {
    pub fn a_registers(&self) -> usize {
        self.rows * self.depth * self.bits / 1024
    }

    pub fn b_registers(&self) -> usize {
        8 * self.depth * self.bits / 1024
    }

    pub fn a(&self, row: usize, k: usize) -> Place {
        self.search(self.a_registers(), self.a, (row, k))
    }

    pub fn b(&self, k: usize, column: usize) -> Place {
        self.search(self.b_registers(), self.b, (k, column))
    }

    fn search(
        &self,
        registers: usize,
        of: fn(usize, usize, usize) -> (usize, usize),
        wanted: (usize, usize),
    ) -> Place {
        for lane in 0..32 {
            for index in 0..registers * 32 / self.bits {
                if of(lane >> 2, lane % 4, index) == wanted {
                    return Place { lane, index };
                }
            }
        }
        panic!("nobody holds {wanted:?}")
    }

    pub fn c(&self, row: usize, column: usize) -> Place {
        for lane in 0..32 {
            for i in 0..self.rows / 4 {
                let (group, thread) = (lane >> 2, lane % 4);
                let here = (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1));
                if here == (row, column) {
                    return Place { lane, index: i };
                }
            }
        }
        panic!("nobody holds ({row}, {column})")
    }
}

pub const K8_BITS16: Shape = Shape {
    rows: 16,
    depth: 8,
    bits: 16,
    a: |g, t, i| (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1)),
    b: |g, t, i| (t * 2 + i, g),
};
pub const K16_BITS16: Shape = Shape {
    rows: 16,
    depth: 16,
    bits: 16,
    a: |g, t, i| {
        let row = if matches!(i, 0 | 1 | 4 | 5) { g } else { g + 8 };
        (row, t * 2 + (i & 1) + if i >= 4 { 8 } else { 0 })
    },
    b: |g, t, i| (t * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, g),
};
pub const K4_BITS32: Shape = Shape {
    rows: 16,
    depth: 4,
    bits: 32,
    a: |g, t, i| (if i == 0 { g } else { g + 8 }, t),
    b: |g, t, _| (t, g),
};
pub const K8_BITS32: Shape = Shape {
    rows: 16,
    depth: 8,
    bits: 32,
    a: |g, t, i| (if i == 0 || i == 2 { g } else { g + 8 }, if i < 2 { t } else { t + 4 }),
    b: |g, t, i| (if i == 0 { t } else { t + 4 }, g),
};
pub const K16_BITS8: Shape = Shape {
    rows: 16,
    depth: 16,
    bits: 8,
    a: |g, t, i| (if i < 4 { g } else { g + 8 }, t * 4 + (i & 3)),
    b: |g, t, i| (t * 4 + i, g),
};
pub const K32_BITS8: Shape = Shape {
    rows: 16,
    depth: 32,
    bits: 8,
    a: |g, t, i| {
        let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
        (row, t * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
    },
    b: |g, t, i| (t * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, g),
};
pub const K32_BITS4: Shape = Shape {
    rows: 16,
    depth: 32,
    bits: 4,
    a: |g, t, i| (if i < 8 { g } else { g + 8 }, t * 8 + (i & 7)),
    b: |g, t, i| (t * 8 + i, g),
};
pub const K64_BITS4: Shape = Shape {
    rows: 16,
    depth: 64,
    bits: 4,
    a: |g, t, i| {
        let row = if i < 8 || (16..24).contains(&i) { g } else { g + 8 };
        (row, t * 8 + (i & 7) + if i < 16 { 0 } else { 32 })
    },
    b: |g, t, i| (t * 8 + (i & 7) + if i < 8 { 0 } else { 32 }, g),
};
pub const K128_BITS1: Shape = Shape {
    rows: 16,
    depth: 128,
    bits: 1,
    a: |g, t, i| (if i < 32 { g } else { g + 8 }, t * 32 + (i & 31)),
    b: |g, t, i| (t * 32 + i, g),
};
pub const K256_BITS1: Shape = Shape {
    rows: 16,
    depth: 256,
    bits: 1,
    a: |g, t, i| {
        let row = if i < 32 || (64..96).contains(&i) { g } else { g + 8 };
        (row, t * 32 + (i & 31) + if i < 64 { 0 } else { 128 })
    },
    b: |g, t, i| (t * 32 + (i & 31) + if i < 32 { 0 } else { 128 }, g),
};
pub const M8_K16_BITS8: Shape =
    Shape { rows: 8, depth: 16, bits: 8, a: |g, t, i| (g, t * 4 + i), b: |g, t, i| (t * 4 + i, g) };
pub const M8_K32_BITS4: Shape =
    Shape { rows: 8, depth: 32, bits: 4, a: |g, t, i| (g, t * 8 + i), b: |g, t, i| (t * 8 + i, g) };
pub const M8_K128_BITS1: Shape = Shape {
    rows: 8,
    depth: 128,
    bits: 1,
    a: |g, t, i| (g, t * 32 + i),
    b: |g, t, i| (t * 32 + i, g),
};

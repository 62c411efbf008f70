//! Which cells of tensor memory the registers of `tcgen05.ld` and `.st` are (PTX ISA 9.7.16.2.3).
//!
//! The manual draws it; the formulas are those that CUTLASS's layouts spell out
//! (`cute/atom/copy_traits_sm100.hpp`). For lane t and register j, rows and columns from the address on:
//!
//! ```text
//! .32x32b      row t                      column j
//! .16x64b      row t/4 + 8·(t mod 2)      column 2j + (t/2 mod 2)
//! .16x128b     row t/4 + 8·(j mod 2)      column 4·(j/2) + (t mod 4)
//! .16x256b     row t/4 + 8·(j/2 mod 2)    column 8·(j/4) + 2·(t mod 4) + (j mod 2)
//! .16x32bx2    row t mod 16               column j, in lanes from 16 on that of the second half + j
//! ```
//!
//! With `.pack::16b` and `.unpack::16b` a column in this sense is two: their lower halves are the halves
//! of the register.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Rows32Bits32 = 0,
    Rows16Bits64 = 1,
    Rows16Bits128 = 2,
    Rows16Bits256 = 3,
    Rows16Bits32Twice = 4,
}

impl Shape {
    /// By its name in an instruction.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "32x32b" => Self::Rows32Bits32,
            "16x64b" => Self::Rows16Bits64,
            "16x128b" => Self::Rows16Bits128,
            "16x256b" => Self::Rows16Bits256,
            "16x32bx2" => Self::Rows16Bits32Twice,
            _ => return None,
        })
    }

    /// By its place in an instruction's flags.
    pub fn of(flags: u32) -> Self {
        match flags & 7 {
            0 => Self::Rows32Bits32,
            1 => Self::Rows16Bits64,
            2 => Self::Rows16Bits128,
            3 => Self::Rows16Bits256,
            _ => Self::Rows16Bits32Twice,
        }
    }

    /// Registers of each lane, for a repeat count that the manual allows.
    pub fn registers(self, repeat: usize) -> Option<usize> {
        let (each, most) = match self {
            Self::Rows32Bits32 | Self::Rows16Bits64 | Self::Rows16Bits32Twice => (1, 128),
            Self::Rows16Bits128 => (2, 64),
            Self::Rows16Bits256 => (4, 32),
        };
        (repeat.is_power_of_two() && repeat <= most).then_some(each * repeat)
    }

    /// Lanes of tensor memory that it spans.
    pub fn rows(self) -> u32 {
        if self == Self::Rows32Bits32 { 32 } else { 16 }
    }

    /// Columns that so many registers span, without a second half.
    pub fn columns(self, registers: usize) -> u32 {
        match self {
            Self::Rows32Bits32 | Self::Rows16Bits32Twice => registers as u32,
            _ => 2 * registers as u32,
        }
    }

    /// Row and column of a lane's register; `second` is where the columns of the second half begin.
    pub fn cell(self, lane: u32, register: u32, second: u32) -> (u32, u32) {
        let (t, j) = (lane, register);
        match self {
            Self::Rows32Bits32 => (t, j),
            Self::Rows16Bits64 => (t / 4 + 8 * (t % 2), 2 * j + t / 2 % 2),
            Self::Rows16Bits128 => (t / 4 + 8 * (j % 2), 4 * (j / 2) + t % 4),
            Self::Rows16Bits256 => (t / 4 + 8 * (j / 2 % 2), 8 * (j / 4) + 2 * (t % 4) + j % 2),
            Self::Rows16Bits32Twice => (t % 16, j + if t < 16 { 0 } else { second }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every cell of the span once: nothing is moved twice, nothing is left out.
    #[test]
    fn registers_cover_their_cells_once() {
        for name in ["32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"] {
            let shape = Shape::named(name).expect("a shape");
            for repeat in [1, 2, 4, 8, 16, 32] {
                let registers = shape.registers(repeat).expect("a repeat count");
                let columns = shape.columns(registers);
                let mut seen = std::collections::HashSet::new();
                for lane in 0..32 {
                    for register in 0..registers as u32 {
                        let (row, column) = shape.cell(lane, register, columns);
                        assert!(seen.insert((row, column)), "{name}: ({row}, {column}) twice");
                    }
                }
                let halves = if name == "16x32bx2" { 2 } else { 1 };
                let all =
                    |&(row, column): &(u32, u32)| row < shape.rows() && column < halves * columns;
                assert!(seen.iter().all(all), "{name}.x{repeat}");
                assert_eq!(seen.len() as u32, shape.rows() * halves * columns, "{name}.x{repeat}");
            }
        }
        assert_eq!(Shape::Rows16Bits256.registers(64), None);
        assert_eq!(Shape::Rows32Bits32.registers(3), None);
    }
}

//! Rows of shared memory to fragments and back: `ldmatrix`, `stmatrix`, `movmatrix`
//! (PTX ISA 9.7.14.5.15-17).
//!
//! Lanes 8·i to 8·i + 7 name the rows of matrix i. A row of eight 16-bit elements goes to four lanes, a
//! word to each:
//!
//! ```text
//! lane 4·r + j of register i gets word j of row r of matrix i        elements (r, 2j) and (r, 2j + 1)
//! with .trans                                                        elements (2j, r) and (2j + 1, r)
//! ```

use super::whole_warp;
use crate::exec::access::row_of_shared;
use crate::exec::{Core, Flow};
use crate::fault::Access;
use crate::program::Inst;

/// What `ldmatrix` and `stmatrix` move, in an instruction's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// 8×8 elements of 16 bits.
    M8n8 = 0,
    M8n8Transposed = 1,
    /// 8×16 elements of 8 bits, from 4 bits with 64 of padding after a row, or 6 with 32.
    M8n16From4 = 2,
    M8n16From6 = 3,
    /// 16×16 elements of 8 bits, transposed; likewise.
    M16n16 = 4,
    M16n16From4 = 5,
    M16n16From6 = 6,
    /// 16×8 elements of 8 bits, transposed (stores).
    M16n8 = 7,
}

impl Move {
    fn of(flags: u32) -> Self {
        match flags & 7 {
            0 => Self::M8n8,
            1 => Self::M8n8Transposed,
            2 => Self::M8n16From4,
            3 => Self::M8n16From6,
            4 => Self::M16n16,
            5 => Self::M16n16From4,
            6 => Self::M16n16From6,
            _ => Self::M16n8,
        }
    }
}

type Row = [u8; 16];

/// `ldmatrix`: rows at `[a + imm]` to the registers of the list.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn load_rows(core: &mut Core, inst: &Inst) -> Flow {
    if let Err(flow) = whole_warp(core) {
        return flow;
    }
    let what = Move::of(inst.flags);
    let program = core.program;
    let slots = program.list(inst);
    let tall = matches!(what, Move::M16n16 | Move::M16n16From4 | Move::M16n16From6);
    let count = if tall { 8 * slots.len() } else { (8 * slots.len()).min(32) };
    let mut rows = [[0; 16]; 32];
    // SAFETY: passed on.
    if let Err(flow) = unsafe { row_of_shared(core, inst, count, Access::Read, &mut rows) } {
        return flow;
    }
    for row in &mut rows[..count] {
        *row = match what {
            Move::M8n16From4 | Move::M16n16From4 => spread(row, 4),
            Move::M8n16From6 | Move::M16n16From6 => spread(row, 6),
            _ => *row,
        };
    }
    for (i, &slot) in slots.iter().enumerate() {
        let mut lanes = [0u32; 32];
        for (lane, word) in lanes.iter_mut().enumerate() {
            let (r, j) = (lane / 4, lane % 4);
            let byte = |row: usize, at: usize| rows[row % 32][at];
            let bytes = match what {
                Move::M8n8Transposed => {
                    let (upper, lower) = (8 * i + 2 * j, 8 * i + 2 * j + 1);
                    [
                        byte(upper, 2 * r),
                        byte(upper, 2 * r + 1),
                        byte(lower, 2 * r),
                        byte(lower, 2 * r + 1),
                    ]
                }
                // Registers 2m and 2m + 1 hold columns r and r + 8 of matrix m, four rows a lane.
                _ if tall => {
                    let (first, column) = (16 * (i / 2) + 4 * j, r + 8 * (i % 2));
                    std::array::from_fn(|k| byte(first + k, column))
                }
                _ => std::array::from_fn(|k| byte(8 * i + r, 4 * j + k)),
            };
            *word = u32::from_le_bytes(bytes);
        }
        // SAFETY: lowering keeps slots within the file.
        unsafe { *core.lanes_of(slot) = lanes };
    }
    Flow::Next
}

/// Sixteen elements of `bits` to a byte each: four bits into the middle of the byte, six into the
/// low end (PTX ISA 9.7.16.9.1).
fn spread(row: &Row, bits: u32) -> Row {
    let packed = u128::from_le_bytes(*row);
    std::array::from_fn(|i| {
        let code = (packed >> (bits * i as u32)) as u8 & ((1 << bits) - 1);
        if bits == 4 { code << 2 } else { code }
    })
}

/// `stmatrix`: the registers of the list to rows at `[a + imm]`.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn store_rows(core: &mut Core, inst: &Inst) -> Flow {
    if let Err(flow) = whole_warp(core) {
        return flow;
    }
    let what = Move::of(inst.flags);
    let program = core.program;
    let slots = program.list(inst);
    let mut rows: [Row; 32] = [[0; 16]; 32];
    for (i, &slot) in slots.iter().enumerate().take(4) {
        // SAFETY: lowering keeps slots within the file.
        let lanes = unsafe { core.read::<u32>(slot) };
        for (lane, word) in lanes.into_iter().enumerate() {
            let (r, j) = (lane / 4, lane % 4);
            let bytes = word.to_le_bytes();
            match what {
                Move::M8n8Transposed => {
                    for k in 0..4 {
                        rows[8 * i + 2 * j + k / 2][2 * r + k % 2] = bytes[k];
                    }
                }
                // A column of the 16×8 matrix is a row of 16 bytes in memory.
                _ => rows[8 * i + r][4 * j..][..4].copy_from_slice(&bytes),
            }
        }
    }
    let count = (8 * slots.len()).min(32);
    // SAFETY: passed on.
    match unsafe { row_of_shared(core, inst, count, Access::Write, &mut rows) } {
        Ok(()) => Flow::Next,
        Err(flow) => flow,
    }
}

/// `movmatrix`: a transposed 8×8 matrix of 16-bit elements.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn transpose(core: &mut Core, inst: &Inst) -> Flow {
    if let Err(flow) = whole_warp(core) {
        return flow;
    }
    // SAFETY: lowering keeps slots within the file.
    let from = unsafe { core.read::<u32>(inst.a) };
    let element =
        |row: usize, column: usize| from[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    let to: [u32; 32] = std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        element(column, row) | element(column + 1, row) << 16
    });
    // SAFETY: as above.
    unsafe { *core.lanes_of(inst.dst) = to };
    Flow::Next
}

//! Copies that need not be made.
//!
//! The compiler writes `mov %r1, %tid.x`, `ld.param %rd1, [p]`, `cvta.to.global %rd2, %rd1` and
//! then uses the result. Where source and destination are each written once (by one instruction of
//! the text, or before the start), every reader can read the source: compilers emit such code in
//! static single assignment form, where the writer comes before every reader.

use super::{Block, End, Reg, Registers};

pub fn remove(blocks: &mut [Block], registers: &mut Registers) {
    let count = registers.info.len();
    let mut writers = vec![0u8; count];
    for op in blocks.iter().flat_map(|block| &block.ops) {
        for reg in op.defs() {
            writers[reg as usize] = writers[reg as usize].saturating_add(1);
        }
    }
    let mut source: Vec<Reg> = (0..count as Reg).collect();
    for op in blocks.iter().flat_map(|block| &block.ops).filter(|op| op.copy) {
        let (Some(dst), Some(from)) = (op.dst, op.a) else { continue };
        let settled = registers.info[from as usize].preset.is_some() || writers[from as usize] == 1;
        if writers[dst as usize] == 1 && settled && registers.wide(dst) == registers.wide(from) {
            source[dst as usize] = from;
        }
    }
    let root = |mut reg: Reg| {
        // Copies of copies; a cycle cannot be, but malformed text must not hang us.
        for _ in 0..count {
            let next = source[reg as usize];
            if next == reg {
                break;
            }
            reg = next;
        }
        reg
    };
    let roots: Vec<Reg> = (0..count as Reg).map(root).collect();
    for block in blocks {
        block.ops.retain(|op| !(op.copy && op.dst.is_some_and(|d| source[d as usize] != d)));
        for op in &mut block.ops {
            op.map_uses(|reg| roots[reg as usize]);
        }
        match &mut block.end {
            End::Branch { predicate: reg, .. } | End::Switch { index: reg, .. } => {
                *reg = roots[*reg as usize];
            }
            End::Jump(_) | End::Leave => {}
        }
    }
}

//! What `wgmma` reads of shared memory until its group has been waited for: nobody may write there meanwhile
//! (PTX ISA 9.7.15.4, 9.7.15.7).

use super::clash::Clash;
use crate::fault::Access;

/// A matrix that a warp's product reads.
pub struct Operand {
    pub warp: u32,
    /// The instruction.
    pub ip: u32,
    /// Of the warp.
    pub group: u32,
    /// Where its pieces of 16 bytes begin.
    pub pieces: Vec<u32>,
}

/// Of one CTA.
#[derive(Default)]
pub struct Operands(Vec<Operand>);

/// Bytes of a piece.
const PIECE: u64 = 16;

impl Operands {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, operand: Operand) {
        self.0.push(operand);
    }

    /// A warp has waited for all groups before `group`.
    pub fn read(&mut self, warp: u32, group: u32) {
        self.0.retain(|operand| operand.warp != warp || operand.group >= group);
    }

    /// A write to these bytes, and the product that still reads some of them.
    pub fn clash(&self, offset: u64, bytes: u64) -> Option<Clash> {
        let meets = |piece: &u32| {
            let piece = u64::from(*piece);
            piece < offset + bytes && offset < piece + PIECE
        };
        let operand = self.0.iter().find(|operand| operand.pieces.iter().any(meets))?;
        Some(Clash {
            access: Access::Read,
            ip: Some(operand.ip),
            thread: Some((operand.warp, 0)),
            at_once: false,
            product: true,
        })
    }
}

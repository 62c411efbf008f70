//! What `wgmma` reads of shared memory until its group has been waited for, and `tcgen05` until it is done: nobody may
//! write there meanwhile (PTX ISA 9.7.15.4, 9.7.15.7, 9.7.16.6).

use super::clash::Clash;
use crate::exec::tcgen05::Queue;
use crate::fault::Access;

/// When a product has read its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The warp has waited for its group.
    Group(u32),
    /// What has this number is done.
    Done(u64),
}

/// A matrix that a warp's product reads.
pub struct Operand {
    pub warp: u32,
    /// The instruction.
    pub ip: u32,
    pub until: Until,
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
        let reads = |operand: &Operand| match operand.until {
            Until::Group(of) => operand.warp != warp || of >= group,
            Until::Done(_) => true,
        };
        self.0.retain(reads);
    }

    /// Of what waits in the queue, the others are done.
    pub fn done(&mut self, queue: &Queue) {
        let reads = |operand: &Operand| match operand.until {
            Until::Group(_) => true,
            Until::Done(number) => queue.has(number),
        };
        self.0.retain(reads);
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
            product: Some(operand.until),
        })
    }
}

//! What an outlined function keeps of its registers while it calls.
//!
//! What it calls may call it again, with the same registers (`outlined.rs`). So before a call it stores
//! those whose values matter behind it to its frame, and loads them back where the call returns to. Those
//! are few: a frame takes what a GPU's does, not a word for each register of the function.
//!
//! ```text
//! sum:  ld r0, [n]                              sum:  fp + 32 = sp       the size of the frame
//!       r1 = r0 - 1                                   …
//!       call (r2), sum, (r1)      r0 is live          st [fp+16], r0
//!       r3 = r0 + r2                                  …
//!                                                     ld r0, [fp+16]
//! ```
//!
//! A register matters behind a call if the function itself reads it there: calls are taken for jumps to
//! where they return, and returns for the end.

use super::liveness::Liveness;
use super::outlined::{ALIGNMENT, Body};
use super::select::Selected;
use super::variables::MOST_BYTES;
use super::{Block, End, LowerError, Op, Reg, Registers, Width};
use crate::exec::access::LOCAL;
use crate::isa::{self, Bits, Kind, flag};
use crate::sanitize::{Action, Touch};

/// Let the outlined functions make their frames, and save and restore what they need.
///
/// # Errors
/// Where a frame is larger than any GPU's local memory.
pub fn save(selected: &mut Selected) -> Result<(), LowerError> {
    let bodies = std::mem::take(&mut selected.bodies);
    let kept = kept(selected, &bodies);
    for (body, kept) in bodies.iter().zip(kept) {
        frame(selected, body, &kept)?;
    }
    Ok(())
}

/// For each call of each body, the registers whose values matter behind it.
fn kept(selected: &mut Selected, bodies: &[Body]) -> Vec<Vec<Vec<Reg>>> {
    let Selected { blocks, registers, labels, .. } = selected;
    // Calls and returns as the functions themselves see them, while we look.
    let mut ends = Vec::new();
    let mut see = |blocks: &mut Vec<Block>, block: usize, end: End| {
        ends.push((block, std::mem::replace(&mut blocks[block].end, end)));
    };
    for body in bodies {
        for call in &body.calls {
            see(blocks, labels[call.before], End::Jump(labels[call.after]));
        }
        see(blocks, labels[body.leave], End::Leave);
    }
    let live = Liveness::of(blocks, registers.info.len());
    ends.into_iter().for_each(|(block, end)| blocks[block].end = end);
    let of_call = |body: &Body, after: usize| {
        let mut kept = Vec::new();
        live.at_entry(labels[after], |reg| {
            let own = body.registers.contains(&reg);
            if own && registers.info[reg as usize].preset.is_none() {
                kept.push(reg);
            }
        });
        kept
    };
    let of_body = |body: &Body| body.calls.iter().map(|call| of_call(body, call.after)).collect();
    bodies.iter().map(of_body).collect()
}

/// Give each register that is kept at some call its place in the frame, and write the code.
fn frame(selected: &mut Selected, body: &Body, kept: &[Vec<Reg>]) -> Result<(), LowerError> {
    let Selected { blocks, registers, labels, .. } = selected;
    let mut all: Vec<Reg> = kept.iter().flatten().copied().collect();
    // Those of 64 bits first, so that all are aligned.
    all.sort_by_key(|&reg| (!registers.wide(reg), reg));
    all.dedup();
    let mut end = body.bytes.next_multiple_of(8);
    let mut places = Vec::with_capacity(all.len());
    for &reg in &all {
        places.push((reg, end));
        end += if registers.wide(reg) { 8 } else { 4 };
    }
    let size = end.next_multiple_of(ALIGNMENT);
    if size > u64::from(MOST_BYTES) {
        let message = format!("{size} bytes in the frame of a function");
        return Err(LowerError { message, span: body.span.clone() });
    }
    let (frame, stack) = body.pointers;
    for (call, kept) in body.calls.iter().zip(kept) {
        let (before, after) = (labels[call.before], labels[call.after]);
        let origin = blocks[before].ops.first().map_or(0, |op| op.origin);
        let at = |reg: Reg| places.iter().find(|place| place.0 == reg).map_or(0, |place| place.1);
        let stores = kept.iter().map(|&reg| access(registers, frame, at(reg), reg, true, origin));
        let stores: Option<Vec<_>> = stores.collect();
        let loads = kept.iter().map(|&reg| access(registers, frame, at(reg), reg, false, origin));
        let loads: Option<Vec<_>> = loads.collect();
        blocks[before].ops.splice(0..0, stores.unwrap_or_default());
        blocks[after].ops.splice(0..0, loads.unwrap_or_default());
    }
    let entry = labels[body.entry];
    let origin = blocks[entry].origins.start;
    let by = registers.constant(size as u32);
    if let Some((row, _)) = isa::find("add", &["u32"])
        && let Kind::Lanes(_, handlers) = row.kind
    {
        let mut op = Op::new(handlers, origin);
        (op.dst, op.a, op.b) = (Some(stack), Some(frame), Some(by));
        blocks[entry].ops.insert(0, op);
    }
    Ok(())
}

/// A register to its place in the frame, or from there.
fn access(
    registers: &Registers,
    frame: Reg,
    at: u64,
    reg: Reg,
    stores: bool,
    origin: u32,
) -> Option<Op> {
    let wide = registers.info[reg as usize].width == Width::Wide;
    let bits = if wide { Bits::B64 } else { Bits::B32 };
    let handlers = match stores {
        true => isa::store_handlers(bits, 1, LOCAL),
        false => isa::load_handlers(bits, 1, LOCAL),
    };
    let mut op = Op::new(handlers?, origin);
    op.a = Some(frame);
    op.imm = at;
    op.memory = true;
    op.flags = u32::from(LOCAL) << flag::SPACE_SHIFT;
    op.list = vec![reg];
    op.written = usize::from(!stores);
    let touch = Touch { bytes: bits.bytes() as u8, count: 1, ..Touch::default() };
    op.action = Some(if stores { Action::Store(touch) } else { Action::Load(touch) });
    Some(op)
}

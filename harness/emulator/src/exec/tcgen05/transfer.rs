//! `tcgen05.ld` and `.st`: registers of a warp from tensor memory and to it (PTX ISA 9.7.16.8).
//!
//! A warp reaches the 32 lanes that its number within its warpgroup stands for: warp 6 those from 64 on.

use super::memory::{Address, COLUMNS, LANES};
use super::{Shape, at_rest, illegal, own_memory, uniform};
use crate::exec::matrix::whole_warp;
use crate::exec::{Core, Flow};
use crate::fault::Access;
use crate::program::{Inst, SLOT};

/// In the flags, beside the [`Shape`]: `.pack::16b`, or `.unpack::16b`.
pub const HALVES: u32 = 1 << 3;

const SECTION: &str = "9.7.16.8";

/// Where the registers of an instruction go, checked.
struct Window {
    shape: Shape,
    at: Address,
    /// Columns from the first half to the second.
    second: u32,
    halves: bool,
}

impl Window {
    /// # Safety
    /// See [`crate::exec::Handler`].
    unsafe fn of(core: &mut Core, inst: &Inst, access: Access) -> Result<Self, Flow> {
        let verb = if access == Access::Read { "reads" } else { "writes" };
        whole_warp(core)?;
        // SAFETY: lowering keeps slots within the file.
        let address = unsafe { uniform(core, inst.a, "tensor memory addresses") }?;
        let at = Address::from(address);
        let shape = Shape::of(inst.flags);
        let own = 32 * (core.warp % 4);
        let upper = shape.rows() == 16 && at.lane == own + 16;
        if at.lane != own && !upper {
            let message = format!(
                "{verb} tensor memory from lane {} on in warp {}, which reaches lanes {own} to {}{}",
                at.lane,
                core.warp,
                own + 31,
                if shape.rows() == 16 { ", in halves of 16" } else { " together" },
            );
            return Err(illegal(core, SECTION, &message));
        }
        let halves = inst.flags & HALVES != 0;
        let columns = shape.columns(inst.d as usize) * if halves { 2 } else { 1 };
        let second = inst.imm as u32;
        let begins = [0, second];
        let begins = if shape == Shape::Rows16Bits32Twice { &begins[..] } else { &begins[..1] };
        for begin in begins {
            let first = at.column.saturating_add(*begin);
            let memory = own_memory(core);
            if !memory.owns(first, columns) || first + columns > COLUMNS {
                let message = format!(
                    "{verb} columns {first} to {} of tensor memory, and {}",
                    first.saturating_add(columns) - 1,
                    memory.described()
                );
                return Err(illegal(core, SECTION, &message));
            }
            at_rest(core, (first, columns), access, false)?;
        }
        Ok(Self { shape, at, second, halves })
    }

    /// Lane and column of a register's cell; of its lower half, where there are two.
    fn cell(&self, lane: u32, register: u32) -> (usize, u32) {
        let per = if self.halves { 2 } else { 1 };
        let (row, column) = self.shape.cell(lane, register, self.second / per);
        // The second half begins where the instruction says, whatever is packed.
        let odd = if lane >= 16 && self.shape == Shape::Rows16Bits32Twice {
            self.second % per
        } else {
            0
        };
        ((self.at.lane + row) as usize % LANES, self.at.column + per * column + odd)
    }
}

impl Window {
    /// Tell the sanitizer in which lanes a register of this slot got what nobody wrote.
    ///
    /// # Safety
    /// See [`crate::exec::Handler`].
    unsafe fn tell_undefined(&self, core: &mut Core, slot: u32, register: u32) {
        let memory = &core.tensor.memories[core.cluster_rank as usize];
        let unwritten = (0..32).filter(|&lane| {
            let (row, column) = self.cell(lane, register);
            memory.written(column) >> row & 1 == 0
        });
        let lanes = unwritten.fold(0, |all, lane| all | 1 << lane);
        let ip = core.sanitizer.as_ref().map_or(0, |sanitizer| sanitizer.ip);
        // SAFETY: the warp that runs set it, or it is null.
        if let Some(registers) = unsafe { core.defined.as_mut() } {
            registers.set(slot, u32::MAX, lanes, ip);
        }
    }
}

/// `tcgen05.ld`: cells at the address in `a` to the registers of the list.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn load(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    let window = match unsafe { Window::of(core, inst, Access::Read) } {
        Ok(window) => window,
        Err(flow) => return flow,
    };
    let program = core.program;
    for (register, &slot) in program.list(inst).iter().enumerate() {
        let register = register as u32;
        let memory = own_memory(core);
        let mut values = [0u32; 32];
        if window.shape == Shape::Rows32Bits32 && !window.halves {
            let (first, column) = window.cell(0, register);
            values.copy_from_slice(&memory.column(column)[first..][..32]);
        } else {
            for (lane, value) in values.iter_mut().enumerate() {
                let (row, column) = window.cell(lane as u32, register);
                *value = memory.column(column)[row];
                if window.halves {
                    *value = *value & 0xffff | memory.column(column + 1)[row] << 16;
                }
            }
        }
        // SAFETY: lowering keeps slots within the file.
        unsafe { *core.lanes_of(slot) = values };
        if core.sanitizer.is_some() {
            // SAFETY: passed on.
            unsafe { window.tell_undefined(core, slot / SLOT as u32, register) };
        }
    }
    Flow::Next
}

/// `tcgen05.st`: the registers of the list to the cells at the address in `a`.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn store(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    let window = match unsafe { Window::of(core, inst, Access::Write) } {
        Ok(window) => window,
        Err(flow) => return flow,
    };
    let program = core.program;
    for (register, &slot) in program.list(inst).iter().enumerate() {
        // SAFETY: lowering keeps slots within the file.
        let values = unsafe { core.read::<u32>(slot) };
        let memory = own_memory(core);
        for (lane, value) in values.into_iter().enumerate() {
            let (row, column) = window.cell(lane as u32, register as u32);
            if window.halves {
                // What the upper halves get is not said; zeros are a choice.
                memory.column_mut(column, 1 << row)[row] = value & 0xffff;
                memory.column_mut(column + 1, 1 << row)[row] = value >> 16;
            } else {
                memory.column_mut(column, 1 << row)[row] = value;
            }
        }
    }
    Flow::Next
}

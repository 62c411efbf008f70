//! Functions that every kernel can call without defining them: `printf`, `assert`, `malloc`, `free`.
//!
//! Their parameters lie in the caller's local memory, where `.param` variables are kept. The list of
//! the instruction has the offset of the result, then those of the parameters.

use super::access::{Span, span};
use super::bulk::{lanes, narrow};
use super::{Core, Flow, printf};
use crate::fault::{Access, FaultKind};
use crate::memory::LOCAL_WINDOW;
use crate::program::{Inst, Slot};

/// Bytes of output of a launch; the rest is dropped, as the hardware's buffer would overflow.
const OUTPUT: usize = 1 << 20;
/// Longest string that a kernel can print.
const STRING: u64 = 16 << 10;

/// Stands in the list for a result that nobody takes.
pub const NO_RESULT: u32 = u32::MAX;

/// A 64-bit word of a lane's local memory.
///
/// # Safety
/// `slot` must be a register of the warp; the local memory must be that of the warp.
unsafe fn parameter(core: &Core, slot: Slot, lane: usize) -> u64 {
    // SAFETY: by the contract.
    let offset = u64::from(unsafe { narrow(core, slot, lane) });
    if offset + 8 > core.local_len {
        return 0;
    }
    // SAFETY: within the lane's part.
    unsafe {
        let at = core.local.add(lane * core.local_len as usize + offset as usize);
        at.cast::<u64>().read_unaligned()
    }
}

/// # Safety
/// As for [`parameter`].
unsafe fn answer(core: &mut Core, slot: Slot, lane: usize, value: u64, bytes: usize) {
    // SAFETY: by the contract.
    let offset = unsafe { narrow(core, slot, lane) };
    if offset == NO_RESULT || u64::from(offset) + bytes as u64 > core.local_len {
        return;
    }
    let value = value.to_le_bytes();
    // SAFETY: within the lane's part.
    unsafe {
        let at = core.local.add(lane * core.local_len as usize + offset as usize);
        at.copy_from_nonoverlapping(value.as_ptr(), bytes);
    }
}

/// Bytes at a generic address, or nothing; a string that is not there is no reason to stop.
fn bytes_at(
    core: &mut Core,
    inst: &Inst,
    lane: usize,
    address: u64,
    bytes: u64,
) -> Option<Vec<u8>> {
    let host = if address >= LOCAL_WINDOW {
        let offset = address - LOCAL_WINDOW;
        if offset.saturating_add(bytes) > core.local_len {
            return None;
        }
        core.local.expose_provenance() as u64 + lane as u64 * core.local_len + offset
    } else {
        let counting = std::mem::replace(&mut core.counting, false);
        let found = span(core, inst, lane, Span::Global(address), bytes, 1, Access::Read);
        core.counting = counting;
        core.fault = None;
        found.ok()?
    };
    let from = std::ptr::with_exposed_provenance::<u8>(host as usize);
    // SAFETY: the bytes were found to be there.
    Some(unsafe { std::slice::from_raw_parts(from, bytes as usize) }.to_vec())
}

fn string_at(core: &mut Core, inst: &Inst, lane: usize, address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for at in 0..STRING {
        let byte = bytes_at(core, inst, lane, address.wrapping_add(at), 1)?[0];
        if byte == 0 {
            return Some(text);
        }
        text.push(byte);
    }
    Some(text)
}

/// `vprintf(format, arguments)`: the number of arguments, or -1.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn print(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let &[result, format, arguments] = program.list(inst) else { return Flow::Next };
    for lane in lanes(core.mask) {
        // SAFETY: lowering keeps slots within the file.
        let (format, packed) =
            unsafe { (parameter(core, format, lane), parameter(core, arguments, lane)) };
        let Some(format) = string_at(core, inst, lane, format) else {
            // SAFETY: as above.
            unsafe { answer(core, result, lane, u64::MAX, 4) };
            continue;
        };
        let core_cell = std::cell::RefCell::new(&mut *core);
        let (text, taken) = printf::format(
            &format,
            |offset, bytes| {
                let at = packed.wrapping_add(offset as u64);
                let bytes = bytes_at(&mut core_cell.borrow_mut(), inst, lane, at, bytes as u64)?;
                let mut value = [0; 8];
                value[..bytes.len()].copy_from_slice(&bytes);
                Some(u64::from_le_bytes(value))
            },
            |address| string_at(&mut core_cell.borrow_mut(), inst, lane, address),
        );
        let mut output = core.output.lock().unwrap_or_else(|e| e.into_inner());
        let room = OUTPUT.saturating_sub(output.len());
        output.extend_from_slice(&text[..text.len().min(room)]);
        drop(output);
        // SAFETY: as above.
        unsafe { answer(core, result, lane, taken, 4) };
    }
    Flow::Next
}

/// `__assertfail(condition, file, line, function, charsize)`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn assert_failed(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let lane = core.mask.trailing_zeros() as usize & 31;
    let mut texts = Vec::new();
    let mut line = 0;
    for (index, &slot) in program.list(inst).iter().skip(1).enumerate() {
        // SAFETY: lowering keeps slots within the file.
        let value = unsafe { parameter(core, slot, lane) };
        match index {
            2 => line = value as u32,
            0 | 1 => {
                let text = string_at(core, inst, lane, value).unwrap_or_default();
                texts.push(String::from_utf8_lossy(&text).into_owned());
            }
            _ => {}
        }
    }
    let [condition, file] = [0, 1].map(|index| texts.get(index).cloned().unwrap_or_default());
    let file = file.rsplit('/').next().unwrap_or_default();
    let message = format!("the assertion `{condition}` failed ({file}:{line})");
    core.stop(FaultKind::Trap { message: Some(message) }, lane as u32)
}

/// `malloc(bytes)`: an address, or null.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn allocate(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let &[result, bytes] = program.list(inst) else { return Flow::Next };
    for lane in lanes(core.mask) {
        // SAFETY: lowering keeps slots within the file.
        unsafe {
            let bytes = parameter(core, bytes, lane);
            let address = core.memory.device_malloc(bytes).unwrap_or(0);
            answer(core, result, lane, address, 8);
        }
    }
    Flow::Next
}

/// `free(address)`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn free(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let &[_, address] = program.list(inst) else { return Flow::Next };
    for lane in lanes(core.mask) {
        // SAFETY: lowering keeps slots within the file.
        let address = unsafe { parameter(core, address, lane) };
        if address != 0 && !core.memory.device_free(address) {
            let message = format!("free of {address:#x}, which malloc did not give");
            return core.stop(FaultKind::Trap { message: Some(message) }, lane as u32);
        }
    }
    Flow::Next
}

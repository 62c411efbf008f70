//! `wgmma`: a warpgroup multiplies a 64×K matrix by a K×N one and adds the product to sums in its registers
//! (PTX ISA 9.7.15).
//!
//! B lies in shared memory, and so may A; where, says a [`Descriptor`]. Of the four warps of a warpgroup each has sixteen
//! rows of A and D, laid out as those of `mma`, and takes all of B; no data go between them. So each warp does its
//! quarter when it comes to the instruction:
//!
//! ```text
//! m64n16k16, warp w     columns 0…7:   rows 16·w to 16·w + 15 of A, times block 0 of B    registers 0…3 of D
//!                       columns 8…15:  the same rows,               times block 1         registers 4…7
//! ```
//!
//! What the manual does not say, and an H200 showed (`scripts/conform/wgmma.cu`), is how sums are rounded: as by
//! `mma` (`dot.rs`), over all of K at once; but those of FP8 are aligned with 13 bits of fraction instead of 25,
//! and an `f32` keeps no more of them.

use super::descriptor::{Descriptor, Major};
use super::fragment::{Operands, Register};
use super::gather::Matrix;
use super::sparse::{EXPANDED, expand_by_lanes};
use super::{Accumulator, Element, Multiply, Work, multiply_add, whole_warp};
use crate::exec::{Core, Flow};
use crate::fault::{Access, FaultKind, MemorySpace};
use crate::program::{Inst, Slot};
use crate::sanitize::Until;

/// What one `wgmma.mma_async` multiplies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpgroupMultiply {
    /// Sixteen rows by eight columns; K is that of the instruction.
    pub form: Multiply,
    /// N.
    pub columns: usize,
    /// Where A is in shared memory, its direction; in registers otherwise.
    pub a: Option<Major>,
    pub b: Major,
    /// The product's sign is turned: one of A and B is negated.
    pub negated: bool,
    /// Of sparse A, the selector.
    pub sparse: Option<usize>,
}

impl WarpgroupMultiply {
    /// Registers of D that eight columns take.
    fn sums(&self) -> usize {
        if self.form.d == Accumulator::F16 { 2 } else { 4 }
    }

    /// Registers of D.
    pub fn registers(&self) -> usize {
        self.columns / 8 * self.sums()
    }

    pub fn work(&self) -> Work {
        let Work { element, multiply_adds } = self.form.work();
        Work { element, multiply_adds: multiply_adds * self.columns as u64 / 8 }
    }

    /// Bytes along K of a column of B, or of a row of A if it is not sparse.
    fn bytes(&self) -> u32 {
        (self.form.depth * self.form.b.bits() / 8) as u32
    }
}

/// Registers of A from shared memory or a warp's file.
const STORED: usize = 4;
/// Blocks of B along K, if A is sparse.
const ALONG: usize = 4;

static ZERO: Register = Register([0; 32]);

/// `wgmma.mma_async`. The list holds the registers of D, then those of A if it is in registers, then those of D
/// again; descriptors are in `a` and `b`, whether D is added in `c`, metadata in the slot that `imm` names.
///
/// # Safety
/// See [`crate::exec::Handler`]; `flags` must be the number of a [`WarpgroupMultiply`] of the program, and the list must
/// have its registers.
#[inline(always)]
pub unsafe fn wgmma(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { quarter::<false>(core, inst) }.err().unwrap_or(Flow::Next)
}

/// [`wgmma`] where the processor has AVX-512.
///
/// # Safety
/// As for [`wgmma`].
#[inline(always)]
pub unsafe fn wgmma_widest(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { quarter::<true>(core, inst) }.err().unwrap_or(Flow::Next)
}

#[inline(always)]
unsafe fn quarter<const WIDEST: bool>(core: &mut Core, inst: &Inst) -> Result<(), Flow> {
    whole_warp(core)?;
    let program = core.program;
    let what = &program.wgmmas[inst.flags as usize];
    let form = &what.form;
    let first = inst.list as usize;
    let (results, rest) = program.list(inst).split_at(what.registers());
    // SAFETY: lowering keeps slots within the file; shared memory is checked by `matrix`.
    unsafe {
        let stored = match what.a {
            Some(major) => {
                let bits = core.read::<u64>(inst.a)[0];
                let bytes = what.bytes() / if what.sparse.is_some() { 2 } else { 1 };
                let a = matrix(core, inst, bits, (major, form.a), (64, bytes))?;
                let row = 16 * (core.warp % 4);
                let block = |i: u32| a.block(row + 8 * (i & 1), i >> 1);
                [block(0), block(1), block(2), block(3)]
            }
            None => {
                let mut stored = [ZERO; STORED];
                for (to, &slot) in stored.iter_mut().zip(rest) {
                    *to = Register(core.read(slot));
                }
                stored
            }
        };
        let mut rows = [ZERO; EXPANDED];
        let (mut present, mut used) = (None, STORED);
        match what.sparse {
            Some(selector) => {
                let metadata = core.read::<u32>(inst.imm as Slot);
                let (expanded, which) =
                    expand_by_lanes(&stored, &metadata, selector, form.a.bits());
                (rows, present, used) = (expanded, Some(which), EXPANDED);
            }
            None => rows[..STORED].copy_from_slice(&stored),
        }
        if what.negated {
            let signs = signs(form.a);
            rows.iter_mut().flat_map(|row| &mut row.0).for_each(|word| *word ^= signs);
        }
        let bits = core.read::<u64>(inst.b)[0];
        let b = matrix(core, inst, bits, (what.b, form.b), (what.columns as u32, what.bytes()))?;
        let add = core.predicate(inst.c) & 1 == 1;
        let a: [*const Register; EXPANDED] = std::array::from_fn(|i| &raw const rows[i]);
        // SAFETY: the warp that runs set it, and nothing else uses it meanwhile.
        let in_flight = &mut *core.in_flight;
        let ip = core.sanitizer.as_ref().map_or(0, |sanitizer| sanitizer.ip);
        let (sums, known) = in_flight.sums(&program.lists, first..first + results.len(), ip);
        let mut blocks = [ZERO; ALONG];
        let along = used / 2;
        let each = what.sums();
        for (tile, (sums, slots)) in
            sums.chunks_exact_mut(each).zip(results.chunks_exact(each)).enumerate()
        {
            for (piece, block) in blocks[..along].iter_mut().enumerate() {
                *block = b.block(8 * tile as u32, piece as u32);
            }
            let mut c = [&raw const ZERO; 4];
            let mut d = [std::ptr::null_mut(); 4];
            for i in 0..each {
                d[i] = &raw mut sums[i];
                if add {
                    let register = core.lanes_of::<u32>(slots[i]).cast_const().cast();
                    c[i] = if known { d[i].cast_const() } else { register };
                }
            }
            let b: [*const Register; ALONG] = std::array::from_fn(|i| &raw const blocks[i]);
            let operands = Operands {
                a: &a[..used],
                b: &b[..along],
                c: &c[..each],
                d: &d[..each],
                scales: &[],
                present: present.as_ref(),
            };
            multiply_add::<WIDEST>(&mut core.fragments, form, &operands);
        }
    }
    Ok(())
}

/// The signs of the elements in a word.
fn signs(element: Element) -> u32 {
    match element.bits() {
        32 => 1 << 31,
        16 => 0x8000_8000,
        _ => 0x8080_8080,
    }
}

/// The matrix that a descriptor names, all of it in the CTA's shared memory; what is read of it is counted.
fn matrix(
    core: &mut Core,
    inst: &Inst,
    bits: u64,
    (major, element): (Major, Element),
    (rows, bytes): (u32, u32),
) -> Result<Matrix, Flow> {
    let matrix = Matrix {
        descriptor: Descriptor::of_wgmma(bits),
        major,
        element: (element.bits() / 8).max(1) as u32,
        memory: core.shared.cast_const(),
        len: core.shared_len,
    };
    if let Some(address) = matrix.outside(rows, bytes) {
        let (access, space) = (Access::Read, MemorySpace::Shared);
        let near = Some(crate::exec::access::shared_array(core, address.into()));
        let kind =
            FaultKind::OutOfBounds { access, space, address: address.into(), bytes: 16, near };
        return Err(core.stop(kind, 0));
    }
    if let Some(sanitizer) = &mut core.sanitizer {
        // SAFETY: the warp that runs set it.
        let group = unsafe { (*core.in_flight).group() };
        sanitizer.reads(Until::Group(group), matrix.pieces(rows, bytes).collect());
    }
    if core.counting {
        // A warpgroup reads a matrix once.
        let traffic = &mut core.tally.traffic[inst.cache as usize];
        traffic.tensor_shared_bytes += u64::from(rows * bytes) / 4;
    }
    Ok(matrix)
}

/// `wgmma.commit_group`: what was issued since the last one is a group.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn commit(core: &mut Core, _: &Inst) -> Flow {
    if let Err(flow) = whole_warp(core) {
        return flow;
    }
    // SAFETY: the warp that runs set it.
    unsafe { (*core.in_flight).commit() };
    Flow::Next
}

/// `wgmma.wait_group imm`.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn wait(core: &mut Core, inst: &Inst) -> Flow {
    if let Err(flow) = whole_warp(core) {
        return flow;
    }
    // SAFETY: the warp that runs set it, and it is not a part of `core`.
    unsafe { (*core.in_flight).wait(core, inst.imm as u32) };
    if let Some(sanitizer) = &mut core.sanitizer {
        // SAFETY: as above.
        let open = unsafe { (*core.in_flight).group() };
        sanitizer.has_read(open.saturating_sub(inst.imm as u32));
    }
    Flow::Next
}

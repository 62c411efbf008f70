//! Element-wise instructions: one operation per lane, 32 lanes at a time.
//!
//! Registers are arrays of lanes, so `add.f32` is a loop over arrays. It is written in chunks of `N`
//! lanes (by the level: [`PLAIN`], [`WIDE`], [`WIDEST`]) that are loaded, computed and stored, because source and destination may be the same slot:
//! a loop over whole slots would need an alias check that sends `r1 = r1 + 1` down the scalar path,
//! while a chunk unrolls to vector code (checked in the assembly for `add`, `setp`, `shl`, `max`,
//! `mul.hi`, `fma`, `selp`).
//!
//! All lanes are computed and stored, since nothing here can fault. Where only some lanes are
//! active, the warp keeps the others' values aside and puts them back (`warp.rs`).

use super::{Core, Flow};
use crate::program::Inst;

/// A type that fills a slot (32 bits) or two (64 bits) with its 32 lanes.
pub trait Lane: Copy {
    const ZERO: Self;
    /// `new` where `mask` is all ones, `old` where it is zero.
    fn blend(mask: u32, new: Self, old: Self) -> Self;
    /// Last step before storing: arithmetic gives the canonical NaN whatever the host does.
    #[inline(always)]
    fn settle<const N: usize>(_: &mut [Self; N]) {}
}

macro_rules! bits {
    ($($t:ty as $u:ty, $s:ty);*) => { $(
        impl Lane for $t {
            const ZERO: Self = 0 as $t;
            #[inline(always)]
            fn blend(mask: u32, new: Self, old: Self) -> Self {
                let mask = mask as i32 as $s as $u;
                ((new as $u & mask) | (old as $u & !mask)) as $t
            }
        }
    )* };
}
bits!(u32 as u32, i32; i32 as u32, i32; u64 as u64, i64; i64 as u64, i64);

/// PTX ISA 9.7.3: single-precision operations give the NaN 0x7fffffff. What double-precision ones
/// give depends on their operands (`isa/nan.rs`).
const NAN_F32: f32 = f32::from_bits(0x7fff_ffff);

impl Lane for f32 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn blend(mask: u32, new: Self, old: Self) -> Self {
        Self::from_bits(Lane::blend(mask, new.to_bits(), old.to_bits()))
    }
    /// The test is off the path from operand to result, so a chain of dependent `fma` does not wait
    /// for it.
    #[inline(always)]
    fn settle<const N: usize>(chunk: &mut [Self; N]) {
        if any_nan(chunk) {
            for x in chunk.iter_mut() {
                *x = if x.is_nan() { NAN_F32 } else { *x };
            }
        }
    }
}

/// Lanes in a chunk, by what a program is compiled for: the chunk has the vectors of the level.
pub const PLAIN: usize = 4;
pub const WIDE: usize = 16;
pub const WIDEST: usize = 32;

/// Whether one of them is NaN. The compiler would gather single bits; comparing whole vectors is what
/// the instruction sets have, a third of the instructions of a whole `fma`.
#[inline(always)]
fn any_nan<const N: usize>(chunk: &[f32; N]) -> bool {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: chunks of these sizes are handled in code for these levels only.
    unsafe {
        use std::arch::x86_64::*;
        let at = chunk.as_ptr();
        if N == WIDE {
            let (a, b) = (_mm256_loadu_ps(at), _mm256_loadu_ps(at.add(8)));
            let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b);
            return _mm256_movemask_ps(nan) != 0;
        }
        if N == WIDEST {
            let (a, b) = (_mm512_loadu_ps(at), _mm512_loadu_ps(at.add(16)));
            return _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b) != 0;
        }
    }
    chunk.iter().any(|x| x.is_nan())
}

impl Lane for f64 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn blend(mask: u32, new: Self, old: Self) -> Self {
        Self::from_bits(Lane::blend(mask, new.to_bits(), old.to_bits()))
    }
}

pub trait Op1 {
    type D: Lane;
    type A: Lane;
    fn f(flags: u32, a: Self::A) -> Self::D;
}

pub trait Op2 {
    type D: Lane;
    type A: Lane;
    type B: Lane;
    fn f(flags: u32, a: Self::A, b: Self::B) -> Self::D;
}

pub trait Op3: Sized {
    type D: Lane;
    type A: Lane;
    type B: Lane;
    type C: Lane;
    fn f(flags: u32, a: Self::A, b: Self::B, c: Self::C) -> Self::D;
    /// `N` lanes at once, for what the compiler does not find vectors for by itself.
    #[inline(always)]
    fn chunk<const N: usize>(
        flags: u32,
        a: &[Self::A; N],
        b: &[Self::B; N],
        c: &[Self::C; N],
    ) -> [Self::D; N] {
        each_lane::<Self, N>(flags, a, b, c)
    }
}

/// What [`Op3::chunk`] does unless told otherwise.
#[inline(always)]
pub fn each_lane<O: Op3, const N: usize>(
    flags: u32,
    a: &[O::A; N],
    b: &[O::B; N],
    c: &[O::C; N],
) -> [O::D; N] {
    let mut out = [O::D::ZERO; N];
    for l in 0..N {
        out[l] = O::f(flags, a[l], b[l], c[l]);
    }
    out
}

/// Chunk `index` of a register.
///
/// # Safety
/// `lanes` must be 32 lanes of `T`, and the chunk among them.
#[inline(always)]
unsafe fn chunk<T: Lane, const N: usize>(lanes: *mut [T; 32], first: usize) -> *mut [T; N] {
    // SAFETY: by the contract.
    unsafe { lanes.cast::<T>().add(first).cast() }
}

/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn op1<O: Op1, const N: usize>(core: &mut Core, inst: &Inst) -> Flow {
    let flags = inst.flags;
    // SAFETY: lowering keeps slots within the file; chunks tile 32 lanes.
    unsafe {
        let to = core.lanes_of::<O::D>(inst.dst);
        let a = core.lanes_of::<O::A>(inst.a);
        for k in (0..32).step_by(N) {
            let a = *chunk::<_, N>(a, k);
            let mut out = [O::D::ZERO; N];
            for l in 0..N {
                out[l] = O::f(flags, a[l]);
            }
            O::D::settle(&mut out);
            *chunk(to, k) = out;
        }
    }
    Flow::Next
}

/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn op2<O: Op2, const N: usize>(core: &mut Core, inst: &Inst) -> Flow {
    let flags = inst.flags;
    // SAFETY: as in `op1`.
    unsafe {
        let to = core.lanes_of::<O::D>(inst.dst);
        let a = core.lanes_of::<O::A>(inst.a);
        let b = core.lanes_of::<O::B>(inst.b);
        for k in (0..32).step_by(N) {
            let (a, b) = (*chunk::<_, N>(a, k), *chunk::<_, N>(b, k));
            let mut out = [O::D::ZERO; N];
            for l in 0..N {
                out[l] = O::f(flags, a[l], b[l]);
            }
            O::D::settle(&mut out);
            *chunk(to, k) = out;
        }
    }
    Flow::Next
}

/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn op3<O: Op3, const N: usize>(core: &mut Core, inst: &Inst) -> Flow {
    let flags = inst.flags;
    // SAFETY: as in `op1`.
    unsafe {
        let to = core.lanes_of::<O::D>(inst.dst);
        let a = core.lanes_of::<O::A>(inst.a);
        let b = core.lanes_of::<O::B>(inst.b);
        let c = core.lanes_of::<O::C>(inst.c);
        for k in (0..32).step_by(N) {
            let (a, b, c) = (*chunk::<_, N>(a, k), *chunk::<_, N>(b, k), *chunk::<_, N>(c, k));
            let mut out = O::chunk(flags, &a, &b, &c);
            O::D::settle(&mut out);
            *chunk(to, k) = out;
        }
    }
    Flow::Next
}

/// Active lanes, one after the other.
///
/// # Safety
/// See [`super::Handler`]. Operands that `f` does not use may have any slot.
#[inline(never)]
pub unsafe fn lane_by_lane<A: Lane, B: Lane, C: Lane, E: Lane, D: Lane>(
    core: &mut Core,
    inst: &Inst,
    f: fn(u32, A, B, C, E) -> D,
) -> Flow {
    // SAFETY: lowering keeps slots within the file; a fourth operand's stands in `imm`.
    unsafe {
        let a = core.read::<A>(inst.a);
        let b = core.read::<B>(inst.b);
        let c = core.read::<C>(inst.c);
        let e = core.read::<E>(inst.imm as u32);
        let mut out = [D::ZERO; 32];
        for l in 0..32 {
            if core.mask >> l & 1 == 1 {
                out[l] = f(inst.flags, a[l], b[l], c[l], e[l]);
            }
        }
        D::settle(&mut out);
        *core.lanes_of(inst.dst) = out;
    }
    Flow::Next
}

//! Loads from shared memory whose lanes all want words of the same 128 bytes, with AVX-512.
//!
//! In tiled products half a warp reads a row of one tile, and all of it a few elements of the other.
//! Such lanes follow no sequence, but they lie near each other, so that two vectors hold all that they want
//! and one instruction hands it out, instead of 32 loads:
//!
//! ```text
//! lanes  0…15 at 256, 260, …, 316       the 32 words from 256 on, in two vectors
//! lanes 16…31 at 256, 260, …, 316       word (address - 256) / 4 to each lane
//! ```
//!
//! The bounds check is that of the 128 bytes. Lanes that are not near, or near the end of the memory, are
//! left to the load that takes any.

use std::arch::x86_64::*;

use super::{SHARED, load};
use crate::exec::{Core, Flow};
use crate::program::Inst;

/// Bytes that two vectors hold.
const NEAR: u32 = 128;

/// As [`load`] of `V` elements of 32 bits.
///
/// # Safety
/// See [`crate::exec::Handler`]; the processor must have AVX-512.
#[inline(always)]
pub unsafe fn load_near<const V: usize>(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { if near::<V>(core, inst) { Flow::Next } else { load::<u32, V, SHARED>(core, inst) } }
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn near<const V: usize>(core: &mut Core, inst: &Inst) -> bool {
    let bytes = 4 * V as u32;
    let low_bits;
    // SAFETY: lowering keeps slots within the file, and registers are aligned; what is read of shared
    // memory lies in it.
    unsafe {
        let lanes = core.lanes_of::<u32>(inst.a);
        let first = (*lanes)[core.mask.trailing_zeros() as usize & 31];
        let start = first.wrapping_add(inst.imm as u32).wrapping_sub(core.shared_base);
        if u64::from(start) + u64::from(NEAR) > core.shared_len || !start.is_multiple_of(bytes) {
            return false;
        }
        let masks = [core.mask as u16, (core.mask >> 16) as u16];
        let mut words = [_mm512_setzero_si512(); 2];
        for half in 0..2 {
            let lanes = _mm512_load_si512(lanes.cast::<__m512i>().add(half));
            let from = _mm512_sub_epi32(lanes, _mm512_set1_epi32(first as i32));
            let last = _mm512_set1_epi32((NEAR - bytes) as i32);
            let far = _mm512_mask_cmpgt_epu32_mask(masks[half], from, last);
            let part = _mm512_set1_epi32(bytes as i32 - 1);
            let misaligned = _mm512_mask_test_epi32_mask(masks[half], from, part);
            if far | misaligned != 0 {
                return false;
            }
            words[half] = _mm512_srli_epi32::<2>(from);
        }
        let any = _mm512_mask_reduce_or_epi32(masks[0], words[0])
            | _mm512_mask_reduce_or_epi32(masks[1], words[1]);
        low_bits = (start | (any as u32) << 2) % 16;
        let memory = core.shared.add(start as usize).cast::<__m512i>();
        let low = _mm512_loadu_si512(memory);
        let high = _mm512_loadu_si512(memory.add(1));
        let list = core.list(inst);
        for v in 0..V {
            let to = core.lanes_of::<u32>(*list.get_unchecked(v)).cast::<i32>();
            for half in 0..2 {
                let word = _mm512_add_epi32(words[half], _mm512_set1_epi32(v as i32));
                let value = _mm512_permutex2var_epi32(low, word, high);
                _mm512_mask_store_epi32(to.add(16 * half), masks[half], value);
            }
        }
    }
    if core.counting {
        // 32 words are in 32 banks, so lanes take turns only where an access is wider than a bank.
        let together = 32 / V as u32;
        let groups = (0..V as u32)
            .filter(|group| core.mask >> (group * together) & (u32::MAX >> (32 - together)) != 0);
        let passes = groups.count() as u64;
        let needed = u64::from((core.mask.count_ones() * bytes).div_ceil(128));
        let traffic = &mut core.tally.traffic[inst.cache as usize];
        traffic.shared_requests += 1;
        traffic.shared_low_bits |= low_bits;
        traffic.shared_wavefronts += passes;
        traffic.shared_conflicts += passes.saturating_sub(needed);
    }
    true
}

//! Shared and local memory: offsets into a window, banks instead of sectors.

use super::addresses::{Offsets, active};
use crate::exec::Core;
use crate::fault::{Access, FaultKind, MemorySpace, Near};

/// Check a warp's access to the CTA's shared memory; on `false` the fault is recorded.
#[inline(always)]
pub fn admit_shared(core: &mut Core, at: &Offsets, bytes: u32, access: Access) -> bool {
    if !at.within(core.shared_len, bytes) {
        return outside(core, at, bytes, access, MemorySpace::Shared, core.shared_len);
    }
    if at.misaligned(bytes) {
        let of = |lane: usize| u64::from(at.of[lane]);
        return super::misaligned(core, of, u64::from(bytes), access, MemorySpace::Shared);
    }
    if core.counting {
        core.tally.shared_requests += 1;
        core.tally.shared_wavefronts += wavefronts(core.mask, at, bytes);
    }
    true
}

/// Check a warp's access to its threads' local memory.
#[inline(always)]
pub fn admit_local(core: &mut Core, at: &Offsets, bytes: u32, access: Access) -> bool {
    if !at.within(core.local_len, bytes) {
        return outside(core, at, bytes, access, MemorySpace::Local, core.local_len);
    }
    if at.misaligned(bytes) {
        let of = |lane: usize| u64::from(at.of[lane]);
        return super::misaligned(core, of, u64::from(bytes), access, MemorySpace::Local);
    }
    if core.counting {
        // The hardware interleaves lanes word by word, so a uniform offset is fully coalesced.
        core.tally.local_requests += 1;
        core.tally.local_sectors += u64::from(bytes.div_ceil(4)) * 4;
    }
    true
}

#[cold]
fn outside(
    core: &mut Core,
    at: &Offsets,
    bytes: u32,
    access: Access,
    space: MemorySpace,
    len: u64,
) -> bool {
    let over = |lane: &usize| u64::from(at.of[*lane]) + u64::from(bytes) > len;
    let lane = active(core.mask).find(over).unwrap_or(0);
    let address = u64::from(at.of[lane]);
    let near = Some(near(core, space, address));
    core.stop(FaultKind::OutOfBounds { access, space, address, bytes, near }, lane as u32);
    false
}

/// A window's memory as an array, and where in it an offset points.
pub fn near(core: &Core, space: MemorySpace, offset: u64) -> Near {
    let (name, len) = match space {
        MemorySpace::Shared => ("shared memory of the block", core.shared_len),
        _ => ("local memory of the thread", core.local_len),
    };
    // Offsets just below zero wrap around.
    let signed = i64::from(offset as u32 as i32);
    let offset = if signed < 0 && -signed < 1 << 20 { signed } else { offset as i64 };
    Near { name: name.to_owned(), len, offset, freed: false }
}

/// Passes over the 32 four-byte banks: lanes that want different words of one bank take turns, lanes
/// that want the same word share. Eight-byte accesses go by half warps, 16-byte ones by quarters.
fn wavefronts(mask: u32, at: &Offsets, bytes: u32) -> u64 {
    if at.contiguous {
        return u64::from((32 * bytes).div_ceil(128));
    }
    if bytes <= 4 {
        // All within 32 words: no two words share a bank.
        let low = at.of.iter().copied().min().unwrap_or(0) / 4;
        let high = at.of.iter().copied().max().unwrap_or(0) / 4;
        if high - low < 32 {
            return 1;
        }
    }
    let group = match bytes {
        0..=4 => 32,
        8 => 16,
        16 => 8,
        _ => 4,
    };
    let mut total = 0;
    for first in (0..32).step_by(group) {
        let lanes = (mask >> first) & (!0u32 >> (32 - group));
        if lanes == 0 {
            continue;
        }
        let mut words = [[u32::MAX; 32]; 32];
        let mut depth = [0u8; 32];
        for lane in active(lanes) {
            let from = at.of[first + lane] / 4;
            for word in from..from + bytes.div_ceil(4) {
                let bank = (word % 32) as usize;
                let seen = depth[bank] as usize;
                if seen < 32 && !words[bank][..seen].contains(&word) {
                    words[bank][seen] = word;
                    depth[bank] += 1;
                }
            }
        }
        total += u64::from(depth.into_iter().max().unwrap_or(0));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(f: impl Fn(u32) -> u32) -> Offsets {
        let mut of = [0; 32];
        (0..32).for_each(|l| of[l as usize] = f(l));
        Offsets { of, contiguous: false }
    }

    #[test]
    fn bank_conflicts_as_the_programming_guide_draws_them() {
        assert_eq!(wavefronts(!0, &at(|l| 4 * l), 4), 1, "stride one");
        assert_eq!(wavefronts(!0, &at(|l| 8 * l), 4), 2, "stride two");
        assert_eq!(wavefronts(!0, &at(|l| 12 * l), 4), 1, "stride three");
        assert_eq!(wavefronts(!0, &at(|l| 128 * l), 4), 32, "one bank");
        assert_eq!(wavefronts(!0, &at(|l| 132 * l), 4), 1, "padded rows");
        assert_eq!(wavefronts(!0, &at(|_| 64), 4), 1, "broadcast");
        assert_eq!(wavefronts(1, &at(|_| 64), 4), 1, "one lane");
        assert_eq!(wavefronts(!0, &at(|l| 16 * (31 - l)), 16), 4, "128-bit rows, backwards");
    }
}

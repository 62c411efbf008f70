//! Shared and local memory: offsets into a window, banks instead of sectors.

use super::addresses::{Offsets, active};
use crate::exec::Core;
use crate::fault::{Access, FaultKind, MemorySpace, Near};
use crate::program::Inst;

/// Check a warp's access to the CTA's shared memory; on `false` the fault is recorded.
#[inline(always)]
pub fn admit_shared(
    core: &mut Core,
    inst: &Inst,
    at: &Offsets,
    bytes: u32,
    access: Access,
) -> bool {
    if !at.within(core.shared_len, bytes) {
        return outside(core, at, bytes, access, MemorySpace::Shared, core.shared_len);
    }
    if at.misaligned(bytes) {
        let of = |lane: usize| u64::from(at.of[lane]);
        return super::misaligned(core, of, u64::from(bytes), access, MemorySpace::Shared);
    }
    if core.counting {
        let traffic = &mut core.tally.traffic[inst.cache as usize];
        let passes = wavefronts(core.mask, at, bytes);
        let needed = u64::from((core.mask.count_ones() * bytes).div_ceil(128));
        traffic.shared_requests += 1;
        traffic.shared_low_bits |= at.any() % 16;
        traffic.shared_wavefronts += passes;
        traffic.shared_conflicts += passes.saturating_sub(needed);
    }
    true
}

/// Check a warp's access to its threads' local memory.
#[inline(always)]
pub fn admit_local(core: &mut Core, inst: &Inst, at: &Offsets, bytes: u32, access: Access) -> bool {
    if !at.within(core.local_len, bytes) {
        return outside(core, at, bytes, access, MemorySpace::Local, core.local_len);
    }
    if at.misaligned(bytes) {
        let of = |lane: usize| u64::from(at.of[lane]);
        return super::misaligned(core, of, u64::from(bytes), access, MemorySpace::Local);
    }
    if core.counting {
        let words = u64::from(bytes.div_ceil(4));
        let (lines, sectors) = interleaved(core.mask, at);
        let traffic = &mut core.tally.traffic[inst.cache as usize];
        traffic.local_requests += 1;
        traffic.local_lines += words * lines;
        traffic.local_sectors += words * sectors;
        if access != Access::Read {
            traffic.local_written += words * sectors;
        }
    }
    true
}

/// Lines and sectors of a word of each lane's local memory. The hardware keeps a word of all lanes in one
/// line, lane beside lane: an offset that all share is one line, and eight neighbours that share it one
/// sector.
#[inline(always)]
fn interleaved(mask: u32, at: &Offsets) -> (u64, u64) {
    let first = at.of[0] / 4;
    if at.of.iter().all(|offset| offset / 4 == first) {
        let octets = (0..4).filter(|octet| mask >> (8 * octet) & 0xff != 0);
        return (1, octets.count() as u64);
    }
    scattered(mask, at)
}

#[cold]
fn scattered(mask: u32, at: &Offsets) -> (u64, u64) {
    let distinct = |words: &mut Vec<u32>| {
        words.sort_unstable();
        words.dedup();
        words.len() as u64
    };
    let mut all = Vec::with_capacity(32);
    let mut sectors = 0;
    for octet in 0..4 {
        let lanes = active(mask & 0xff << (8 * octet));
        let mut words: Vec<u32> = lanes.map(|lane| at.of[lane] / 4).collect();
        sectors += distinct(&mut words);
        all.append(&mut words);
    }
    (distinct(&mut all), sectors)
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
    if space == MemorySpace::Local
        && let Some(stack) = core.program.stack.map(u64::from)
        && (stack..1 << 31).contains(&address)
    {
        let (needed, limit) = (address + u64::from(bytes) - stack, len - stack);
        core.stop(FaultKind::StackOverflow { bytes: needed, limit }, lane as u32);
        return false;
    }
    let near = Some(near(core, space, address));
    core.stop(FaultKind::OutOfBounds { access, space, address, bytes, near }, lane as u32);
    false
}

/// The array that an offset points into, or a window's memory as a whole; and where in it.
pub fn near(core: &Core, space: MemorySpace, offset: u64) -> Near {
    let arrays = &core.program.shared_arrays;
    let holds = |first: u32, len: u32| (first.into()..u64::from(first + len)).contains(&offset);
    if space == MemorySpace::Shared
        && let Some((name, first, len)) = arrays.iter().find(|array| holds(array.1, array.2))
    {
        let offset = (offset - u64::from(*first)) as i64;
        return Near { name: name.clone(), len: (*len).into(), offset, freed: false };
    }
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
#[inline(always)]
fn wavefronts(mask: u32, at: &Offsets, bytes: u32) -> u64 {
    if at.contiguous {
        return u64::from((32 * bytes).div_ceil(128));
    }
    if bytes <= 4 {
        // All within 32 words: no two words share a bank.
        let low = at.of.iter().fold(u32::MAX, |low, &offset| offset.min(low)) / 4;
        let high = at.of.iter().fold(0, |high, &offset| offset.max(high)) / 4;
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
    by_groups(mask, at, bytes, group)
}

#[inline(never)]
fn by_groups(mask: u32, at: &Offsets, bytes: u32, group: usize) -> u64 {
    let mut total = 0;
    for first in (0..32).step_by(group) {
        let lanes = (mask >> first) & (!0u32 >> (32 - group));
        if lanes == 0 {
            continue;
        }
        let words = |lane: usize| {
            let from = at.of[first + lane] / 4;
            from..from + bytes.div_ceil(4)
        };
        // The word that each bank gave last: enough to see that nothing conflicts.
        let mut last = [u32::MAX; 32];
        let mut conflict = false;
        for word in active(lanes).flat_map(words) {
            let seen = &mut last[(word % 32) as usize];
            conflict |= *seen != word && *seen != u32::MAX;
            *seen = word;
        }
        total += if conflict { deepest(active(lanes).flat_map(words)) } else { 1 };
    }
    total
}

/// Different words of the bank that has the most.
#[cold]
fn deepest(words: impl Iterator<Item = u32>) -> u64 {
    let mut seen = [[u32::MAX; 32]; 32];
    let mut depth = [0u8; 32];
    for word in words {
        let bank = (word % 32) as usize;
        let count = depth[bank] as usize;
        if count < 32 && !seen[bank][..count].contains(&word) {
            seen[bank][count] = word;
            depth[bank] += 1;
        }
    }
    u64::from(depth.into_iter().max().unwrap_or(0))
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
    fn local_words_lie_lane_beside_lane() {
        assert_eq!(interleaved(!0, &at(|_| 64)), (1, 4), "one index");
        assert_eq!(interleaved(0xff, &at(|_| 64)), (1, 1), "eight lanes");
        assert_eq!(interleaved(!0, &at(|l| 4 * l)), (32, 32), "each its own");
        assert_eq!(interleaved(!0, &at(|l| 4 * (l % 2))), (2, 8), "two");
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

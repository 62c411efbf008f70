//! Global memory: is it there, may it be written, and what does it cost.

use super::addresses::{Addresses, active};
use crate::exec::core::CacheEntry;
use crate::exec::{Core, Sectors};
use crate::fault::{Access, FaultKind, MemorySpace, Near};
use crate::memory::{AllocationInfo, AllocationKind};
use crate::program::Inst;

/// Check a warp's access; true if every active lane may go ahead, else the fault is recorded.
#[inline(always)]
pub fn admit(core: &mut Core, inst: &Inst, at: &Addresses, bytes: u64, access: Access) -> bool {
    let entry = &core.caches[inst.cache as usize];
    let hit = at.within(entry.base, entry.end, bytes) && (access == Access::Read || entry.writable);
    if !hit && !find(core, inst, at, bytes, access) {
        return false;
    }
    if at.misaligned(bytes) {
        return super::misaligned(core, |lane| at.of[lane], bytes, access, MemorySpace::Global);
    }
    if core.counting {
        if hit && at.contiguous {
            count_run(core, inst, at, bytes, access);
        } else {
            count(core, inst, at, bytes, access);
        }
    }
    true
}

/// The slow way: refill the instruction's cache entry, or check lane by lane.
#[cold]
fn find(core: &mut Core, inst: &Inst, at: &Addresses, bytes: u64, access: Access) -> bool {
    for lane in active(core.mask) {
        let address = at.of[lane];
        let found = core.memory.locate(address).map(|index| core.memory.range(index));
        let Some(range) = found.filter(|range| address.saturating_add(bytes) <= range.end()) else {
            let kind = out_of_bounds(core, address, bytes, access);
            core.stop(kind, lane as u32);
            return false;
        };
        let writable = range.info.kind != AllocationKind::Constant;
        if access != Access::Read && !writable {
            let name = range.info.name.clone();
            core.stop(FaultKind::ReadOnly { name }, lane as u32);
            return false;
        }
        let entry = &mut core.caches[inst.cache as usize];
        if address < entry.base || address >= entry.end {
            entry.base = range.info.base;
            entry.end = range.end();
            entry.writable = writable;
            entry.range = Some(range.clone());
        }
        if at.within(entry.base, entry.end, bytes) {
            return true;
        }
    }
    true
}

/// Farther than this from every array, naming one would mislead.
const FAR: u64 = 1 << 30;

pub fn out_of_bounds(core: &Core, address: u64, bytes: u64, access: Access) -> FaultKind {
    let near = |info: &AllocationInfo, freed| Near {
        name: info.name.clone(),
        len: info.len,
        offset: address.wrapping_sub(info.base) as i64,
        freed,
    };
    let close = |info: &&AllocationInfo| {
        info.base.abs_diff(address).min((info.base + info.len).abs_diff(address)) < FAR
    };
    let found = match core.memory.freed(address) {
        Some(info) => Some(near(info, true)),
        None => core.memory.nearest(address).filter(close).map(|info| near(info, false)),
    };
    let space = MemorySpace::Global;
    FaultKind::OutOfBounds { access, space, address, bytes: bytes as u32, near: found }
}

/// Count a request whose addresses follow each other within the instruction's cached allocation.
#[inline(always)]
fn count_run(core: &mut Core, inst: &Inst, at: &Addresses, bytes: u64, access: Access) {
    let Some(range) = &core.caches[inst.cache as usize].range else { return };
    let traffic = &mut core.tally.traffic[inst.cache as usize];
    if range.info.kind == AllocationKind::Constant {
        traffic.constant_requests += 1;
        traffic.constant_words += 32 * bytes.div_ceil(4);
        return;
    }
    let last = at.of[31] + bytes - 1;
    let sectors = range.touch(access != Access::Read, at.of[0], last);
    if access == Access::Read {
        traffic.load_fetched += core.l1.fetch_run(at.of[0], last);
        traffic.load_passes += (32 * bytes).div_ceil(128);
    }
    traffic.global(access).request(sectors, 32 * bytes);
}

/// Words of the bank of L1 that has the most; the addresses ascend. L1 has the banks of shared memory.
fn passes(addresses: &[u64], bytes: u64) -> u64 {
    let mut of_bank = [0_u8; 32];
    let mut last = u64::MAX;
    for &address in addresses {
        let first = address / 4;
        if first != last {
            for word in first..first + bytes.div_ceil(4) {
                of_bank[word as usize % 32] += 1;
            }
        }
        last = first;
    }
    of_bank.into_iter().max().unwrap_or(0).into()
}

/// Count any other request.
#[inline(never)]
fn count(core: &mut Core, inst: &Inst, at: &Addresses, bytes: u64, access: Access) {
    let write = access != Access::Read;
    let mut some = [0; 32];
    let of = if core.mask == u32::MAX && at.ascend() {
        &at.of[..]
    } else {
        let mut count = 0;
        for lane in active(core.mask) {
            some[count] = at.of[lane];
            count += 1;
        }
        some[..count].sort_unstable();
        &some[..count]
    };
    let of_constants = |entry: &CacheEntry| {
        entry.range.as_ref().is_some_and(|range| range.info.kind == AllocationKind::Constant)
    };
    if of_constants(&core.caches[inst.cache as usize]) {
        let words = of.chunk_by(|a, b| a / 4 == b / 4).count() as u64;
        let traffic = &mut core.tally.traffic[inst.cache as usize];
        traffic.constant_requests += 1;
        traffic.constant_words += words * bytes.div_ceil(4);
        return;
    }
    // Almost always all in one allocation, the cached one; else in a few, one after the other.
    let mut sectors = Sectors::default();
    let mut rest = of;
    while let &[first, ..] = rest {
        let entry = &core.caches[inst.cache as usize];
        let range = match &entry.range {
            Some(range) if (entry.base..entry.end).contains(&first) => range,
            _ => match core.memory.locate(first) {
                Some(index) => core.memory.range(index),
                None => break,
            },
        };
        let inside = match rest.last() {
            Some(&last) if last < range.end() => rest.len(),
            _ => rest.partition_point(|&address| address < range.end()),
        };
        sectors.add(range.touch_all(write, &rest[..inside]));
        rest = &rest[inside..];
    }
    let wanted = u64::from(core.mask.count_ones()) * bytes;
    let traffic = &mut core.tally.traffic[inst.cache as usize];
    if access == Access::Read {
        traffic.load_fetched += core.l1.fetch_all(of);
        traffic.load_passes += passes(of, bytes);
    }
    traffic.global(access).request(sectors, wanted);
}

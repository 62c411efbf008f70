//! Global memory: is it there, may it be written, and what does it cost.

use super::addresses::{Addresses, active};
use crate::exec::Core;
use crate::fault::{Access, FaultKind, MemorySpace, Near};
use crate::memory::{AllocationInfo, AllocationKind, SECTOR};
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
        count(core, inst, at, bytes, access);
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

fn count(core: &mut Core, inst: &Inst, at: &Addresses, bytes: u64, access: Access) {
    let write = access != Access::Read;
    let wanted = u64::from(core.mask.count_ones()) * bytes;
    let entry = &core.caches[inst.cache as usize];
    let whole = entry.range.as_ref().filter(|_| at.within(entry.base, entry.end, bytes));
    let sectors = match whole {
        Some(range) if at.contiguous => {
            let last = at.of[31] + bytes - 1;
            range.touch(write, at.of[0], last);
            last / SECTOR - at.of[0] / SECTOR + 1
        }
        Some(range) => {
            let (base, marker) = (entry.base, range.marker(write));
            at.sectors(|address| marker.touch(address.max(base)))
        }
        None => at.sectors(|address| {
            // A sector may begin before the allocation that the access is in.
            let inside = [address, address + SECTOR - 1].into_iter().find_map(|address| {
                Some((core.memory.range(core.memory.locate(address)?), address))
            });
            if let Some((range, address)) = inside {
                range.marker(write).touch(address);
            }
        }),
    };
    let tally = &mut core.tally;
    if write {
        tally.global_store_requests += 1;
        tally.global_store_sectors += sectors;
        tally.global_store_bytes += wanted;
    } else {
        tally.global_load_requests += 1;
        tally.global_load_sectors += sectors;
        tally.global_load_bytes += wanted;
    }
}

//! A stretch of memory that one lane names, as bulk copies and tensor maps do.

use super::{global, window};
use crate::exec::{Core, Flow};
use crate::fault::{Access, FaultKind, MemorySpace};
use crate::memory::SHARED_WINDOW;
use crate::program::Inst;
use crate::sanitize;

/// Where a CTA's shared memory begins among the shared addresses of its cluster: its rank stands above an
/// offset of 24 bits, in the addresses of its own variables as in those that `mapa` gives. The manual
/// says nothing of it, but that is how the hardware has it, and kernels count on it:
///
/// ```text
/// address & 0xfeff_ffff      the same place in the even CTA of a pair
/// address ^ 0x0100_0000      in the other one
/// ```
pub const RANK_SHIFT: u32 = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A generic or global address.
    Global(u64),
    /// A shared address, perhaps of another CTA of the cluster.
    Shared(u32),
}

impl Span {
    /// The same place in the CTA of this rank.
    pub fn at(self, rank: Option<u32>) -> Self {
        match (self, rank) {
            (Self::Shared(address), Some(rank)) => {
                let offset = address & ((1 << RANK_SHIFT) - 1);
                Self::Shared(offset | rank << RANK_SHIFT)
            }
            _ => self,
        }
    }

    /// The shared address; 0 for a global one.
    pub fn offset(self) -> u32 {
        match self {
            Self::Shared(address) => address,
            Self::Global(_) => 0,
        }
    }
}

/// The host address of `bytes` at `span`, checked and counted as one request.
///
/// # Errors
/// [`Flow::Stop`], with the fault recorded for `lane`.
pub fn span(
    core: &mut Core,
    inst: &Inst,
    lane: usize,
    span: Span,
    bytes: u64,
    align: u64,
    access: Access,
) -> Result<u64, Flow> {
    match span {
        Span::Global(address) if address >= SHARED_WINDOW => {
            let offset = u32::try_from(address - SHARED_WINDOW).unwrap_or(u32::MAX);
            shared(core, lane, offset, bytes, align, access)
        }
        Span::Global(address) => {
            let found = core.memory.locate(address).map(|index| core.memory.range(index).clone());
            let Some(range) = found.filter(|range| address.saturating_add(bytes) <= range.end())
            else {
                let kind = global::out_of_bounds(core, address, bytes, access);
                return Err(core.stop(kind, lane as u32));
            };
            if !address.is_multiple_of(align) {
                let space = MemorySpace::Global;
                let kind = FaultKind::Misaligned {
                    access,
                    space,
                    address,
                    bytes: align as u32,
                    near: None,
                };
                return Err(core.stop(kind, lane as u32));
            }
            if core.counting && bytes > 0 {
                let sectors = range.touch(access != Access::Read, address, address + bytes - 1);
                let traffic = &mut core.tally.traffic[inst.cache as usize];
                if access == Access::Read {
                    // Copies pass L1 by.
                    traffic.load_fetched += sectors.touched;
                    traffic.load_passes += 1;
                }
                traffic.global(access).request(sectors, bytes);
            }
            sanitize::range(core, lane, MemorySpace::Global, address, bytes, access)?;
            Ok(core.memory.host(address))
        }
        Span::Shared(address) => shared(core, lane, address, bytes, align, access),
    }
}

fn shared(
    core: &mut Core,
    lane: usize,
    address: u32,
    bytes: u64,
    align: u64,
    access: Access,
) -> Result<u64, Flow> {
    let space = MemorySpace::Shared;
    let (base, len, offset) = core.shared_at(address);
    let fault = if u64::from(offset) + bytes > len {
        let near = Some(window::near(core, space, u64::from(offset)));
        let bytes = bytes as u32;
        FaultKind::OutOfBounds { access, space, address: u64::from(address), bytes, near }
    } else if !u64::from(offset).is_multiple_of(align) {
        let near = Some(window::near(core, space, u64::from(offset)));
        FaultKind::Misaligned { access, space, address: address.into(), bytes: align as u32, near }
    } else {
        if base == core.shared.expose_provenance() as u64 {
            sanitize::range(core, lane, space, offset.into(), bytes, access)?;
        }
        return Ok(base + u64::from(offset));
    };
    Err(core.stop(fault, lane as u32))
}

//! From a finding to a fault.

use super::clash::Clash;
use super::operands::Until;
use super::{Action, Rule, Sanitizer};
use crate::exec::Core;
use crate::fault::{Access, FaultKind, MemorySpace, Near, Other, Use};

/// The other place that a fault has to do with, as indexes; the machine makes words of it.
#[derive(Clone, Copy, Debug)]
pub struct Earlier {
    pub ip: u32,
    /// Warp and lane, where they are known.
    pub thread: Option<(u32, u32)>,
    /// Number of the CTA in the grid; the one that stopped if absent.
    pub cta: Option<u32>,
}

/// An access, as findings tell it.
#[derive(Clone, Copy)]
pub struct Accessed {
    pub space: MemorySpace,
    /// Global address, or offset in shared memory.
    pub at: u64,
    pub bytes: u64,
    pub access: Access,
    pub lane: u32,
}

impl Accessed {
    fn near(&self, core: &Core) -> Option<Near> {
        if self.space == MemorySpace::Shared {
            return Some(crate::exec::access::shared_array(core, self.at));
        }
        let range = core.memory.range(core.memory.locate(self.at)?);
        let info = &range.info;
        let offset = (self.at - info.base) as i64;
        Some(Near { name: info.name.clone(), len: info.len, offset, freed: false })
    }
}

impl Sanitizer {
    /// Two warps of the CTA, or lanes of the warp, in the same bytes.
    #[cold]
    pub(super) fn race_in_block(&mut self, core: &mut Core, here: Accessed, clash: &Clash) {
        let near = here.near(core);
        self.earlier = clash.ip.map(|ip| Earlier { ip, thread: clash.thread, cta: None });
        let Accessed { space, bytes, access, lane, .. } = here;
        let (bytes, earlier) = (bytes as u32, clash.access);
        let with = match clash.thread {
            _ if matches!(clash.product, Some(Until::Group(_))) => Other::Product,
            _ if clash.product.is_some() => Other::TensorProduct,
            Some(_) => Other::Thread,
            None => Other::Copy,
        };
        let kind = FaultKind::Race { space, access, earlier, bytes, near, with };
        core.stop(kind, lane);
    }

    /// Two lanes, in one instruction, store different values to one place.
    #[cold]
    pub(super) fn lanes_disagree(&mut self, core: &mut Core, here: Accessed, other: u32) {
        let ip = Some(self.ip);
        let thread = Some((self.warp, other));
        let clash = Clash { access: Access::Write, ip, thread, at_once: true, product: None };
        self.race_in_block(core, here, &clash);
    }

    /// A register of sums that a product, issued at `ip`, has not written yet.
    #[cold]
    pub(super) fn sums_in_flight(&mut self, core: &mut Core, ip: u32, access: Access) {
        self.earlier = Some(Earlier { ip, thread: None, cta: None });
        core.stop(FaultKind::SumsInFlight { access }, core.mask.trailing_zeros());
    }

    /// Two CTAs in the same bytes.
    #[cold]
    pub(super) fn race_in_grid(
        &mut self,
        core: &mut Core,
        here: Accessed,
        (earlier, ip, cta): (Access, Option<u32>, u32),
    ) {
        let near = here.near(core);
        self.earlier = ip.map(|ip| Earlier { ip, thread: None, cta: Some(cta) });
        let Accessed { space, bytes, access, lane, .. } = here;
        let bytes = bytes as u32;
        let with = Other::Block;
        core.stop(FaultKind::Race { space, access, earlier, bytes, near, with }, lane);
    }

    /// A value that was made, at `source`, from what nobody wrote.
    #[cold]
    pub(super) fn undefined(&mut self, core: &mut Core, used: Use, source: u32, lane: u32) {
        if let Some(remainder) = Self::division(core, source) {
            self.earlier = Some(Earlier { ip: source, thread: None, cta: None });
            core.stop(FaultKind::DivisionByZero { remainder }, lane);
            return;
        }
        let asked = core.program.effects.get(source as usize);
        if asked.is_some_and(|effect| effect.action == Action::Shuffle) {
            self.earlier = Some(Earlier { ip: source, thread: None, cta: None });
            core.stop(FaultKind::AbsentLane { used }, lane);
            return;
        }
        if asked.is_some_and(|effect| effect.action == Action::TensorLoad) {
            self.earlier = Some(Earlier { ip: source, thread: None, cta: None });
            let space = Some(MemorySpace::Tensor);
            core.stop(FaultKind::Undefined { used, space, near: None }, lane);
            return;
        }
        let read = self.reads.get(&source).cloned();
        self.earlier = read.as_ref().map(|_| Earlier { ip: source, thread: None, cta: None });
        let (space, near) = read.map_or((None, None), |(space, near)| (Some(space), Some(near)));
        core.stop(FaultKind::Undefined { used, space, near }, lane);
    }

    /// Whether what came from `source` is a remainder or a quotient, if it is either.
    fn division(core: &Core, source: u32) -> Option<bool> {
        match core.program.effects.get(source as usize)?.action {
            Action::Bits(Rule::Divide { remainder }) => Some(remainder),
            _ => None,
        }
    }

    pub(super) fn is_quotient(&self, core: &Core, source: u32) -> bool {
        Self::division(core, source).is_some()
    }

    /// An atomic on bytes that nobody wrote.
    #[cold]
    pub(super) fn undefined_update(&mut self, core: &mut Core, here: Accessed) {
        let (space, near) = (Some(here.space), here.near(core));
        core.stop(FaultKind::Undefined { used: Use::Update, space, near }, here.lane);
    }

    /// Remember where the instruction read first what nobody wrote.
    #[cold]
    pub(super) fn remember(&mut self, core: &Core, here: Accessed) {
        if !self.reads.contains_key(&self.ip)
            && let Some(near) = here.near(core)
        {
            self.reads.insert(self.ip, (here.space, near));
        }
    }
}

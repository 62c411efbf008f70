//! Where lanes that went separate ways wait for each other: `.sync` instructions and barriers.

use super::{Pause, Split, State, Warp};
use crate::exec::{Core, Flow};
use crate::fault::FaultKind;
use crate::isa::Class;
use crate::program::Program;

impl Warp {
    /// Lanes at one `.sync` instruction with different masks, as the tiles of a cooperative group have
    /// them: each group for itself. Groups that miss nobody are done at once and stay together.
    #[cold]
    pub(super) fn by_groups(&mut self, core: &mut Core, now: Split) -> Option<Pause> {
        let inst = &core.program.code[now.ip as usize];
        let (mut rest, mut done) = (now.mask, 0);
        while rest != 0 {
            core.set_mask(rest);
            // SAFETY: as in `run`; such a handler writes active lanes only.
            let mut flow = unsafe { (inst.run)(core, inst) };
            if flow == Flow::Apart {
                core.set_mask(core.wanted);
                // SAFETY: as above.
                flow = unsafe { (inst.run)(core, inst) };
            }
            let mask = core.mask;
            match flow {
                Flow::Next => done |= mask,
                flow => {
                    if let Some(pause) = self.interrupted(core, Split { mask, ..now }, flow) {
                        return Some(pause);
                    }
                }
            }
            rest &= !mask;
        }
        if done != 0 {
            self.splits.push(Split { ip: now.ip + 1, mask: done, ..now });
        }
        None
    }

    /// Nobody is ready: let a `.sync` whose lanes have all come go on. False if none has.
    pub(super) fn meet(&mut self, program: &Program, core: &mut Core) -> bool {
        for index in 0..self.splits.len() {
            let State::Waiting(wanted) = self.splits[index].state else { continue };
            let here = (self.splits[index].block, self.splits[index].ip);
            let together = |split: &Split, same_place: bool| {
                matches!(split.state, State::Waiting(other) if other == wanted)
                    && (!same_place || (split.block, split.ip) == here)
            };
            let gathered = |same_place: bool| {
                let all = self.splits.iter().filter(|split| together(split, same_place));
                all.fold(0, |mask, split| mask | split.mask)
            };
            if wanted & self.live & !gathered(true) == 0 {
                for split in &mut self.splits {
                    if together(split, true) {
                        split.state = State::Ready;
                    }
                }
                return true;
            }
            // `bar.warp.sync` passes nothing between lanes, so they may stand at different ones
            // (PTX ISA 9.7.13.2).
            let only_waits = |split: &&Split| {
                let origin = program.code[split.ip as usize].origin;
                program.origins[origin as usize].class == Class::WarpBarrier
            };
            let all = self.splits.iter().filter(|split| together(split, false));
            if wanted & self.live & !gathered(false) == 0 && all.clone().all(|s| only_waits(&s)) {
                for split in &mut self.splits {
                    if together(split, false) {
                        split.state = State::Ready;
                        split.ip += 1;
                    }
                }
                // The instruction is passed, not done.
                crate::sanitize::met(core, wanted);
                return true;
            }
        }
        false
    }

    /// Nobody is ready and nobody can meet: at a barrier together, or stuck for ever.
    pub(super) fn stuck(&mut self, core: &mut Core) -> Pause {
        let State::AtBarrier(wait) = self.splits[0].state else {
            return self.missing(core);
        };
        let all_here = self.splits.iter().all(|split| split.state == State::AtBarrier(wait));
        if all_here { Pause::Barrier(wait) } else { self.missing(core) }
    }

    #[cold]
    fn missing(&mut self, core: &mut Core) -> Pause {
        let waiting = self.splits.iter().find(|s| matches!(s.state, State::Waiting(_)));
        let split = *waiting.unwrap_or(&self.splits[0]);
        self.at = (split.block, split.ip);
        core.mask = split.mask;
        let kind = match split.state {
            State::Waiting(wanted) => FaultKind::MissingLanes { wanted, arrived: split.mask },
            _ => {
                let waiting = self.splits.iter().map(|split| match split.state {
                    State::AtBarrier(wait) => {
                        format!("lanes {:#010x} wait at barrier {}", split.mask, wait.barrier)
                    }
                    _ => format!("lanes {:#010x} wait", split.mask),
                });
                FaultKind::Deadlock { waiting: waiting.collect() }
            }
        };
        core.stop(kind, split.mask.trailing_zeros());
        Pause::Fault
    }
}

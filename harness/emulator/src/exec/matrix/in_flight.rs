//! Sums that `wgmma` has been told to make and nobody has waited for (PTX ISA 9.7.15.7).
//!
//! A product is made when it is issued, but its sums stand beside the register file until the warp waits for the group
//! that they belong to: whoever reads the registers before sees what they held. A product that adds to sums in flight adds
//! to these.
//!
//! ```text
//! mma_async D; mma_async D; commit_group      group 0: sums of D beside the registers
//! mma_async E; commit_group                   group 1
//! wait_group 1                                all but the latest one: D is in its registers
//! ```

use super::fragment::Register;
use crate::exec::Core;
use crate::program::{Program, SLOT, Slot};

/// Of one warp.
#[derive(Default)]
pub struct InFlight {
    sums: Vec<Sums>,
    /// Groups committed.
    committed: u32,
    /// Memory of sums that have arrived.
    spare: Vec<Vec<Register>>,
}

struct Sums {
    /// The registers of D: a stretch of the program's lists.
    list: std::ops::Range<usize>,
    values: Vec<Register>,
    /// The latest group that adds to them.
    group: u32,
    /// The instruction that did so last.
    ip: u32,
}

impl InFlight {
    pub fn clear(&mut self) {
        self.spare.extend(self.sums.drain(..).map(|sums| sums.values));
        self.committed = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// The group that is open.
    pub fn group(&self) -> u32 {
        self.committed
    }

    /// The instruction whose sums go to the slot of this number, if they are in flight.
    pub fn issued(&self, program: &Program, slot: u32) -> Option<u32> {
        let at = slot * SLOT as u32;
        let has = |sums: &&Sums| program.lists[sums.list.clone()].contains(&at);
        self.sums.iter().find(has).map(|sums| sums.ip)
    }

    /// Where the sums of the registers `list` stand, and whether they were in flight already; `ip` adds to them now.
    pub fn sums(
        &mut self,
        lists: &[Slot],
        list: std::ops::Range<usize>,
        ip: u32,
    ) -> (&mut [Register], bool) {
        let group = self.committed;
        let same = |sums: &Sums| lists[sums.list.clone()] == lists[list.clone()];
        let known = self.sums.iter().position(same);
        let index = known.unwrap_or_else(|| {
            let mut values = self.spare.pop().unwrap_or_default();
            values.resize(list.len(), Register([0; 32]));
            self.sums.push(Sums { list, values, group, ip });
            self.sums.len() - 1
        });
        let sums = &mut self.sums[index];
        sums.group = group;
        sums.ip = ip;
        (&mut sums.values, known.is_some())
    }

    pub fn commit(&mut self) {
        self.committed += 1;
    }

    /// Write the sums of all groups but the latest `allowed` to their registers.
    pub fn wait(&mut self, core: &Core, allowed: u32) {
        let mut index = 0;
        while let Some(sums) = self.sums.get(index) {
            if sums.group.saturating_add(allowed) >= self.committed {
                index += 1;
                continue;
            }
            let sums = self.sums.swap_remove(index);
            for (&slot, value) in core.program.lists[sums.list].iter().zip(&sums.values) {
                // SAFETY: lowering keeps slots within the file.
                unsafe { *core.lanes_of::<u32>(slot) = value.0 };
            }
            self.spare.push(sums.values);
        }
    }
}

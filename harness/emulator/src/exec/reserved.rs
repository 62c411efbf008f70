//! Shared memory that the system keeps for libraries: cooperative groups' tiles of several warps meet in
//! it. On a GPU it is the first KiB of a block's, here it lies behind the program's own, and only where a
//! kernel asks for it (`%reserved_smem_offset_1`).

use super::Launch;
use crate::isa::{Reserved, Special};
use crate::program::Preset;

const BYTES: u32 = 1 << 10;
const ALIGNMENT: u32 = 128;

impl Launch<'_> {
    /// A place in it, as an address in shared memory.
    pub fn reserved_shared(&self, place: Reserved) -> u32 {
        let begin = self.shared_bytes().next_multiple_of(ALIGNMENT);
        match place {
            Reserved::Begin => begin,
            Reserved::Groups => begin + BYTES / 2,
            Reserved::End => begin + BYTES,
        }
    }

    /// Bytes of shared memory that a CTA's threads may touch.
    pub fn shared_room(&self) -> u32 {
        let reserved =
            |preset: &Preset| matches!(preset, Preset::Special(Special::ReservedShared(_)));
        match self.program.presets.iter().any(|(_, preset)| reserved(preset)) {
            true => self.reserved_shared(Reserved::End),
            false => self.shared_bytes(),
        }
    }
}

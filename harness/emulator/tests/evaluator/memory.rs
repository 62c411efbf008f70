//! Where loads, stores and atomics go. Each space is a vector of bytes; generic addresses tell them apart
//! by a window each (PTX ISA 5.1, 9.7.9.20).

use ptx::ast::Space;

use super::Result;

/// Generic addresses of the first byte of each space.
pub const SHARED: u64 = 0x0100_0000_0000;
pub const LOCAL: u64 = 0x0200_0000_0000;
pub const GLOBAL: u64 = 0x0300_0000_0000;
const WINDOW: u64 = 0x0080_0000_0000;

/// The memories that one thread sees.
pub struct Memory<'m> {
    pub global: &'m mut [u8],
    pub shared: &'m mut [u8],
    pub local: &'m mut [u8],
    pub params: &'m mut [u8],
}

impl Memory<'_> {
    /// The bytes at an address that was completed, its offset included.
    pub fn bytes(&mut self, space: Option<Space>, at: u64, count: usize) -> Result<&mut [u8]> {
        // Windows of 32 bits wrap around; what is written to a generic address decides where it lies.
        let (bytes, from) = match space {
            Some(Space::Shared) => (&mut *self.shared, u64::from(at as u32)),
            Some(Space::Local) => (&mut *self.local, u64::from(at as u32)),
            Some(Space::Param) => (&mut *self.params, at),
            Some(Space::Global) => (&mut *self.global, at.wrapping_sub(GLOBAL)),
            None if at.wrapping_sub(SHARED) < WINDOW => (&mut *self.shared, at - SHARED),
            None if at.wrapping_sub(LOCAL) < WINDOW => (&mut *self.local, at - LOCAL),
            None => (&mut *self.global, at.wrapping_sub(GLOBAL)),
            Some(other) => return Err(format!("memory of {other:?}")),
        };
        let length = bytes.len();
        let range =
            usize::try_from(from).ok().and_then(|from| Some(from..from.checked_add(count)?));
        let found = range.filter(|range| range.start.is_multiple_of(count));
        found
            .and_then(|range| bytes.get_mut(range))
            .ok_or_else(|| format!("{count} bytes at {from:#x} of {length} in {space:?}"))
    }

    pub fn load(&mut self, space: Option<Space>, at: u64, count: usize) -> Result<u64> {
        let mut whole = [0; 8];
        whole[..count].copy_from_slice(self.bytes(space, at, count)?);
        Ok(u64::from_le_bytes(whole))
    }

    pub fn store(&mut self, space: Option<Space>, at: u64, count: usize, value: u64) -> Result<()> {
        self.bytes(space, at, count)?.copy_from_slice(&value.to_le_bytes()[..count]);
        Ok(())
    }
}

//! Who does something in a CTA, and who did before.

use super::operands::Until;
use crate::fault::Access;

/// Who accesses, and how.
#[derive(Clone, Copy)]
pub struct Party {
    pub warp: u32,
    pub lane: u32,
    pub ip: u32,
    pub strong: bool,
    /// By the copy unit.
    pub copies: bool,
}

/// An earlier access that nothing orders before this one.
#[derive(Debug, PartialEq, Eq)]
pub struct Clash {
    pub access: Access,
    pub ip: Option<u32>,
    /// Warp and lane; none if it was the copy unit.
    pub thread: Option<(u32, u32)>,
    /// Another lane of the same warp, in the same instruction.
    pub at_once: bool,
    /// By the tensor cores, for a product that nobody has waited for.
    pub product: Option<Until>,
}

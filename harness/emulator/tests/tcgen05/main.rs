//! Tensor memory and what multiplies in it (PTX ISA 9.7.16), for `sm_100a`. No card with it was at hand: the
//! places of cells are held to the layouts of CUTLASS, whose kernels run on one.

mod asynchronous;
mod case;
mod device;
#[expect(dead_code, reason = "`tests/matrix` needs more of it")]
#[path = "../matrix/float.rs"]
mod float;
mod operand;
mod products;
mod transfer;

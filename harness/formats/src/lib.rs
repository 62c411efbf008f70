//! The number formats of FP4 kernels: encode, decode, pack, swizzle. A leaf: it knows nothing of
//! PTX, problems or memory.
//!
//! Codes are plain `u8`, `u16` and `u32`; a format is a module with `encode…` and `decode`. What a
//! function does with NaN, infinity and overflow is what the PTX `cvt` of that format does
//! (PTX ISA 9.7.9.21), which NVIDIA's headers state as host code: the tests hold every function to
//! those headers, bit for bit.
//!
//! | module | bits | values | PTX |
//! | --- | --- | --- | --- |
//! | [`e2m1`] | 4 | 0, 0.5, 1, 1.5, 2, 3, 4, 6 and negatives | `.e2m1x2` |
//! | [`e2m3`] | 6 | to 7.5, step 0.125 below 2 | `.e2m3x2` |
//! | [`e3m2`] | 6 | to 28, least 0.0625 | `.e3m2x2` |
//! | [`e4m3`] | 8 | to 448, one NaN, no infinity | `.e4m3x2`, and `ue4m3` scales |
//! | [`e5m2`] | 8 | to 57344 | `.e5m2x2` |
//! | [`e8m0`] | 8 | 2⁻¹²⁷ to 2¹²⁷, NaN | `.ue8m0x2` |
//! | [`f16`], [`bf16`] | 16 | | `.f16`, `.bf16` |
//! | [`tf32`] | 19 of 32 | | `.tf32` |
//!
//! Two things are left to the caller, because they are the same for every format: `.relu` (replace
//! a negative input by +0 first; NaN stays) and the order of a packed pair (`cvt.….e2m1x2.f32 d, a,
//! b` puts `a` into the *upper* half). Sources narrower than f32 are decoded first, which is exact,
//! so the conversion still rounds once.
//!
//! Speed: the encoders to nearest and all decoders are free of branches and of table look-ups, so a
//! loop over them is vectorised by the compiler.

pub mod bf16;
pub mod e2m1;
pub mod e2m3;
pub mod e3m2;
pub mod e4m3;
pub mod e5m2;
pub mod e8m0;
pub mod f16;
mod minifloat;
pub mod pack;
mod round;
pub mod swizzle;
pub mod tf32;

pub use round::{Round, f64_to_f32_odd};

//! Rounding modes, and the one step through f32 that does not round twice.

/// The rounding modes of PTX floating-point `cvt` (PTX ISA 9.7.9.21). `.rna`, ties away from zero,
/// exists for tf32 only: [`crate::tf32::encode_ties_away`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// `.rn`: to nearest, ties to the even significand.
    NearestEven,
    /// `.rz`
    TowardZero,
    /// `.rm`: toward minus infinity.
    Down,
    /// `.rp`: toward plus infinity.
    Up,
}

impl Round {
    /// Whether the truncated magnitude `kept` must grow by one, when `rest` of `1 << shift` was cut
    /// off. `shift` is at least 1.
    #[inline(always)]
    pub(crate) fn increments(self, negative: bool, kept: u32, rest: u32, shift: u32) -> bool {
        match self {
            Round::NearestEven => {
                let half = 1 << (shift - 1);
                rest > half || (rest == half && kept & 1 == 1)
            }
            Round::TowardZero => false,
            Round::Down => negative && rest != 0,
            Round::Up => !negative && rest != 0,
        }
    }

    /// Whether a finite value beyond the largest one becomes an infinity.
    #[inline(always)]
    pub(crate) fn overflows(self, negative: bool) -> bool {
        match self {
            Round::NearestEven => true,
            Round::TowardZero => false,
            Round::Down => negative,
            Round::Up => !negative,
        }
    }
}

/// `x` as f32, rounded to odd: truncated, and the last bit set if anything was cut off.
///
/// Rounding the result again, to a format with at least two bits less (f16, bf16, tf32), in any
/// mode, gives what rounding `x` once would give; `x as f32` would not (double rounding).
#[inline]
pub fn f64_to_f32_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    if back == x || x.is_nan() {
        return nearest;
    }
    // One step toward zero if nearest went past x. An infinity steps to the largest finite value.
    let bits = nearest.to_bits();
    let truncated = if back.abs() > x.abs() { bits - 1 } else { bits };
    f32::from_bits(truncated | 1)
}

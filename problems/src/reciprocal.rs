//! `rcp.approx.ftz.f32`: what a GPU may answer for 1/x.
//!
//! PTX promises an error of at most one unit in the last place (PTX ISA 9.7.3, rcp), so two GPUs
//! may differ in the last bit and both be right. The reciprocal of a power of two is exact. Results
//! and inputs that are subnormal count as zero.

/// The least and the greatest allowed answer, and the nearest one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reciprocal {
    pub least: f32,
    pub nearest: f32,
    pub greatest: f32,
}

impl Reciprocal {
    /// Of x ≥ 0, or NaN.
    pub fn of(x: f32) -> Reciprocal {
        let nearest = flush(1.0 / flush(x));
        let power_of_two = x.to_bits() & 0x007f_ffff == 0;
        if power_of_two || !nearest.is_normal() {
            return Reciprocal { least: nearest, nearest, greatest: nearest };
        }
        let least = flush(nearest.next_down());
        Reciprocal { least, nearest, greatest: nearest.next_up() }
    }
}

/// A subnormal becomes a zero of its sign, as `.ftz` does.
pub(crate) fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(x) } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specials_and_powers_of_two_are_exact() {
        let exact = |x: f32, y: f32| {
            assert_eq!(Reciprocal::of(x), Reciprocal { least: y, nearest: y, greatest: y }, "{x}");
        };
        exact(0.0, f32::INFINITY);
        exact(1e-40, f32::INFINITY);
        exact(f32::INFINITY, 0.0);
        exact(0.25, 4.0);
        exact(f32::MAX, 0.0);
        let sixth = Reciprocal::of(6.0);
        assert_eq!(sixth.nearest, 1.0 / 6.0);
        assert!(sixth.least < sixth.nearest && sixth.nearest < sixth.greatest);
    }
}

//! What the headers have no host code for: tf32, stochastic rounding, saturation of f16 and bf16.

use formats::{Round, bf16, e2m1, e2m3, e3m2, e4m3, e5m2, f16, tf32};

/// Bits of values spread over all exponents, with mantissas around the place where tf32 cuts.
fn samples() -> impl Iterator<Item = f32> {
    (0..1u32 << 16).flat_map(|upper| {
        [0, 1, 0x0fff, 0x1000, 0x1001, 0x1fff].map(|low| f32::from_bits(upper << 16 | low))
    })
}

#[test]
fn tf32_is_one_of_its_neighbours_and_the_right_one() {
    for x in samples().filter(|x| x.is_finite()) {
        // In f64 the neighbours, their middle and the overflow threshold are all exact.
        let step = if x.abs() < f32::MIN_POSITIVE {
            2f64.powi(-136)
        } else {
            2f64.powi((x.to_bits() >> 23 & 0xff) as i32 - 127 - 10)
        };
        let exact = f64::from(x);
        let below = (exact / step).floor() * step;
        let above = (exact / step).ceil() * step;
        let toward_zero = if exact < 0.0 { above } else { below };
        let away = if exact < 0.0 { below } else { above };
        let (to_low, to_high) = (exact - below, above - exact);
        let even = if (below / step) % 2.0 == 0.0 { below } else { above };
        let nearest = |tie: f64| {
            if to_low < to_high {
                below
            } else if to_high < to_low {
                above
            } else {
                tie
            }
        };
        let as_f32 = |y: f64| y as f32;
        assert_eq!(tf32::encode_with(x, Round::TowardZero), as_f32(toward_zero), "{x:e}");
        assert_eq!(tf32::encode_with(x, Round::NearestEven), as_f32(nearest(even)), "{x:e}");
        assert_eq!(tf32::encode_ties_away(x), as_f32(nearest(away)), "{x:e}");
        assert_eq!(tf32::truncate(x), as_f32(toward_zero));
    }
}

#[test]
fn special_values_of_tf32() {
    for encode in [tf32::encode_ties_away, |x| tf32::encode_with(x, Round::NearestEven)] {
        assert_eq!(encode(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert_eq!(encode(-f32::NAN).to_bits(), 0x7fff_ffff);
        assert_eq!(encode(f32::MAX), f32::INFINITY);
    }
    assert_eq!(tf32::saturate_finite(f32::NEG_INFINITY).to_bits(), 0xff7f_e000);
    assert_eq!(tf32::saturate_finite(1.0), 1.0);
}

#[test]
fn saturation_replaces_only_infinities() {
    assert_eq!(f16::saturate_finite(0x7c00), 0x7bff);
    assert_eq!(f16::saturate_finite(0xfc00), 0xfbff);
    assert_eq!(f16::saturate_finite(f16::NAN), f16::NAN);
    assert_eq!(bf16::saturate_finite(0xff80), 0xff7f);
    assert_eq!(bf16::saturate_finite(0x3f80), 0x3f80);
}

/// Over all random numbers, the mean of the results is the input: that is what stochastic rounding
/// is for. Checked as counts: with `width` random bits, a value that lies a fraction t above its
/// lower neighbour goes up for t·2^width of them.
#[test]
fn stochastic_rounding_goes_up_in_proportion() {
    type Encode = fn(f32, u32) -> f32;
    let formats: [(&str, u32, Encode); 7] = [
        ("e2m1", 8, |x, r| e2m1::decode(e2m1::encode_stochastic(x, r as u8))),
        ("e2m3", 16, |x, r| e2m3::decode(e2m3::encode_stochastic(x, r as u16))),
        ("e3m2", 16, |x, r| e3m2::decode(e3m2::encode_stochastic(x, r as u16))),
        ("e4m3", 16, |x, r| e4m3::decode(e4m3::encode_stochastic(x, r as u16))),
        ("e5m2", 16, |x, r| e5m2::decode(e5m2::encode_stochastic(x, r as u16))),
        ("f16", 13, |x, r| f16::decode(f16::encode_stochastic(x, r as u16))),
        ("bf16", 16, |x, r| bf16::decode(bf16::encode_stochastic(x, r as u16))),
    ];
    for (name, width, encode) in formats {
        for x in [0.0, 0.25, 0.3125, 1.125, -1.75, 2.5, 4.75, -5.0, 6.0, 0.0078125, 1.0 + 1e-4] {
            let all = 1u32 << width;
            let low = encode(x, 0);
            let high = encode(x, all - 1);
            assert!(low.abs() <= x.abs() && x.abs() <= high.abs() || low == high, "{name} {x}");
            let ups = (0..all).filter(|&r| encode(x, r) != low).count() as f64;
            if low != high {
                let fraction = f64::from((x - low) / (high - low));
                assert_eq!(ups, (fraction * f64::from(all)).floor(), "{name} {x}");
            }
        }
        assert_eq!(encode(f32::INFINITY, 0), encode(f32::INFINITY, u32::MAX));
    }
}

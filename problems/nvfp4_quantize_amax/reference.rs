//! NVFP4 quantization that finds the global scale itself: `sf_g` = 448·6 / amax of the tensor, then
//! what [`crate::folders::nvfp4_quantize`] says.
//!
//! `sf_g` is a quotient that the hardware may compute in several ways, so it has a bound of its own:
//! five roundings of 2^-24 (one in the reference; `rcp.approx` and a product, or `__fdividef`, in the
//! solution). Codes and scales are then judged by the `sf_g` that the solution wrote, so that one
//! fault is not counted twice.

use formats::{e2m1, e4m3, f16};

use crate::folders::nvfp4_quantize::compare::{Tensor, compare};
use crate::folders::nvfp4_quantize::{self, global_scale, quantize};
use crate::hypothesis::thousands;
use crate::problem::{Given, Truth};
use crate::values::Closeness;
use crate::{CaseSpec, Comparison, Expected, FirstMismatch, Poison, Seed};

pub(crate) struct Reference;

const CLOSENESS: Closeness = Closeness { relative: 5.0 * f32::EPSILON / 2.0 };

impl Truth for Reference {
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        nvfp4_quantize::fill(case.family, seed, bytemuck::cast_slice_mut(inputs[0]));
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let values = bytemuck::cast_slice(given.inputs[0]);
        let global = global_scale(values);
        let (q, scale) = quantize(values, given.size("k"), global);
        Expected::of(vec![q, scale, global.to_le_bytes().to_vec()])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let values: &[u16] = bytemuck::cast_slice(given.inputs[0]);
        let columns = given.size("k");
        let wanted = float(&expected.outputs[2]);
        let found = float(outputs[2]);
        // What codes and scales are judged by.
        let global = if found.is_normal() && found > 0.0 { found } else { wanted };

        let own;
        let mut right = (&expected.outputs[0][..], &expected.outputs[1][..]);
        if global != wanted {
            own = quantize(values, columns, global);
            right = (&own.0, &own.1);
        }
        let tensor = Tensor { values, columns, global };
        let mut comparison = compare(tensor, right, (outputs[0], outputs[1]), poison);
        comparison.elements += 1;
        if CLOSENESS.holds(found, wanted) {
            comparison.near_ties += u64::from(found != wanted);
            return comparison;
        }
        let codes_are_right = comparison.accepted();
        comparison.mismatches += 1;
        comparison.non_finite += u64::from(!found.is_finite());
        let unwritten = poison.matches(0, outputs[2]);
        comparison.unwritten += u64::from(unwritten);
        let said = if unwritten {
            vec![("unwritten_sf_g", "sf_g was never written".to_owned())]
        } else {
            explain(values, columns, found, wanted)
        };
        let (ids, sentences): (Vec<_>, Vec<_>) = said.into_iter().unzip();
        comparison.reasons.splice(0..0, ids.into_iter().map(str::to_owned));
        comparison.explanation.splice(0..0, sentences);
        if codes_are_right {
            let all = thousands(values.len() as u64);
            comparison.explanation.push(format!("all {all} codes are right for the sf_g written"));
            comparison.first = Some(FirstMismatch {
                row: 0,
                column: 0,
                expected: f64::from(wanted),
                given: f64::from(found),
                quantized: None,
                dequantized: None,
                attended: None,
                summed: None,
            });
        }
        comparison
    }
}

fn float(bytes: &[u8]) -> f32 {
    bytes.first_chunk().map_or(f32::NAN, |&bytes| f32::from_le_bytes(bytes))
}

const FULL: f32 = e4m3::MAX * e2m1::MAX;

/// Which known bugs give this global scale: all that do, for one case cannot tell them apart. If
/// the largest magnitude is negative, who forgot the sign and who forgot that place look the same;
/// over the cases only the real one remains.
fn explain(values: &[u16], columns: usize, found: f32, wanted: f32) -> Vec<(&'static str, String)> {
    let amax = FULL / wanted;
    let scale_of = |amax: f32| if amax == 0.0 { 1.0 } else { FULL / amax };
    let largest = values.iter().map(|&x| f16::decode(x)).fold(0.0, f32::max);
    let mean = || values.iter().map(|&x| f64::from(f16::decode(x).abs())).sum::<f64>();
    let candidates = [
        ("global_scale_inverted", amax / FULL, "amax / 2688, its inverse"),
        ("global_scale_is_amax", amax, "amax itself; it must be 2688 / amax"),
        ("global_scale_without_e2m1", e4m3::MAX / amax, "448 / amax; E2M1's 6 is missing"),
        ("global_scale_without_e4m3", e2m1::MAX / amax, "6 / amax; E4M3's 448 is missing"),
        ("signed_amax", scale_of(largest), "2688 over the largest value; magnitudes count"),
        (
            "amax_is_mean",
            FULL * values.len() as f32 / mean() as f32,
            "2688 over the mean of the magnitudes",
        ),
    ];
    let zeros = values.iter().all(|x| x & 0x7fff == 0);
    if zeros {
        return vec![(
            "global_scale_of_zeros",
            format!("sf_g is {found}; a tensor of zeros has 1"),
        )];
    }
    // The mean is a sum that anyone may round differently.
    let near = |x: f32| x.is_finite() && (x - found).abs() <= 1e-5 * x.abs();
    let fitting = candidates.iter().filter(|(_, value, _)| near(*value));
    let mut said: Vec<_> = fitting.map(|(id, _, says)| (*id, format!("sf_g is {says}"))).collect();
    said.extend(overlooked(values, columns, found, wanted).map(|says| ("amax_of_part", says)));
    if said.is_empty() {
        said.push(if found > 0.0 && found < wanted {
            let says = format!(
                "sf_g is {found}, as for an amax of {}, but amax is {amax}: is the maximum reset to 0 \
                 in every call?",
                FULL / found
            );
            ("amax_not_reset", says)
        } else {
            ("global_scale_wrong", format!("sf_g is {found}; 2688 / amax is {wanted}"))
        });
    }
    said
}

/// Whether a smaller magnitude than amax gives this global scale, zeros (whose scale is 1) among them, and
/// where amax is.
fn overlooked(values: &[u16], columns: usize, found: f32, wanted: f32) -> Option<String> {
    let at = |magnitude: u16| values.iter().position(|x| x & 0x7fff == magnitude);
    let near = f16::encode(FULL / found);
    let gives = |part: u16| match part {
        0 => found == 1.0,
        _ => found > wanted && CLOSENESS.holds(found, FULL / f16::decode(part)),
    };
    let part = [0, near].into_iter().find(|&part| gives(part) && at(part).is_some())?;
    let amax = f16::encode(FULL / wanted);
    let missed = at(amax)?;
    Some(format!(
        "sf_g is {found}, as for an amax of {}, but amax is {} at row {}, column {}: part of the \
         tensor was not looked at",
        f16::decode(part),
        f16::decode(amax),
        missed / columns,
        missed % columns
    ))
}

#[cfg(test)]
mod tests;

//! Holding packed codes and swizzled scales to the expected ones.
//!
//! A scale byte is right if it is one of those that the reciprocal of 6 allows, and a code is right
//! if it lies between those that the least and the greatest factor give *for the scale byte beside
//! it* ([`super::Scaling`]): codes grow with the factor, so everything between is a choice some GPU
//! may make. So is the code of the product as it is before it is rounded to a float. What is right without being the expected byte is counted as a near-tie. Where all
//! reciprocals are exact, or simply agree, only one byte is right.
//!
//! In a block of scale 0 every value is 0 whatever the codes say (FlashInfer leaves 6 there, the
//! factor being infinite), so its codes are open. Pads of the scale layout must be zero.

use std::cmp::Ordering;

use formats::{e2m1, e4m3, f16, pack, swizzle};
use rayon::prelude::*;

use super::{BLOCK, Scaling, amax};
use crate::error_map::ErrorMap;
use crate::hypothesis::thousands;
use crate::unwritten::{Untouched, in_order};
use crate::{Comparison, FirstMismatch, Poison, QuantizedElement};

/// What was to be quantized.
pub(crate) struct Tensor<'a> {
    /// f16 bits, row-major.
    pub values: &'a [u16],
    pub columns: usize,
    pub global: f32,
}

impl Tensor<'_> {
    pub fn block(&self, block: usize) -> &[u16; BLOCK] {
        &self.values.as_chunks::<BLOCK>().0[block]
    }

    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Blocks in a row.
    pub fn across(&self) -> usize {
        self.columns / BLOCK
    }

    /// Where the scale of a block lies.
    pub fn place(&self, block: usize) -> usize {
        swizzle::offset(block / self.across(), block % self.across(), self.across())
    }
}

/// Codes and scales, expected and given, in the layouts of the outputs.
pub(crate) fn compare(
    tensor: Tensor,
    expected: (&[u8], &[u8]),
    given: (&[u8], &[u8]),
    poison: &Poison,
) -> Comparison {
    let mut comparison = Comparison {
        elements: tensor.values.len() as u64,
        max_error: Some(0.0),
        ..Comparison::default()
    };
    if expected == given {
        return comparison;
    }
    let place = |block| tensor.place(block);
    let view = View {
        scaling: Scaling::new(tensor.global),
        q: Untouched {
            name: "q",
            expected: expected.0,
            given: given.0,
            rows: tensor.rows(),
            columns: tensor.columns / 2,
            width: 1,
            place: &in_order,
            poison,
        },
        scale: Untouched {
            name: "scale",
            expected: expected.1,
            given: given.1,
            rows: tensor.rows(),
            columns: tensor.across(),
            width: 1,
            place: &place,
            poison,
        },
        tensor: &tensor,
    };
    let tally = view.tally();
    comparison.near_ties = tally.near_ties;
    comparison.mismatches = tally.map.total();
    if let Some(first) = tally.differing.iter().min() {
        comparison.non_finite = tally.non_finite;
        comparison.max_error = Some(tally.max_error);
        comparison.first = view.first_mismatch(*first);
        comparison.picture = tally.map.picture();
        view.explain(&tally.differing, &mut comparison);
    }
    view.compare_pads(&mut comparison);
    comparison
}

pub(super) struct View<'a> {
    pub tensor: &'a Tensor<'a>,
    pub scaling: Scaling,
    pub q: Untouched<'a>,
    pub scale: Untouched<'a>,
}

struct Tally {
    map: ErrorMap,
    /// Blocks with anything wrong.
    differing: Vec<usize>,
    near_ties: u64,
    non_finite: u64,
    max_error: f64,
}

impl View<'_> {
    fn tally(&self) -> Tally {
        let empty = || Tally {
            map: ErrorMap::new(self.tensor.rows(), self.tensor.columns),
            differing: Vec::new(),
            near_ties: 0,
            non_finite: 0,
            max_error: 0.0,
        };
        let add = |mut tally: Tally, block: usize| {
            if self.differs(block) {
                self.add_block(block, &mut tally);
            }
            tally
        };
        (0..self.tensor.values.len() / BLOCK).into_par_iter().fold(empty, add).reduce(
            empty,
            |mut a, b| {
                a.differing.extend(b.differing);
                Tally {
                    map: a.map.merge(b.map),
                    differing: a.differing,
                    near_ties: a.near_ties + b.near_ties,
                    non_finite: a.non_finite + b.non_finite,
                    max_error: a.max_error.max(b.max_error),
                }
            },
        )
    }

    fn differs(&self, block: usize) -> bool {
        let place = self.tensor.place(block);
        let bytes = block * BLOCK / 2..(block + 1) * BLOCK / 2;
        self.scale.expected[place] != self.scale.given[place]
            || self.q.expected[bytes.clone()] != self.q.given[bytes]
    }

    fn add_block(&self, block: usize, tally: &mut Tally) {
        let place = self.tensor.place(block);
        let (expected, given) = (self.scale.expected[place], self.scale.given[place]);
        let allowed = Allowed::of(&self.scaling, self.tensor.block(block), given);
        let unit = self.dequantized(2, expected);
        let before = tally.map.total();
        for (index, range) in allowed.codes.iter().enumerate() {
            let element = block * BLOCK + index;
            let code = pack::get(self.q.given, element);
            let wanted = pack::get(self.q.expected, element);
            if allowed.scale && range.is_none_or(|range| range.contains(code)) {
                let moved = given != expected || code != wanted;
                tally.near_ties += u64::from(moved && !allowed.open);
                continue;
            }
            tally.map.add(element / self.tensor.columns, element % self.tensor.columns);
            let value = self.dequantized(code, given);
            if value.is_nan() {
                tally.non_finite += 1;
            } else if unit > 0.0 {
                let error = (value - self.dequantized(wanted, expected)).abs() / unit;
                tally.max_error = tally.max_error.max(error);
            }
        }
        if tally.map.total() > before {
            tally.differing.push(block);
        }
    }

    /// Code times scale over the global scale.
    fn dequantized(&self, code: u8, scale: u8) -> f64 {
        f64::from(e2m1::decode(code)) * f64::from(e4m3::decode(scale))
            / f64::from(self.tensor.global)
    }

    /// The first wrong element of a block that has one.
    fn first_mismatch(&self, block: usize) -> Option<FirstMismatch> {
        let place = self.tensor.place(block);
        let (expected_scale, given_scale) = (self.scale.expected[place], self.scale.given[place]);
        let values = self.tensor.block(block);
        let allowed = Allowed::of(&self.scaling, values, given_scale);
        let code = |index: usize| pack::get(self.q.given, block * BLOCK + index);
        let wrong = |index: &usize| {
            !allowed.scale
                || allowed.codes[*index].is_some_and(|range| !range.contains(code(*index)))
        };
        let index = (0..BLOCK).find(wrong)?;
        let element = block * BLOCK + index;
        let amax = amax(values);
        let input = f16::decode(values[index]);
        let scaled = input * self.scaling.factor(amax, expected_scale);
        let expected_code = pack::get(self.q.expected, element);
        Some(FirstMismatch {
            row: (element / self.tensor.columns) as u64,
            column: (element % self.tensor.columns) as u64,
            expected: self.dequantized(expected_code, expected_scale),
            given: self.dequantized(code(index), given_scale),
            quantized: Some(QuantizedElement {
                block: (block % self.tensor.across()) as u64,
                input: f64::from(input),
                amax: f64::from(amax),
                scaled: f64::from(scaled),
                midpoints: QuantizedElement::midpoints_around(scaled),
                expected_scale,
                given_scale,
                expected_code,
                given_code: code(index),
            }),
            dequantized: None,
            attended: None,
            summed: None,
        })
    }

    /// Pads of the scale layout are zero.
    fn compare_pads(&self, comparison: &mut Comparison) {
        let (rows, across) = (self.tensor.rows(), self.tensor.across());
        let wrong: Vec<usize> = (0..self.scale.given.len())
            .into_par_iter()
            .filter(|&place| self.scale.given[place] != 0)
            .filter(|&place| {
                let (row, column) = swizzle::position(place, across);
                row >= rows || column >= across
            })
            .collect();
        let Some(&first) = wrong.first() else { return };
        let count = wrong.len() as u64;
        let untouched = wrong.iter().filter(|&&place| self.scale.at(place)).count() as u64;
        // A wrong layout puts scales into the pads: then it is the layout that is wrong.
        let alone = comparison.mismatches == 0;
        comparison.mismatches += count;
        if untouched * 2 > count {
            comparison.unwritten += untouched;
            comparison.reasons.push("unwritten_scale_padding".to_owned());
            comparison.explanation.push(format!(
                "{} bytes of padding in scale were never written: rows are padded to 128 and \
                 columns to 4, with zeros",
                thousands(untouched)
            ));
        } else if alone {
            comparison.reasons.push("scale_padding_not_zero".to_owned());
            comparison.explanation.push(format!(
                "{} bytes of padding in scale are not zero: rows are padded to 128 and columns to 4",
                thousands(count)
            ));
        }
        if alone {
            let (row, column) = swizzle::position(first, across);
            comparison.first = Some(FirstMismatch {
                row: row as u64,
                column: column as u64,
                expected: 0.0,
                given: f64::from(e4m3::decode(self.scale.given[first])),
                quantized: None,
                dequantized: None,
                attended: None,
                summed: None,
            });
        }
    }
}

/// What a block may be, given its scale byte.
struct Allowed {
    scale: bool,
    /// `None` where any code is right.
    codes: [Option<Codes>; BLOCK],
    /// Whether all values are zero, so that other codes or scales mean the same.
    open: bool,
}

/// Codes of one sign.
#[derive(Clone, Copy)]
pub(super) struct Codes {
    pub least: u8,
    pub greatest: u8,
}

impl Codes {
    /// Between two codes of one sign, in whatever order.
    pub fn between(a: u8, b: u8) -> Codes {
        Codes { least: a.min(b), greatest: a.max(b) }
    }

    /// These and another of the same sign.
    pub fn with(self, code: u8) -> Codes {
        Codes { least: self.least.min(code), greatest: self.greatest.max(code) }
    }

    pub fn contains(self, code: u8) -> bool {
        self.least <= code && code <= self.greatest
    }
}

/// The code of a product that is not rounded before it is encoded, as where `fma` rounds it to codes. A
/// product that rounds to a midpoint need not be one.
fn exact_code(x: f32, factor: f32) -> u8 {
    let exact = f64::from(x) * f64::from(factor);
    let product = x * factor;
    let is_midpoint = e2m1::MIDPOINTS.contains(&product.abs());
    e2m1::encode(match exact.total_cmp(&f64::from(product)) {
        Ordering::Greater if is_midpoint => product.next_up(),
        Ordering::Less if is_midpoint => product.next_down(),
        _ => product,
    })
}

impl Allowed {
    fn of(scaling: &Scaling, block: &[u16; BLOCK], scale: u8) -> Allowed {
        let amax = amax(block);
        let (least, greatest) = scaling.scale_range(amax);
        let factors = scaling.factor_range(amax, scale);
        let vanished = scale & 0x7f == 0 && amax != 0.0;
        let codes = block.map(|x| {
            let x = f16::decode(x);
            let range = Codes::between(e2m1::encode(x * factors.0), e2m1::encode(x * factors.1));
            let range = range.with(exact_code(x, factors.0)).with(exact_code(x, factors.1));
            (!vanished).then_some(range)
        });
        let any_scale = amax == 0.0 && scale & 0x7f != e4m3::NAN;
        Allowed {
            scale: any_scale || (least <= scale && scale <= greatest),
            codes,
            open: vanished || amax == 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen on an H200: a kernel that rounds to codes by `fma` was wrong at one place in a million.
    #[test]
    fn a_product_may_be_encoded_before_it_is_rounded() {
        let x = f16::decode(f16::encode(0.623_046_9));
        // The product of the nearest factor rounds to 0.25, and is a little more.
        let factor = 0.25 / x;
        let factor = [factor.next_down(), factor, factor.next_up()]
            .into_iter()
            .find(|&factor| x * factor == 0.25 && f64::from(x) * f64::from(factor) > 0.25);
        let factor = factor.expect("one of them");
        assert_eq!((e2m1::encode(x * factor), exact_code(x, factor)), (0, 1));
        assert_eq!((e2m1::encode(-x * factor), exact_code(-x, factor)), (8, 9));
        // Of an exact product there is only one code.
        for midpoint in e2m1::MIDPOINTS {
            assert_eq!(exact_code(midpoint / 4.0, 4.0), e2m1::encode(midpoint));
        }
    }
}

//! Holding an output to the expected one.
//!
//! The bound belongs to each element. An output is a sum of weights times values, and `length`, the
//! square root of the sum of the squares of those products, is what random rounding errors add up
//! to; the output itself is what a common factor adds. `spec.md` derives the bound from these.

use super::{Attention, Shape};
use crate::comparison::AttendedElement;
use crate::problem::Given;
use crate::values::{Closeness, Values};
use crate::{Comparison, Expected, Poison};

/// Errors are allowed this much of their unit; `problem.toml` says it, too.
pub(super) const BOUND: f64 = 1.0 / 512.0;

/// Part of the largest |v| of a head that every unit has: below it half precision has no digits.
const FLOOR: f64 = 1.0 / 1024.0;

pub(super) fn compare(
    given: &Given,
    expected: &Expected,
    outputs: &[&[u8]],
    poison: &Poison,
) -> Comparison {
    let exactly = Closeness { relative: 0.0 };
    let shape = Shape::of(given);
    let mut values =
        Values::new(expected, outputs[0], shape.head_dim, shape.seq_q * shape.head_dim, exactly);
    if expected.outputs[0] == outputs[0] {
        return values.compare(|_| 1.0).0;
    }
    let attention = Attention::new(given);
    let lengths = attention.average(|weight, value| (weight * value).powi(2), f64::sqrt);
    let loudest = loudest(attention.v, shape);
    let units: Vec<f32> = lengths
        .iter()
        .zip(values.expected)
        .enumerate()
        .map(|(index, (&length, &out))| {
            unit(length.into(), out.into(), loudest[index / values.unit]) as f32
        })
        .collect();
    let bounds: Vec<f32> = units.iter().map(|unit| unit * BOUND as f32).collect();
    values.bounds = Some(&bounds);
    let (mut comparison, differing) = values.compare(|index| units[index].into());
    if let Some(first) = &mut comparison.first {
        first.attended = Some(attended(&attention, first.row as usize));
        attention.explain(given, &values, &differing, poison, &mut comparison);
        let cosine = cosine(values.expected, values.given);
        comparison.explanation.push(format!("cosine with the expected output {cosine:.4}"));
    }
    comparison
}

/// What an error is measured in.
pub(super) fn unit(length: f64, out: f64, loudest: f64) -> f64 {
    length + out.abs() + FLOOR * loudest
}

/// The largest |v| of each head.
pub(super) fn loudest(v: &[f32], shape: Shape) -> Vec<f64> {
    let head = |v: &[f32]| v.iter().fold(0f32, |loudest, v| loudest.max(v.abs())).into();
    v.chunks(shape.seq_k * shape.head_dim).map(head).collect()
}

fn attended(attention: &Attention, row: usize) -> AttendedElement {
    let (head, query) = (row / attention.shape.seq_q, row % attention.shape.seq_q);
    let scores = attention.scores(head, query);
    let (weights, sum) = attention.softmax(head, query);
    let key = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
    AttendedElement {
        head: head as u64,
        query: query as u64,
        key: key as u64,
        score: scores[key],
        weight: weights[key] / sum,
    }
}

/// Of the angle between two outputs seen as vectors; NaN if one of them is zero or holds a NaN.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let product = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}

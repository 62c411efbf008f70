//! What came of holding a solution's outputs to the expected ones.

use formats::e2m1::MIDPOINTS;
use serde::Serialize;

/// The bytes that a right solution writes, one entry for each output in the signature's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub outputs: Vec<Vec<u8>>,
    /// The error that each element of an output may have, where the reference says so.
    pub(crate) allowed: Vec<Vec<f32>>,
}

impl Expected {
    /// These bytes, by the problem's own tolerance.
    pub fn of(outputs: Vec<Vec<u8>>) -> Expected {
        Expected { outputs, allowed: Vec::new() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Values compared.
    pub elements: u64,
    /// Values that are not close enough; non-finite and unwritten ones are among them.
    pub mismatches: u64,
    /// Output elements that are wrong and still hold the judge's pattern. Zero where their number
    /// could be chance.
    pub unwritten: u64,
    /// Values that are NaN or infinite and should not be.
    pub non_finite: u64,
    /// Values that differ from the expected ones where the hardware may round either way, and are
    /// therefore right.
    pub near_ties: u64,
    /// The largest error of a finite value, in the unit of the manifest's tolerance. Absent if
    /// nothing finite was compared.
    pub max_error: Option<f64>,
    pub first: Option<FirstMismatch>,
    /// Where the wrong values lie: a sentence and a drawing, for humans. Empty if accepted.
    pub picture: Vec<String>,
    /// What is wrong and, as far as a hypothesis fits, why: sentences for humans.
    pub explanation: Vec<String>,
    /// The explanations as stable identifiers, each one sufficient: `ties_away_from_zero`; several
    /// faults that only together explain the outputs are joined: `ceil_scale+nibbles_swapped`.
    pub reasons: Vec<String>,
}

impl Comparison {
    pub fn accepted(&self) -> bool {
        self.mismatches == 0
    }
}

/// The first value that is wrong, whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstMismatch {
    /// Row and column of the value in its matrix.
    pub row: u64,
    pub column: u64,
    pub expected: f64,
    pub given: f64,
    /// What a quantizer's value is made of.
    pub quantized: Option<QuantizedElement>,
    /// What a dequantizer's value is made of.
    pub dequantized: Option<DequantizedElement>,
    /// What an attention's value is made of.
    pub attended: Option<AttendedElement>,
    /// What a dot product's value is made of.
    pub summed: Option<SummedElement>,
}

/// Whose output it is, and the key that it listens to most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttendedElement {
    /// Head, counted through all batches, and query within it.
    pub head: u64,
    pub query: u64,
    /// The key of the largest score, that score over √d, and its share of all weights.
    pub key: u64,
    pub score: f64,
    pub weight: f64,
}

/// One dot product.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummedElement {
    /// Before it is rounded to the output's type.
    pub sum: f64,
    /// The sum of the terms' magnitudes.
    pub magnitude: f64,
    /// The least and the largest value that are right.
    pub allowed: (f64, f64),
}

/// One element of a block-scaled matrix that was to be turned into a number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DequantizedElement {
    /// Block within the row.
    pub block: u64,
    pub code: u8,
    pub code_value: f32,
    pub scale: u8,
    pub scale_value: f32,
}

/// One element of a block-scaled matrix, expected and given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantizedElement {
    /// Block within the row.
    pub block: u64,
    pub input: f64,
    /// Largest magnitude in the block.
    pub amax: f64,
    /// The input divided by the expected scale: what is rounded to a code.
    pub scaled: f64,
    /// The midpoints between codes on both sides of the scaled magnitude, where there are any.
    pub midpoints: (Option<f32>, Option<f32>),
    pub expected_scale: u8,
    pub given_scale: u8,
    pub expected_code: u8,
    pub given_code: u8,
}

impl FirstMismatch {
    /// The facts as aligned lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines =
            vec![format!("first wrong value at row {}, column {}", self.row, self.column)];
        if let Some(q) = &self.quantized {
            let nibble = self.nibble();
            let tie = |side: Option<f32>| side.map_or("none".to_owned(), |m| m.to_string());
            lines.push(format!("  block     {} of its row, amax {}", q.block, number(q.amax)));
            lines.push(format!("  input     {}, scaled {}", number(q.input), number(q.scaled)));
            lines.push(format!(
                "  midpoints {} and {}{}",
                tie(q.midpoints.0),
                tie(q.midpoints.1),
                if q.is_tie() { ": an exact tie" } else { "" }
            ));
            lines.push(format!(
                "  scale     expected {}, given {}",
                q.expected_scale, q.given_scale
            ));
            lines.push(format!(
                "  code      expected {:x}, given {:x} ({nibble} nibble)",
                q.expected_code, q.given_code
            ));
        }
        if let Some(d) = &self.dequantized {
            let nibble = self.nibble();
            lines.push(format!("  code      {:x}: {} ({nibble} nibble)", d.code, d.code_value));
            let DequantizedElement { block, scale, scale_value, .. } = d;
            let value = number(f64::from(*scale_value));
            lines.push(format!("  scale     {scale} (block {block} of its row): {value}"));
        }
        if let Some(AttendedElement { head, query, key, score, weight }) = &self.attended {
            lines.push(format!("  query     {query} of head {head}"));
            lines.push(format!(
                "  attends   most to key {key}: score {score:.4}, weight {weight:.4}"
            ));
        }
        if let Some(s) = &self.summed {
            let terms = number(s.magnitude);
            lines.push(format!("  sum       {}, of terms that amount to {terms}", number(s.sum)));
            let (least, largest) = (number(s.allowed.0), number(s.allowed.1));
            lines.push(if s.allowed.0 == s.allowed.1 {
                "  allowed   nothing else".to_owned()
            } else {
                format!("  allowed   {least} to {largest}")
            });
        }
        let (expected, given) = (number(self.expected), number(self.given));
        lines.push(format!("  value     expected {expected}, given {given}"));
        lines
    }
}

/// Shortest digits that tell the float apart; with an exponent where there would be many zeros.
fn number(x: f64) -> String {
    // What was an f32 reads best as one.
    let single = x as f32;
    let plain = x == 0.0 || (1e-4..1e7).contains(&x.abs());
    match (f64::from(single) == x, plain) {
        (true, true) => format!("{single}"),
        (true, false) => format!("{single:e}"),
        (false, true) => format!("{x}"),
        (false, false) => format!("{x:e}"),
    }
}

impl FirstMismatch {
    fn nibble(&self) -> &'static str {
        if self.column.is_multiple_of(2) { "low" } else { "high" }
    }
}

impl QuantizedElement {
    /// The midpoints at or below, and above, the magnitude of `scaled`.
    pub(crate) fn midpoints_around(scaled: f32) -> (Option<f32>, Option<f32>) {
        let below = MIDPOINTS.iter().rfind(|&&midpoint| midpoint <= scaled.abs());
        let above = MIDPOINTS.iter().find(|&&midpoint| midpoint > scaled.abs());
        (below.copied(), above.copied())
    }

    /// Whether the scaled value lies exactly between two codes.
    pub fn is_tie(&self) -> bool {
        let magnitude = Some(self.scaled.abs() as f32);
        self.midpoints.0 == magnitude || self.midpoints.1 == magnitude
    }
}

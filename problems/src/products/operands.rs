//! What a solution is given, and where everything lies in it.

use super::dot::Row;
use super::{B_ROWS, BLOCK};
use crate::problem::Given;

/// Matrices of one call. An output is numbered as it lies in memory: `batch * m + row`.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    pub a: &'a [u8],
    pub b: &'a [u8],
    pub sfa: &'a [u8],
    pub sfb: &'a [u8],
    pub sfa_blocked: &'a [u8],
    pub sfb_blocked: &'a [u8],
    pub m: usize,
    pub k: usize,
    pub l: usize,
}

impl<'a> Operands<'a> {
    pub fn new(given: &Given<'a>) -> Operands<'a> {
        let [a, b, sfa, sfb, sfa_blocked, sfb_blocked] =
            std::array::from_fn(|index| given.inputs[index]);
        let [m, k, l] = ["m", "k", "l"].map(|name| given.size(name));
        Operands { a, b, sfa, sfb, sfa_blocked, sfb_blocked, m, k, l }
    }

    /// Row and column of an output in a report: a column for each batch.
    pub fn columns_of_batches(&self, output: usize) -> (usize, usize) {
        (output % self.m, output / self.m)
    }

    /// Row and column of an output in a report: a row for each batch.
    pub fn rows_of_batches(&self, output: usize) -> (usize, usize) {
        (output / self.m, output % self.m)
    }

    /// Outputs there are.
    pub fn outputs(&self) -> usize {
        self.m * self.l
    }

    /// Scales of a row.
    pub fn blocks(&self) -> usize {
        self.k / BLOCK
    }

    /// The row of a that output `output` is made of.
    pub fn a_row(&self, output: usize) -> Row<'a> {
        row(self.a, self.sfa, output, self.k)
    }

    /// The row of b that counts in a batch.
    pub fn b_row(&self, batch: usize) -> Row<'a> {
        row(self.b, self.sfb, batch * B_ROWS, self.k)
    }
}

fn row<'a>(codes: &'a [u8], scales: &'a [u8], row: usize, k: usize) -> Row<'a> {
    let of = |bytes: &'a [u8], len: usize| &bytes[row * len..(row + 1) * len];
    Row { codes: of(codes, k / 2), scales: of(scales, k / BLOCK) }
}

//! All groups' operands, and the product of one with its choices left open.

use formats::swizzle;

use crate::hypothesis::Mutation;
use crate::products::BLOCK;
use crate::products::compare::{Coarse, Product, Range, sums_in_f16};
use crate::products::operands::Operands;
use crate::products::recipe::{Choices, Recipe};

/// What a solution was given, with the scales in rows besides.
pub(super) struct Groups<'a> {
    all: Vec<Inputs<'a>>,
}

struct Inputs<'a> {
    codes: [&'a [u8]; 2],
    blocked: [&'a [u8]; 2],
    /// In rows, as the layout has them for each k of a group that is not larger than its own: what takes
    /// another's k finds others. Its own are the first.
    scales: Vec<(usize, [Vec<u8>; 2])>,
    shape: [usize; 3],
}

impl Inputs<'_> {
    fn scales(&self, k: usize) -> &[Vec<u8>; 2] {
        let found = self.scales.iter().find(|(of, _)| *of == k);
        found.map_or(&self.scales[0].1, |(_, scales)| scales)
    }
}

impl<'a> Groups<'a> {
    pub fn new(inputs: &[&'a [u8]], shapes: &[[usize; 3]]) -> Groups<'a> {
        let count = shapes.len();
        let group = |(index, &shape): (usize, &[usize; 3])| {
            let [a, b, sfa, sfb] = std::array::from_fn(|which| inputs[which * count + index]);
            let [m, n, own] = shape;
            let mut of_each: Vec<usize> = shapes.iter().map(|shape| shape[2]).collect();
            of_each.retain(|k| *k < own);
            of_each.sort_unstable();
            of_each.dedup();
            let scales = std::iter::once(own).chain(of_each).map(|k| {
                let of = |(blocked, rows)| in_rows(blocked, rows, k / BLOCK);
                (k, [(sfa, m), (sfb, n)].map(of))
            });
            let scales = scales.collect();
            Inputs { codes: [a, b], blocked: [sfa, sfb], scales, shape }
        };
        Groups { all: shapes.iter().enumerate().map(group).collect() }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn operands(&self, group: usize) -> Operands<'_> {
        self.mixed([group; 3])
    }

    /// The operands of a group with a, b and both sizes k of these: the matrix is b, the vectors are
    /// the rows of a. The number of outputs is the first's. A k that they have not is theirs.
    fn mixed(&self, [of_a, of_b, of_k]: [usize; 3]) -> Operands<'_> {
        let (a, b) = (&self.all[of_a], &self.all[of_b]);
        let k = self.all[of_k].shape[2].min(a.shape[2]).min(b.shape[2]);
        Operands {
            a: b.codes[1],
            b: a.codes[0],
            sfa: &b.scales(k)[1],
            sfb: &a.scales(k)[0],
            sfa_blocked: b.blocked[1],
            sfb_blocked: a.blocked[0],
            m: b.shape[1],
            k,
            l: a.shape[0],
        }
    }
}

fn in_rows(blocked: &[u8], rows: usize, columns: usize) -> Vec<u8> {
    let at = |index| blocked[swizzle::offset(index / columns, index % columns, columns)];
    (0..rows * columns).map(at).collect()
}

/// One of them.
pub(super) struct Group<'a> {
    pub groups: &'a Groups<'a>,
    pub own: usize,
}

/// The choices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grouped {
    pub product: Recipe,
    /// The groups, from this one and how many there are, whose a, b and k are used.
    pub a: fn(usize, usize) -> usize,
    pub b: fn(usize, usize) -> usize,
    pub k: fn(usize, usize) -> usize,
}

impl Choices for Grouped {
    fn product(&mut self) -> &mut Recipe {
        &mut self.product
    }
}

impl Grouped {
    pub const RIGHT: Grouped =
        Grouped { product: Recipe::OF_ROWS, a: |own, _| own, b: |own, _| own, k: |own, _| own };
}

impl Product for Group<'_> {
    type Recipe = Grouped;

    fn outputs(&self) -> usize {
        self.groups.operands(self.own).outputs()
    }

    fn position(&self, output: usize) -> (usize, usize) {
        self.groups.operands(self.own).rows_of_batches(output)
    }

    fn right(&self) -> Grouped {
        Grouped::RIGHT
    }

    fn mutations(&self) -> &'static [Mutation<Grouped>] {
        &super::mutations::MUTATIONS
    }

    fn range(&self, recipe: &Grouped, output: usize) -> Range {
        let count = self.groups.len();
        let of = [recipe.a, recipe.b, recipe.k].map(|of| of(self.own, count));
        let own = self.groups.operands(self.own);
        let operands = Operands { m: own.m, l: own.l, ..self.groups.mixed(of) };
        let sum = recipe.product.sum(&operands, output);
        Range::around(sum, sum.allowance(operands.k, true), recipe.product.store)
    }

    fn coarse(&self) -> Vec<Coarse<Self>> {
        vec![sums_in_f16()]
    }
}

//! Contents for a series of timed calls: mixtures of two that the solution was proven right on.
//!
//! ```text
//! unit       0  1  2  3  4  5 …
//! content A  a₀ a₁ a₂ a₃ a₄ a₅        outputs  A₀ A₁ A₂ …   judged in full
//! content B  b₀ b₁ b₂ b₃ b₄ b₅                 B₀ B₁ B₂ …   judged in full
//! a call     a₀ b₁ b₂ a₃ b₄ a₅                 A₀ B₁ B₂ …   must come out
//! ```
//!
//! No two calls of one process get the same mixture. Outputs stay on the GPU; what comes back is a
//! fingerprint, a sum over words, so that those of the units add up and the judge knows each call's
//! from 2 × units sums. It decides on its own copies, as always. A fingerprint that differs is no
//! verdict: outputs that a solution may legally write otherwise (another order of a sum) are fetched
//! and compared in full, and so is one call of each series whatever its fingerprint.

use std::collections::HashSet;
use std::io;

use problems::{BufferSpec, CaseSpec, Mixing, Poison, Problem, ReferenceKernels};

use super::bytes::Bytes;
use super::content::{Content, sides};
use super::fresh;
use crate::Error;
use crate::device::fingerprint::fingerprint;
use crate::device::{Order, Span, Temperature};
use crate::shared::Shared;

/// How often a key is drawn anew, before the mixtures count as used up.
const DRAWS: usize = 32;

#[derive(Debug)]
pub struct Mixture {
    pub case: CaseSpec,
    pub buffers: Vec<BufferSpec>,
    pub contents: [Content; 2],
    /// What the worker copies outputs to.
    pub shared: Shared,
    units: usize,
    /// Proven right, of each content.
    outputs: [Vec<Bytes>; 2],
    key: u64,
    /// Fingerprints by content, output and unit.
    sums: [Vec<Vec<u64>>; 2],
    used: HashSet<Vec<bool>>,
    /// Inputs and the bytes of one unit of each.
    inputs: Vec<(usize, usize)>,
}

impl Mixture {
    pub fn new(
        case: &CaseSpec,
        buffers: Vec<BufferSpec>,
        mixing: &Mixing,
        contents: [Content; 2],
        outputs: [Vec<Bytes>; 2],
        shared: Shared,
    ) -> Result<Self, Error> {
        let key = u64::from_le_bytes(fresh()?);
        let units = mixing.units;
        let sums = outputs.each_ref().map(|outputs| {
            let of = |bytes: &Bytes| {
                let unit = bytes.as_slice().len() / units;
                let parts = bytes.as_slice().chunks_exact(unit.max(1)).enumerate();
                parts.map(|(index, part)| fingerprint(part, index * unit / 8, key)).collect()
            };
            outputs.iter().map(of).collect()
        });
        let unit = |index: usize| match mixing.shared[index] {
            true => buffers[index].bytes,
            false => buffers[index].bytes / units,
        };
        let inputs = sides(&buffers).0.into_iter().map(|index| (index, unit(index))).collect();
        Ok(Self {
            case: case.clone(),
            buffers,
            contents,
            shared,
            units,
            outputs,
            key,
            sums,
            used: HashSet::new(),
            inputs,
        })
    }

    /// Up to `count` calls whose contents are new. Empty where there are none left: then draw
    /// other contents.
    pub fn order(
        &mut self,
        count: usize,
        temperature: Temperature,
        span: Span,
    ) -> Result<Order, Error> {
        let mut keys = Vec::new();
        let mut draws = 0;
        while keys.len() < count && draws < DRAWS {
            let key = u64::from_le_bytes(fresh()?);
            if self.used.insert(self.choices(key).collect()) {
                (keys, draws) = ([keys, vec![key]].concat(), 0);
            }
            draws += 1;
        }
        Ok(Order {
            keys,
            temperature,
            span,
            inputs: self.inputs.clone(),
            outputs: sides(&self.buffers).1,
            fingerprint: self.key,
        })
    }

    /// Whether each unit is of content B: the lowest bit of the pattern that the GPU computes too.
    fn choices(&self, key: u64) -> impl Iterator<Item = bool> + use<> {
        let pattern = Poison::new(key);
        (0..self.units).map(move |unit| pattern.byte(8 * unit) & 1 == 1)
    }

    /// The fingerprint of each output, if what was proven comes out.
    pub fn expected(&self, key: u64) -> Vec<u64> {
        let outputs = 0..self.outputs[0].len();
        let sum = |output: usize| {
            let units = self.choices(key).enumerate();
            units
                .map(|(unit, of_b)| self.sums[usize::from(of_b)][output][unit])
                .fold(0, u64::wrapping_add)
        };
        outputs.map(sum).collect()
    }

    /// The fingerprint of outputs that were fetched.
    pub fn found(&self, outputs: &[Bytes]) -> Vec<u64> {
        outputs.iter().map(|bytes| fingerprint(bytes.as_slice(), 0, self.key)).collect()
    }

    /// The outputs that were fetched last.
    ///
    /// # Errors
    /// The system's.
    pub fn fetched(&self) -> io::Result<Vec<Bytes>> {
        let take = |index: usize| {
            let mut bytes = Bytes::zeroed(self.buffers[index].bytes);
            self.shared.download(index, bytes.as_mut_slice())?;
            Ok(bytes)
        };
        sides(&self.buffers).1.into_iter().map(take).collect()
    }

    /// The content of the call of this key, drawn up in full.
    pub fn content(
        &self,
        problem: &Problem,
        key: u64,
        kernels: &dyn ReferenceKernels,
    ) -> Result<Content, Error> {
        let [a, b] = &self.contents;
        let mix = |(place, (_, unit)): (usize, &(usize, usize))| {
            let mut bytes = a.inputs[place].clone();
            let own = bytes.as_mut_slice().chunks_exact_mut((*unit).max(1));
            let other = b.inputs[place].as_slice().chunks_exact((*unit).max(1));
            for ((own, other), of_b) in own.zip(other).zip(self.choices(key)) {
                if of_b {
                    own.copy_from_slice(other);
                }
            }
            bytes
        };
        let inputs = self.inputs.iter().enumerate().map(mix).collect();
        Content::of(problem, &self.case, inputs, a.scalars.clone(), kernels)
    }
}

#[cfg(test)]
mod tests {
    use problems::NoKernels;

    use super::*;

    /// Units of one row, with scales of 8 bytes; outputs as a solution might write them.
    fn mixture() -> (&'static Problem, Mixture) {
        let problem = problems::find("mxfp4_quantize").unwrap();
        let mut case = problem.check_cases()[0].clone();
        case.sizes = problems::Sizes::new([("m", 16), ("k", 256)]);
        let buffers = problem.buffers(&case.sizes).unwrap();
        let mixing = problem.mixing(&case.sizes).unwrap();
        let a = Content::draw(problem, &case, &buffers, 1, None, &NoKernels).unwrap();
        let like = Some((&a, mixing.shared.as_slice()));
        let b = Content::draw(problem, &case, &buffers, 2, like, &NoKernels).unwrap();
        let write = |tag: u8| -> Vec<Bytes> {
            let (_, outs) = sides(&buffers);
            let mut tag = tag;
            outs.iter()
                .map(|index| {
                    let mut bytes = Bytes::zeroed(buffers[*index].bytes);
                    for byte in bytes.as_mut_slice() {
                        tag = tag.wrapping_mul(29).wrapping_add(71);
                        *byte = tag;
                    }
                    bytes
                })
                .collect()
        };
        let shared = Shared::new(buffers.iter().map(|b| (b.name.as_str(), b.bytes))).unwrap();
        let outputs = [write(1), write(2)];
        (problem, Mixture::new(&case, buffers, &mixing, [a, b], outputs, shared).unwrap())
    }

    #[test]
    fn fingerprints_of_a_mixture_are_those_of_its_parts() {
        let (_, mut mixture) = mixture();
        let order = mixture.order(20, Temperature::Cold, Span::Call).unwrap();
        assert_eq!(order.keys.len(), 20);
        for key in order.keys {
            let mixed: Vec<Bytes> = (0..2)
                .map(|output| {
                    let mut bytes = mixture.outputs[0][output].clone();
                    let unit = bytes.as_slice().len() / 16;
                    for (row, of_b) in mixture.choices(key).enumerate() {
                        if of_b {
                            let range = row * unit..(row + 1) * unit;
                            bytes.as_mut_slice()[range.clone()]
                                .copy_from_slice(&mixture.outputs[1][output].as_slice()[range]);
                        }
                    }
                    bytes
                })
                .collect();
            assert_eq!(mixture.found(&mixed), mixture.expected(key));
            let mut spoiled = mixed.clone();
            spoiled[1].as_mut_slice()[5] ^= 1;
            assert_ne!(mixture.found(&spoiled), mixture.expected(key));
        }
    }

    #[test]
    fn no_mixture_comes_twice_and_their_inputs_mix_alike() {
        let (problem, mut mixture) = mixture();
        mixture.units = 3;
        mixture.inputs = vec![(0, mixture.buffers[0].bytes / 3)];
        let keys = mixture.order(100, Temperature::Cold, Span::Call).unwrap().keys;
        let masks: HashSet<Vec<bool>> =
            keys.iter().map(|key| mixture.choices(*key).collect()).collect();
        assert_eq!(masks.len(), keys.len());
        assert!(keys.len() <= 8 && keys.len() >= 6, "{}", keys.len());
        assert!(mixture.order(1, Temperature::Cold, Span::Call).unwrap().keys.len() <= 2);
        let (_, mut mixture) = self::mixture();
        let key = mixture.order(1, Temperature::Hot, Span::Everything).unwrap().keys[0];
        let content = mixture.content(problem, key, &NoKernels).unwrap();
        let unit = mixture.inputs[0].1;
        for (row, of_b) in mixture.choices(key).enumerate() {
            let range = row * unit..(row + 1) * unit;
            let from = &mixture.contents[usize::from(of_b)].inputs[0];
            assert_eq!(content.inputs[0].as_slice()[range.clone()], from.as_slice()[range]);
        }
    }
}

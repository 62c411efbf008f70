//! Output elements that a solution left as the judge had filled them.

use rayon::prelude::*;

use crate::Poison;
use crate::error_map::{ErrorMap, Region};
use crate::hypothesis::thousands;

/// One output seen as a matrix of elements of `width` bytes.
pub(crate) struct Untouched<'a> {
    pub name: &'a str,
    pub expected: &'a [u8],
    pub given: &'a [u8],
    pub rows: usize,
    pub columns: usize,
    pub width: usize,
    /// Where element `index` of the matrix lies, in elements.
    pub place: &'a (dyn Fn(usize) -> usize + Sync),
    pub poison: &'a Poison,
}

/// The place of elements in a plain row-major matrix.
pub(crate) fn in_order(index: usize) -> usize {
    index
}

/// What was found in one output.
pub(crate) struct Findings {
    /// Elements that are wrong and still hold the pattern; zero where chance explains them.
    pub count: u64,
    /// Whether nothing of the output was written.
    pub everything: bool,
    /// Stable identifier and sentence, if there are any.
    pub said: Option<(String, String)>,
}

impl Untouched<'_> {
    /// Whether what lies at `place` is wrong and still holds the pattern.
    pub fn at(&self, place: usize) -> bool {
        let bytes = place * self.width..(place + 1) * self.width;
        self.wrong(place) && self.poison.matches(bytes.start, &self.given[bytes])
    }

    fn wrong(&self, place: usize) -> bool {
        let bytes = place * self.width..(place + 1) * self.width;
        self.given[bytes.clone()] != self.expected[bytes]
    }

    pub fn find(&self) -> Findings {
        let empty = || (0u64, ErrorMap::new(self.rows, self.columns));
        let (wrong, map) = (0..self.rows)
            .into_par_iter()
            .fold(empty, |(mut wrong, mut map), row| {
                for column in 0..self.columns {
                    let place = (self.place)(row * self.columns + column);
                    if self.wrong(place) {
                        wrong += 1;
                        if self.at(place) {
                            map.add(row, column);
                        }
                    }
                }
                (wrong, map)
            })
            .reduce(empty, |a, b| (a.0 + b.0, a.1.merge(b.1)));
        // By chance one wrong byte in 256 holds the pattern, and one wrong half in 65536: beside other
        // wrong elements, eight times as many and a few are no evidence.
        let count = map.total();
        let by_chance = match self.width {
            1 => 4 + wrong / 32,
            2 => 2 + wrong / 8192,
            _ => 0,
        };
        if count != wrong && count <= by_chance {
            return Findings { count: 0, everything: false, said: None };
        }
        let everything = self.is_everything(count);
        let said = (count > 0).then(|| self.say(count, everything, &map.without_strays()));
        Findings { count, everything, said }
    }

    /// Whether `count` elements that hold the pattern mean that nothing was written. The pattern is
    /// right by chance in one byte of 256: now and then in two of sixteen, never in a tenth of many.
    fn is_everything(&self, count: u64) -> bool {
        let all = (self.rows * self.columns) as u64;
        let right = all - count;
        right * 10 < all || (self.width == 1 && right <= 2 && all >= 16)
    }

    fn say(&self, count: u64, everything: bool, map: &ErrorMap) -> (String, String) {
        let all = (self.rows * self.columns) as u64;
        let region = match map.region() {
            _ if everything => "",
            Region::FirstRows => "_first_rows",
            Region::LastRows => "_last_rows",
            Region::FirstColumns => "_first_columns",
            Region::LastColumns => "_last_columns",
            Region::OddColumns => "_odd_columns",
            Region::EvenColumns => "_even_columns",
            Region::Everywhere | Region::Other => "_partly",
        };
        let sentence = if region.is_empty() {
            format!("{} was never written", self.name)
        } else {
            format!(
                "{} of {} elements of {} were never written: {}",
                thousands(count),
                thousands(all),
                self.name,
                map.sentence()
            )
        };
        (format!("unwritten_{}{region}", self.name), sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in `columns` bytes of which the first `right` hold the pattern by chance, and
    /// the others should have been written.
    fn found(columns: usize, right: usize) -> Findings {
        let poison = Poison::new(7);
        let mut given = vec![0; columns];
        poison.fill(&mut given);
        let expected: Vec<u8> =
            given.iter().enumerate().map(|(i, byte)| byte ^ u8::from(i >= right)).collect();
        Untouched {
            name: "q",
            expected: &expected,
            given: &given,
            rows: 1,
            columns,
            width: 1,
            place: &in_order,
            poison: &poison,
        }
        .find()
    }

    #[test]
    fn chance_hides_no_output_that_was_not_written() {
        for (columns, right) in [(16, 0), (16, 2), (4096, 16)] {
            let findings = found(columns, right);
            assert!(findings.everything, "{right} of {columns}");
            assert_eq!(findings.said.unwrap().1, "q was never written", "{right} of {columns}");
        }
        for (columns, right) in [(4, 2), (16, 8), (4096, 1024)] {
            assert!(!found(columns, right).everything, "{right} of {columns}");
        }
    }
}

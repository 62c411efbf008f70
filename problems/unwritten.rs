//! Output elements that a solution left as the judge had filled them.

use rayon::prelude::*;

use crate::Poison;
use crate::error_map::{ErrorMap, Region};
use crate::hypothesis::thousands;

/// One output seen as a matrix of elements of `width` bytes.
pub(crate) struct Untouched<'a> {
    pub name: &'static str,
    pub expected: &'a [u8],
    pub given: &'a [u8],
    pub columns: usize,
    pub width: usize,
    pub poison: &'a Poison,
}

/// What was found in one output.
pub(crate) struct Findings {
    /// Elements that are wrong and still hold the pattern; zero where chance explains them.
    pub count: u64,
    /// Stable identifier and sentence, if there are any.
    pub said: Option<(String, String)>,
}

impl Untouched<'_> {
    /// Whether element `index` is wrong and still holds the pattern.
    pub fn is(&self, index: usize) -> bool {
        let bytes = index * self.width..(index + 1) * self.width;
        let given = &self.given[bytes.clone()];
        given != &self.expected[bytes.clone()] && self.poison.matches(bytes.start, given)
    }

    pub fn find(&self) -> Findings {
        let rows = self.given.len() / self.width / self.columns;
        let empty = || (0u64, ErrorMap::new(rows, self.columns));
        let (wrong, map) = (0..rows)
            .into_par_iter()
            .fold(empty, |(mut wrong, mut map), row| {
                let bytes = self.columns * self.width;
                let bytes = row * bytes..(row + 1) * bytes;
                if self.given[bytes.clone()] != self.expected[bytes] {
                    for column in 0..self.columns {
                        let index = row * self.columns + column;
                        let element = index * self.width..(index + 1) * self.width;
                        wrong += u64::from(self.given[element.clone()] != self.expected[element]);
                        if self.is(index) {
                            map.add(row, column);
                        }
                    }
                }
                (wrong, map)
            })
            .reduce(empty, |a, b| (a.0 + b.0, a.1.merge(b.1)));
        // One wrong byte in 256 holds the pattern by chance.
        let count = map.total();
        if self.width == 1 && count != wrong && count <= 4 + wrong / 32 {
            return Findings { count: 0, said: None };
        }
        Findings { count, said: (count > 0).then(|| self.say(count, &map.without_strays())) }
    }

    fn say(&self, count: u64, map: &ErrorMap) -> (String, String) {
        let all = (self.given.len() / self.width) as u64;
        let region = match map.region() {
            // The pattern is right by chance in one byte of 256.
            Region::Everywhere if count * 10 > all * 9 => "",
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

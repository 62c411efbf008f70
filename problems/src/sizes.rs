//! Named sizes, in the order the manifest gives them.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Groups that one number may give a size to: what is typed must not ask for memory without end.
pub(crate) const MOST_GROUPS: u64 = 1024;

/// `m = 1024, k = 1024`. Shown as `1024x1024`.
///
/// A size may be a list, one for each of a problem's groups: `m = [96, 128], n = [256, 256]`. Its
/// entries are sizes of their own, `m.0` and `m.1`; shown as `96+128x256`, with one number for all
/// groups where they have the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sizes(Vec<(String, u64)>);

impl Sizes {
    pub fn new<N: Into<String>>(sizes: impl IntoIterator<Item = (N, u64)>) -> Sizes {
        Sizes(sizes.into_iter().map(|(name, size)| (name.into(), size)).collect())
    }

    /// A size as people write it: `96`, or `96+72` where there is one for each group. `None` for what is
    /// no number, and for 0.
    pub fn typed(name: &str, numbers: &str) -> Option<Vec<(String, u64)>> {
        let number = |number: &str| number.trim().parse().ok().filter(|number| *number > 0);
        if !numbers.contains('+') {
            return Some(vec![(name.to_owned(), number(numbers)?)]);
        }
        let one = |(group, text)| Some((entry(name, group), number(text)?));
        (0..).zip(numbers.split('+')).map(one).collect()
    }

    /// The names of the sizes, that of a list once.
    pub fn names(&self) -> Vec<&str> {
        self.0.chunk_by(|a, b| list(&a.0) == list(&b.0)).map(|all| list(&all[0].0)).collect()
    }

    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, size)| size)
    }

    /// What group `group` has in place of lists.
    pub fn of_group(&self, group: u64) -> Sizes {
        let own = self.0.iter().filter_map(|(name, size)| match name.split_once('.') {
            Some((list, index)) => (index == group.to_string()).then(|| (list.to_owned(), *size)),
            None => Some((name.clone(), *size)),
        });
        Sizes(own.collect())
    }

    /// The same in the order of `names`; sizes that are not named come last, entries of a list in
    /// their order.
    pub(crate) fn sorted_by(&self, names: &[String]) -> Sizes {
        let mut sizes = self.clone();
        let place = |name: &str| names.iter().position(|n| n == list(name)).unwrap_or(usize::MAX);
        sizes.0.sort_by_key(|(name, _)| place(name));
        sizes
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, size)| (name.as_str(), *size))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entries) in self.0.chunk_by(|a, b| list(&a.0) == list(&b.0)).enumerate() {
            if index > 0 {
                f.write_str("x")?;
            }
            let same = entries.iter().all(|(_, size)| *size == entries[0].1);
            let shown = if same { &entries[..1] } else { entries };
            let shown: Vec<String> = shown.iter().map(|(_, size)| size.to_string()).collect();
            f.write_str(&shown.join("+"))?;
        }
        Ok(())
    }
}

/// The list that `m.1` is an entry of; other sizes are their own.
fn list(name: &str) -> &str {
    name.split_once('.').map_or(name, |(list, _)| list)
}

/// The name of a list's entry.
pub(crate) fn entry(name: &str, group: u64) -> String {
    format!("{name}.{group}")
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sizes, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum OneOrMore {
            One(u64),
            More(Vec<u64>),
        }

        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Sizes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a table of sizes, like { m = 1024, k = 1024 } or { m = [96, 128], g = 2 }",
                )
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sizes, A::Error> {
                let mut sizes = Vec::new();
                while let Some((name, size)) = map.next_entry::<String, OneOrMore>()? {
                    match size {
                        OneOrMore::One(size) => sizes.push((name, size)),
                        OneOrMore::More(list) => sizes.extend(
                            (0..).zip(list).map(|(group, size)| (entry(&name, group), size)),
                        ),
                    }
                }
                Ok(Sizes(sizes))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sizes_for_each_group() {
        let sizes: Sizes = toml::from_str("g = 2\nm = [96, 128]\nk = 256").expect("sizes");
        let order = ["m", "k", "g"].map(str::to_owned);
        let sizes = sizes.sorted_by(&order);
        assert_eq!(sizes.to_string(), "96+128x256x2");
        assert_eq!(sizes.get("m.1"), Some(128));
        let own = Sizes::new([("m", 128), ("k", 256), ("g", 2)]);
        assert_eq!(sizes.of_group(1), own);
        assert_eq!(sizes.names(), ["m", "k", "g"]);
        let sizes: Sizes = toml::from_str("m = [96, 96]\nk = [64, 128]\ng = 2").expect("sizes");
        assert_eq!(sizes.sorted_by(&order).to_string(), "96x64+128x2");
    }

    #[test]
    fn typed_lists_are_entries() {
        let entries = |entries: &[(&str, u64)]| {
            Some(entries.iter().map(|&(name, size)| (name.to_owned(), size)).collect())
        };
        assert_eq!(Sizes::typed("m", "96+72"), entries(&[("m.0", 96), ("m.1", 72)]));
        assert_eq!(Sizes::typed("k", " 256"), entries(&[("k", 256)]));
        for wrong in ["", "0", "96+", "+", "96+0", "-1"] {
            assert_eq!(Sizes::typed("m", wrong), None, "{wrong}");
        }
    }
}

//! Named sizes, in the order the manifest gives them.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `m = 1024, k = 1024`. Shown as `1024x1024`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sizes(Vec<(String, u64)>);

impl Sizes {
    pub fn new<N: Into<String>>(sizes: impl IntoIterator<Item = (N, u64)>) -> Sizes {
        Sizes(sizes.into_iter().map(|(name, size)| (name.into(), size)).collect())
    }

    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, size)| size)
    }

    /// The same in the order of `names`; sizes that are not named come last.
    pub(crate) fn sorted_by(&self, names: &[String]) -> Sizes {
        let mut sizes = self.clone();
        sizes.0.sort_by_key(|(name, _)| names.iter().position(|n| n == name).unwrap_or(usize::MAX));
        sizes
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, size)| (name.as_str(), *size))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (_, size)) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("x")?;
            }
            write!(f, "{size}")?;
        }
        Ok(())
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sizes, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Sizes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of sizes, like { m = 1024, k = 1024 }")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sizes, A::Error> {
                let mut sizes = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    sizes.push(entry);
                }
                Ok(Sizes(sizes))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

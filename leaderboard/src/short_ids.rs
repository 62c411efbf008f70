//! How little of an id must be typed: `k7f2`.

use std::collections::HashMap;

use crate::AttemptId;

/// For each id the shortest beginning of its tail that no other tail shares.
#[derive(Clone, Debug)]
pub struct ShortIds {
    lengths: HashMap<AttemptId, usize>,
}

/// Shorter ones would be unique in a small leaderboard, and soon not any more.
const LEAST: usize = 4;

impl ShortIds {
    /// `ids` are all of the store: see [`crate::Store::ids`].
    pub fn new(ids: &[AttemptId]) -> Self {
        let mut sorted: Vec<&AttemptId> = ids.iter().collect();
        sorted.sort_by_key(|id| id.tail());
        // Of all tails, the neighbours in order share the most.
        let shared: Vec<usize> = sorted
            .windows(2)
            .map(|pair| {
                pair[0]
                    .tail()
                    .bytes()
                    .zip(pair[1].tail().bytes())
                    .take_while(|(a, b)| a == b)
                    .count()
            })
            .collect();
        let lengths = sorted
            .iter()
            .enumerate()
            .map(|(at, id)| {
                let before = at.checked_sub(1).map_or(0, |before| shared[before]);
                let after = shared.get(at).copied().unwrap_or(0);
                ((*id).clone(), LEAST.max(1 + before.max(after)))
            })
            .collect();
        Self { lengths }
    }

    /// What to show for `id`: of its tail as much as is needed, or all of the id where another
    /// attempt has the same tail.
    pub fn of<'a>(&self, id: &'a AttemptId) -> &'a str {
        let length = self.lengths.get(id).copied().unwrap_or(LEAST);
        id.tail().get(..length).unwrap_or(id.as_str())
    }
}

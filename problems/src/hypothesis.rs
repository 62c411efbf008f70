//! Why an output is wrong: the search for the known bugs that explain it.
//!
//! A problem describes its computation as a recipe, a value with one field for every choice that
//! people get wrong (how the scale is rounded, who wins a tie, which nibble comes first). A mutation
//! sets one field to a known wrong choice. If the reference, recomputed with a mutation, gives exactly
//! the solution's output, the mutation is the explanation; if no single one does, two or three
//! together may. Only complete agreement counts, so an explanation is never a guess; where several
//! are equally short, all are named, for the data at hand cannot tell them apart.
//!
//! Agreement is first tried on a few blocks and only then proved on all, so several thousand
//! combinations take milliseconds.

/// One known bug.
#[derive(Clone, Copy)]
pub(crate) struct Mutation<R> {
    /// Stable identifier.
    pub id: &'static str,
    /// "… match if": a clause.
    pub says: &'static str,
    /// Mutations of one axis exclude each other.
    pub axis: u8,
    pub apply: fn(&mut R),
}

/// All the mutations of `groups` in their order, `N` together.
pub(crate) const fn joined<R: Copy, const N: usize>(groups: &[&[Mutation<R>]]) -> [Mutation<R>; N] {
    let mut all = [groups[0][0]; N];
    let (mut group, mut filled) = (0, 0);
    while group < groups.len() {
        let mut index = 0;
        while index < groups[group].len() {
            all[filled] = groups[group][index];
            index += 1;
            filled += 1;
        }
        group += 1;
    }
    assert!(filled == N, "every place is taken");
    all
}

/// Faults together, at most.
pub(crate) const DEEPEST: usize = 3;

/// Combinations to try at once, at most: beyond, faults are too many for the time there is.
const MOST: usize = 10_000;

/// Explanations to name, at most.
const ALTERNATIVES: usize = 6;

/// The shortest combinations of mutations with which `agrees` holds for the sample and `proves` for
/// everything, in the order of `mutations`; at most `deepest` of them together.
pub(crate) fn search<'t, R: Clone>(
    right: &R,
    mutations: &'t [Mutation<R>],
    deepest: usize,
    agrees: impl Fn(&R) -> bool,
    proves: impl Fn(&R) -> bool,
) -> Vec<Vec<&'t Mutation<R>>> {
    let mut level: Vec<(Vec<&Mutation<R>>, R)> = vec![(Vec::new(), right.clone())];
    for _ in 0..deepest {
        level = level.iter().flat_map(|combination| longer(combination, mutations)).collect();
        if level.len() > MOST {
            break;
        }
        let found: Vec<_> = level
            .iter()
            .filter(|(_, recipe)| agrees(recipe) && proves(recipe))
            .map(|(combination, _)| combination.clone())
            .take(ALTERNATIVES)
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// The combination with one more mutation, of a later axis.
fn longer<'t, R: Clone>(
    (combination, recipe): &(Vec<&'t Mutation<R>>, R),
    mutations: &'t [Mutation<R>],
) -> Vec<(Vec<&'t Mutation<R>>, R)> {
    let axis = combination.last().map(|mutation| mutation.axis);
    let extended = |mutation: &'t Mutation<R>| {
        let mut recipe = recipe.clone();
        (mutation.apply)(&mut recipe);
        (combination.iter().copied().chain([mutation]).collect(), recipe)
    };
    mutations.iter().filter(|mutation| Some(mutation.axis) > axis).map(extended).collect()
}

/// `ceil_scale+nibbles_swapped`
pub(crate) fn identifier<R>(combination: &[&Mutation<R>]) -> String {
    combination.iter().map(|mutation| mutation.id).collect::<Vec<_>>().join("+")
}

/// The clauses, joined.
pub(crate) fn clauses<R>(combination: &[&Mutation<R>]) -> String {
    combination.iter().map(|mutation| mutation.says).collect::<Vec<_>>().join(", and ")
}

/// `4,194,304`
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let grouped = digits.bytes().rev().enumerate().flat_map(|(index, digit)| {
        let comma = (index > 0 && index % 3 == 0).then_some(',');
        comma.into_iter().chain([char::from(digit)])
    });
    grouped.collect::<Vec<_>>().into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUTATIONS: [Mutation<u32>; 4] = [
        Mutation { id: "one", says: "", axis: 0, apply: |x| *x += 1 },
        Mutation { id: "other_one", says: "", axis: 1, apply: |x| *x += 1 },
        Mutation { id: "ten", says: "", axis: 1, apply: |x| *x += 10 },
        Mutation { id: "hundred", says: "", axis: 2, apply: |x| *x += 100 },
    ];

    fn found(sum: u32) -> Vec<String> {
        let found = search(&0, &MUTATIONS, DEEPEST, |&x| x == sum, |_| true);
        found.iter().map(|combination| identifier(combination)).collect()
    }

    #[test]
    fn the_shortest_explanations_are_found_and_all_of_them() {
        assert_eq!(found(1), ["one", "other_one"]);
        assert_eq!(found(11), ["one+ten"]);
        assert_eq!(found(111), ["one+ten+hundred"]);
        assert_eq!(found(12), [""; 0]);
        assert!(search(&0, &MUTATIONS, DEEPEST, |&x| x == 1, |_| false).is_empty());
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 4_194_304].map(thousands), ["0", "999", "1,000", "4,194,304"]);
    }
}

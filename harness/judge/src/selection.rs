//! Which cases of the check run, and from which inputs they are drawn.

use problems::{CaseSpec, Family, Problem, Sizes};

use crate::{Error, memory};

/// The default is all of a problem's cases with inputs that nobody has seen.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// As typed: `32x32/ties`, `32x32` or `ties`, and with a family also sizes that the problem does not
    /// list. Empty: all.
    pub cases: Vec<String>,
    /// Of each input family the smallest case only, and none of the bench's sizes.
    pub quick: bool,
    /// Draws the inputs from this instead of the system's randomness, to repeat a failure.
    pub data_seed: Option<u64>,
}

impl Selection {
    /// Whether what it leaves out could have failed.
    pub fn is_partial(&self) -> bool {
        self.quick || !self.cases.is_empty()
    }

    /// Those of the problem's cases that are to run, in their order; the bench's sizes are the ones
    /// from `small` on.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] where a name fits no case.
    pub(crate) fn choose(
        &self,
        problem: &Problem,
        cases: Vec<CaseSpec>,
        small: usize,
    ) -> Result<Vec<CaseSpec>, Error> {
        let mut unlisted = Vec::new();
        for name in &self.cases {
            if !cases.iter().any(|case| fits(case, name)) {
                let case = case_of(problem, &cases, name).ok_or_else(|| unknown(name, &cases))?;
                memory::fits(problem, &case.sizes)?;
                unlisted.push(case);
            }
        }
        let named = |case: &CaseSpec| {
            self.cases.is_empty() || self.cases.iter().any(|name| fits(case, name))
        };
        let mut chosen: Vec<CaseSpec> = unlisted;
        for (index, case) in cases.into_iter().enumerate() {
            let repeated = || chosen.iter().any(|earlier| earlier.family == case.family);
            if named(&case) && !(self.quick && (index >= small || repeated())) {
                chosen.push(case);
            }
        }
        Ok(chosen)
    }
}

fn fits(case: &CaseSpec, name: &str) -> bool {
    let (sizes, family) = (case.sizes.to_string(), case.family.name());
    match name.split_once(['/', ' ']) {
        Some((wanted, of)) => wanted == sizes && of == family,
        None => name == sizes || name == family,
    }
}

/// A case of sizes that the problem allows but does not list.
fn case_of(problem: &Problem, cases: &[CaseSpec], name: &str) -> Option<CaseSpec> {
    let (sizes, family) = name.split_once(['/', ' '])?;
    let known = |of: &Family| of.name() == family;
    let family = cases.iter().map(|case| case.family).find(known)?;
    let names = cases.first()?.sizes.names();
    let numbers: Vec<&str> = sizes.split('x').collect();
    let parts = names.iter().zip(&numbers).map(|(name, numbers)| Sizes::typed(name, numbers));
    let named = parts.collect::<Option<Vec<_>>>()?.concat();
    let sizes = problem.sizes(&named).ok().filter(|_| names.len() == numbers.len())?;
    Some(CaseSpec { sizes, family })
}

fn unknown(name: &str, cases: &[CaseSpec]) -> Error {
    let mut sizes: Vec<String> = Vec::new();
    let mut families: Vec<&str> = Vec::new();
    for case in cases {
        let size = case.sizes.to_string();
        if !sizes.contains(&size) {
            sizes.push(size);
        }
        if !families.contains(&case.family.name()) {
            families.push(case.family.name());
        }
    }
    Error::Usage(format!(
        "there is no case `{name}`; write SIZE, FAMILY or SIZE/FAMILY, of the sizes {} and the families {}",
        sizes.join(", "),
        families.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(cases: &[&str], quick: bool) -> Result<Vec<String>, Error> {
        let problem = problems::find("mxfp4_quantize").unwrap();
        let mut all = problem.check_cases();
        let bench = problem.bench_cases();
        all.retain(|case| !bench.contains(case));
        let small = all.len();
        all.extend(bench);
        let cases = cases.iter().map(ToString::to_string).collect();
        let selection = Selection { cases, quick, data_seed: None };
        Ok(selection.choose(problem, all, small)?.iter().map(CaseSpec::name).collect())
    }

    #[test]
    fn a_case_is_named_by_size_family_or_both() {
        let both = chosen(&["32x32/ties"], false).unwrap();
        assert_eq!(both, ["32x32 ties"]);
        assert_eq!(chosen(&["32x32 ties"], false).unwrap(), both);
        assert!(chosen(&["ties"], false).unwrap().iter().all(|name| name.ends_with(" ties")));
        assert!(chosen(&["32x32"], false).unwrap().iter().all(|name| name.starts_with("32x32 ")));
        assert_eq!(chosen(&["7x96/ties"], false).unwrap(), ["7x96 ties"], "none that is listed");
        assert!(chosen(&["7x97/ties"], false).is_err(), "k is a multiple of 32");
        let Err(Error::Usage(message)) = chosen(&["7x7"], false) else { panic!("it exists") };
        assert!(message.contains("families uniform, normal"), "{message}");
    }

    #[test]
    fn quick_takes_one_small_case_of_each_family() {
        let quick = chosen(&[], true).unwrap();
        let families: std::collections::BTreeSet<_> =
            quick.iter().filter_map(|name| name.split(' ').nth(1)).collect();
        assert_eq!(families.len(), quick.len(), "{quick:?}");
        assert!(!quick.iter().any(|name| name.starts_with("4096")), "{quick:?}");
    }
}

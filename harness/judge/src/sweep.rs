//! Every combination of some macros' values, and what each value did.
//!
//! A *main effect* is what changing one macro does, all others being equal. With every combination
//! tried this is the ratio of two geometric means. But combinations fail (a tile too large for shared
//! memory), and then a plain mean compares the values over different company: of the times
//!
//! ```text
//!             STAGES=2   STAGES=4
//! TILE=64        20         10
//! TILE=128       16          –
//! ```
//!
//! the means of TILE say 14.1 and 16, as if 64 were better, though it is slower wherever both were
//! accepted. So a macro's values are compared over those settings of the others in which all of its
//! values were accepted: 20 and 16.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::Serialize;
use timing::stats;
use toolchain::directive::check_flag;

/// Macros and what they are set to.
pub type Values = BTreeMap<String, String>;

/// One macro, and the values that are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    pub name: String,
    /// Each once.
    pub values: Vec<String>,
}

/// More than anybody waits for.
pub const MOST: usize = 4096;

/// `TILE=64,128` or `STAGES=2..5`, which is 2, 3, 4 and 5; both may be mixed.
impl FromStr for Axis {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let (name, list) = typed
            .split_once('=')
            .filter(|(_, list)| !list.is_empty())
            .ok_or_else(|| format!("`{typed}` has no values; write NAME=64,128 or NAME=2..5"))?;
        let mut values: Vec<String> = Vec::new();
        for part in list.split(',') {
            let new: Vec<String> = match part.split_once("..") {
                None => vec![part.to_owned()],
                Some((first, last)) => match (first.parse::<i64>(), last.parse::<i64>()) {
                    (Ok(first), Ok(last)) if first <= last && last - first < MOST as i64 => {
                        (first..=last).map(|value| value.to_string()).collect()
                    }
                    _ => return Err(format!("`{part}` is no range; write 2..5 for 2, 3, 4 and 5")),
                },
            };
            for value in new {
                check_flag(&format!("-D{name}={value}")).map_err(|_| {
                    format!("`{name}={value}` is no macro; names and values are letters, digits and _+-.")
                })?;
                if value.is_empty() {
                    return Err(format!("`{typed}` has an empty value; write NAME=64,128"));
                }
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        Ok(Self { name: name.to_owned(), values })
    }
}

/// Every combination, the last macro changing fastest.
///
/// # Errors
///
/// A macro that is named twice, or more combinations than [`MOST`].
pub fn variants(axes: &[Axis]) -> Result<Vec<Values>, String> {
    let mut variants = vec![Values::new()];
    for axis in axes {
        if variants.iter().any(|variant| variant.contains_key(&axis.name)) {
            return Err(format!("{} is given twice; write all its values at once", axis.name));
        }
        let longer = variants.iter().flat_map(|variant| {
            axis.values.iter().map(move |value| {
                let mut variant = variant.clone();
                variant.insert(axis.name.clone(), value.clone());
                variant
            })
        });
        variants = longer.take(MOST + 1).collect();
        if variants.len() > MOST {
            return Err(format!("these are more than {MOST} combinations; leave some out"));
        }
    }
    Ok(variants)
}

/// Whether a macro of the command line decides anything in this source.
///
/// # Errors
///
/// What is in its way.
pub fn decides(source: &str, name: &str) -> Result<(), String> {
    let word = |text: &str| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        text.match_indices(name).any(|(at, _)| {
            !text[..at].ends_with(letter) && !text[at + name.len()..].starts_with(letter)
        })
    };
    if !word(source) && !source.contains("#include \"") {
        return Err(format!("it does not say {name}; name a macro that it uses"));
    }
    let directive = |line: &str, names: &[&str]| {
        let line = line.trim_start().strip_prefix('#').unwrap_or_default().trim_start();
        names.iter().any(|name| line.starts_with(name)) && word(line)
    };
    let asks = |line: &&str| directive(line, &["ifndef", "if", "elif", "undef"]);
    for (at, line) in source.lines().enumerate() {
        let defined = line.trim_start().strip_prefix('#').unwrap_or_default().trim_start();
        let defined =
            defined.strip_prefix("define").and_then(|rest| rest.split_whitespace().next());
        if defined == Some(name) && !source.lines().take(at).any(|line| asks(&line)) {
            return Err(format!(
                "it defines {name} itself in line {}; put #ifndef {name} and #endif around that",
                at + 1
            ));
        }
    }
    Ok(())
}

/// What the values of one macro did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    pub name: String,
    /// In the order in which they were given.
    pub levels: Vec<Level>,
    /// Over how many settings of the other macros the times are compared; where it is 0, each is
    /// over what it was accepted with.
    pub balanced: usize,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    pub value: String,
    pub accepted: usize,
    pub tried: usize,
    /// Absent where none was accepted.
    pub geomean_us: Option<f64>,
    /// Relative to the best value, less one.
    pub behind: Option<f64>,
}

/// The main effects. Of each variant its time, if it was accepted.
pub fn effects(axes: &[Axis], times: &[(Values, Option<f64>)]) -> Vec<Effect> {
    axes.iter().map(|axis| effect(axis, times)).collect()
}

fn effect(axis: &Axis, times: &[(Values, Option<f64>)]) -> Effect {
    let others = |values: &Values| {
        let mut others = values.clone();
        others.remove(&axis.name);
        others
    };
    let mut failed = BTreeSet::new();
    let mut settings = BTreeSet::new();
    for (values, us) in times {
        settings.insert(others(values));
        if us.is_none() {
            failed.insert(others(values));
        }
    }
    let balanced = settings.difference(&failed).count();
    let of = |value: &str| -> Vec<&(Values, Option<f64>)> {
        let set = |values: &Values| values.get(&axis.name).is_some_and(|set| set == value);
        times.iter().filter(|(values, _)| set(values)).collect()
    };
    let mut levels: Vec<Level> = axis
        .values
        .iter()
        .map(|value| {
            let counted = of(value)
                .into_iter()
                .filter(|(values, _)| balanced == 0 || !failed.contains(&others(values)))
                .filter_map(|(_, us)| *us);
            Level {
                value: value.clone(),
                accepted: of(value).iter().filter(|(_, us)| us.is_some()).count(),
                tried: of(value).len(),
                geomean_us: stats::geomean(&counted.collect::<Vec<f64>>()),
                behind: None,
            }
        })
        .collect();
    let best = levels.iter().filter_map(|level| level.geomean_us).fold(f64::INFINITY, f64::min);
    for level in &mut levels {
        level.behind = level.geomean_us.map(|us| us / best - 1.0);
    }
    Effect { name: axis.name.clone(), levels, balanced }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(typed: &[&str]) -> Vec<Axis> {
        typed.iter().map(|typed| typed.parse().unwrap()).collect()
    }

    #[test]
    fn lists_and_ranges_are_read() {
        let axis: Axis = "S=1,4..6,4".parse().unwrap();
        assert_eq!(
            (axis.name.as_str(), axis.values),
            ("S", ["1", "4", "5", "6"].map(str::to_owned).into())
        );
        for (typed, why) in [
            ("TILE", "`TILE` has no values"),
            ("TILE=", "`TILE=` has no values"),
            ("TILE=5..2", "`5..2` is no range"),
            ("TILE=a..b", "`a..b` is no range"),
            ("2T=1", "`2T=1` is no macro"),
            ("T=$(x)", "`T=$(x)` is no macro"),
            ("T=1,,2", "empty value"),
        ] {
            let error = typed.parse::<Axis>().unwrap_err();
            assert!(error.contains(why), "{typed}: {error}");
        }
    }

    #[test]
    fn all_combinations_and_no_more_than_can_be_waited_for() {
        let two = variants(&axes(&["A=1,2", "B=x,y,z"])).unwrap();
        let words: Vec<String> =
            two.iter().map(|one| format!("{}{}", one["A"], one["B"])).collect();
        assert_eq!(words, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert!(variants(&axes(&["A=1,2", "A=3"])).unwrap_err().starts_with("A is given twice"));
        let many = axes(&["A=1..100", "B=1..100"]);
        assert!(variants(&many).unwrap_err().contains("more than 4096"));
    }

    /// The example above.
    #[test]
    fn a_value_is_held_against_others_in_equal_company() {
        let axes = axes(&["TILE=64,128", "STAGES=2,4"]);
        let times = variants(&axes).unwrap().into_iter();
        let times: Vec<_> = times.zip([Some(20.0), Some(10.0), Some(16.0), None]).collect();
        let effects = effects(&axes, &times);
        let tile = &effects[0];
        assert_eq!(tile.balanced, 1);
        let means: Vec<f64> = tile.levels.iter().map(|level| level.geomean_us.unwrap()).collect();
        assert!((means[0] - 20.0).abs() < 1e-9 && (means[1] - 16.0).abs() < 1e-9, "{means:?}");
        assert!((tile.levels[0].behind.unwrap() - 0.25).abs() < 1e-9);
        assert_eq!((tile.levels[1].accepted, tile.levels[1].tried), (1, 2));
        assert!((effects[1].levels[1].geomean_us.unwrap() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn where_no_company_is_equal_each_has_its_own() {
        let axes = axes(&["A=1,2"]);
        let times = variants(&axes).unwrap().into_iter().zip([Some(5.0), None]).collect::<Vec<_>>();
        let effect = &effects(&axes, &times)[0];
        assert_eq!((effect.balanced, effect.levels[1].geomean_us), (0, None));
        assert_eq!(effect.levels[0].behind, Some(0.0));
    }

    #[test]
    fn a_macro_that_decides_nothing_is_named() {
        let asks = "#ifndef TILE\n#define TILE 64\n#endif\nint x = TILE;\n";
        assert_eq!(decides(asks, "TILE"), Ok(()));
        assert_eq!(decides("int x = TILE;", "TILE"), Ok(()));
        assert_eq!(decides("#include \"tile.cuh\"\n", "TILE"), Ok(()));
        assert!(decides("int TILES, xTILE;", "TILE").unwrap_err().contains("does not say TILE"));
        let fixed = decides("\n# define TILE 64\nint x = TILE;\n", "TILE").unwrap_err();
        assert!(fixed.contains("line 2") && fixed.contains("#ifndef TILE"), "{fixed}");
    }
}

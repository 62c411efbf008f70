//! The ladders of `solutions/`, part of the binary: what to learn from, and to begin with.

/// One solution of a problem's ladder.
#[derive(Clone, Copy, Debug)]
pub struct Rung {
    pub problem: &'static str,
    /// "03_four_lanes_vectorized"
    pub name: &'static str,
    pub source: &'static str,
}

/// In the order of problems and of their ladders; `build.rs` writes the list.
static RUNGS: &[Rung] = include!(concat!(env!("OUT_DIR"), "/rungs.rs"));

/// The ladder of a problem, from the first rung up.
pub fn of(problem: &str) -> impl Iterator<Item = &'static Rung> {
    RUNGS.iter().filter(move |rung| rung.problem == problem)
}

/// The one rung whose name begins with what was typed: "03".
pub fn find(problem: &str, typed: &str) -> Option<&'static Rung> {
    let typed = typed.trim_end_matches(".cu");
    let mut fits = of(problem).filter(|rung| rung.name.starts_with(typed));
    let first = fits.next().filter(|_| !typed.is_empty())?;
    (first.name == typed || fits.next().is_none()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_is_found_by_as_much_of_its_name_as_is_unique() {
        let rung = find("mxfp4_quantize", "03").expect("there is a third rung");
        assert!(rung.source.contains("void solution("));
        assert_eq!(find("mxfp4_quantize", rung.name).map(|rung| rung.name), Some(rung.name));
        assert!(find("mxfp4_quantize", "0").is_none());
        assert!(find("mxfp4_quantize", "").is_none());
        assert!(find("no_such_problem", "01").is_none());
    }
}

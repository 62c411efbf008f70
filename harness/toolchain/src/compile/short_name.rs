//! A name with its template arguments left out where they are too many to read: those of CUTLASS fill
//! thirty lines.
//!
//! ```text
//! gemm<Policy<128, 64, Stages<4>>, float>
//! gemm<Policy<128, 64, Stages<…>>, float>    what is deepest goes first,
//! gemm<Policy<…>, float>                     as far as it has to
//! ```

/// Characters that a name may take.
const LIMIT: usize = 72;

/// `name`, with as few of its template arguments left out as make it short enough; with none where the
/// brackets do not match.
pub fn short(name: &str) -> String {
    if name.chars().count() <= LIMIT {
        return name.to_owned();
    }
    let Some(deepest) = depth(name) else { return name.to_owned() };
    let cuts = (1..=deepest).rev().map(|level| cut(name, level));
    let mut shortest = None;
    for cut in cuts {
        if cut.chars().count() <= LIMIT {
            return cut;
        }
        shortest = Some(cut);
    }
    shortest.unwrap_or_else(|| name.to_owned())
}

/// Opens or closes a list of template arguments: the brackets of `->`, `operator<` and the like do not.
fn brackets(name: &str) -> impl Iterator<Item = (usize, char)> {
    name.char_indices().filter(|&(at, c)| {
        let before = name[..at].trim_end_matches(['<', '>', '=', '-']);
        let of_operator = before.ends_with("operator") || name[..at].ends_with('-') && c == '>';
        matches!(c, '<' | '>') && !of_operator
    })
}

/// How deep lists stand in lists; none where they do not match.
fn depth(name: &str) -> Option<usize> {
    let (mut level, mut deepest) = (0usize, 0);
    for (_, bracket) in brackets(name) {
        level = if bracket == '<' { level + 1 } else { level.checked_sub(1)? };
        deepest = deepest.max(level);
    }
    (level == 0).then_some(deepest)
}

/// Without what stands in lists at `limit` and deeper.
fn cut(name: &str, limit: usize) -> String {
    let (mut level, mut from) = (0, 0);
    let mut kept = String::new();
    for (at, bracket) in brackets(name) {
        if bracket == '<' {
            level += 1;
            if level == limit {
                kept.push_str(&name[from..=at]);
                kept.push('…');
            }
        } else {
            if level == limit {
                from = at;
            }
            level -= 1;
        }
    }
    kept.push_str(&name[from..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_deepest_goes_first_and_no_more_than_has_to() {
        let few = "gemm<Policy<128, 64, Stages<4>>, float>";
        assert_eq!(short(few), few);
        let many = format!(
            "cutlass::gemm<Policy<128, 64, Stages<{}>>, Tuple<float, half>>",
            "4, ".repeat(20)
        );
        assert_eq!(short(&many), "cutlass::gemm<Policy<128, 64, Stages<…>>, Tuple<float, half>>");
        let wide = format!("cutlass::gemm<{}, Policy<8>>::operator()", "int, ".repeat(30));
        assert_eq!(short(&wide), "cutlass::gemm<…>::operator()");
    }

    #[test]
    fn brackets_that_are_operators_stay() {
        let long = "x".repeat(80);
        for name in
            [format!("{long}::operator<"), format!("{long}::operator<<="), format!("a<{long}")]
        {
            assert_eq!(short(&name), name);
        }
        assert_eq!(short(&format!("A<{long}>::operator->")), "A<…>::operator->");
        assert_eq!(short(&format!("f<{long}>(g<int>)")), "f<…>(g<…>)");
    }
}

//! Macros that were set beside a source, written into it: for places that take a source and nothing else.

use std::collections::BTreeMap;

/// The source with a `#define` for each of the values, behind the comments and directives at its
/// head. The source asks for them with `#ifndef`, so that these are the ones that count.
pub fn written(source: &str, values: &BTreeMap<String, String>) -> String {
    if values.is_empty() {
        return source.to_owned();
    }
    let mut at = 0;
    let mut in_comment = false;
    for line in source.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let comment = in_comment || trimmed.starts_with("//") || trimmed.starts_with("/*");
        if !comment && !trimmed.is_empty() {
            break;
        }
        in_comment = (in_comment || trimmed.starts_with("/*")) && !trimmed.contains("*/");
        at += line.len();
    }
    let (head, code) = source.split_at(at);
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let defines: String =
        values.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
    format!("{head}{gap}{defines}{code}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_the_head_and_before_the_code() {
        let values =
            [("TILE".to_owned(), "64".to_owned()), ("S".to_owned(), "2".to_owned())].into();
        let source = "//! problem = \"x\"\n/* a\n   b */\n\n#ifndef TILE\n";
        let expected =
            "//! problem = \"x\"\n/* a\n   b */\n\n#define S 2\n#define TILE 64\n#ifndef TILE\n";
        assert_eq!(written(source, &values), expected);
        assert_eq!(written("int x;", &values), "#define S 2\n#define TILE 64\nint x;");
        assert_eq!(written(source, &BTreeMap::new()), source);
    }
}

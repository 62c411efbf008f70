//! What a solution says about itself: `//!` comments before the first line of code.
//!
//! ```text
//! //! problem = "mxfp4_quantize"
//! //! arch = "sm_100a"
//! //! nvcc = ["-maxrregcount=32", "--use_fast_math"]
//! ```
//!
//! The text behind `//!` is one TOML document. Everything else in that document stays on its own
//! line, so that TOML's complaints have the lines of the `.cu` file. `//!` further down is left
//! alone: documentation tools use it too.

mod flag;

use serde::Deserialize;
use toml::Spanned;

pub use flag::{ALLOWED_FLAGS, FlagError, check_flag};

const NAMES: [&str; 3] = ["problem", "arch", "nvcc"];

/// All optional; what is missing comes from the folder's name and from the problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub problem: Option<String>,
    /// `sm_100a`
    pub arch: Option<String>,
    /// Each passed [`check_flag`].
    pub nvcc: Vec<String>,
}

/// Why the directives cannot be followed. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveError {
    #[error("line {line}: unknown directive `{name}`{}", near(name))]
    Unknown { line: usize, name: String },
    #[error("line {line}: not a directive: {why}; write //! name = value, with one of {}", NAMES.join(", "))]
    Syntax { line: usize, why: String },
    #[error("line {line}: the value needs quotes; write //! {written}")]
    Unquoted { line: usize, written: String },
    #[error("line {line}: `{arch}` is not an architecture: write it like sm_80, sm_90a, sm_100a")]
    Arch { line: usize, arch: String },
    #[error("line {line}: {flag}")]
    Flag { line: usize, flag: FlagError },
}

impl DirectiveError {
    pub fn line(&self) -> usize {
        match self {
            Self::Unknown { line, .. }
            | Self::Syntax { line, .. }
            | Self::Unquoted { line, .. }
            | Self::Arch { line, .. }
            | Self::Flag { line, .. } => *line,
        }
    }
}

/// `: did you mean …`, or all there are.
fn near(name: &str) -> String {
    let close = NAMES
        .into_iter()
        .max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)));
    match close.filter(|close| strsim::jaro_winkler(name, close) > 0.7) {
        Some(close) => format!(": did you mean `{close}`?"),
        None => format!(": there are {}", NAMES.join(", ")),
    }
}

#[derive(Deserialize)]
struct Document {
    problem: Option<String>,
    arch: Option<Spanned<String>>,
    #[serde(default)]
    nvcc: Vec<Spanned<String>>,
}

impl Directives {
    /// Reads the head of a `.cu` file.
    ///
    /// # Errors
    ///
    /// [`DirectiveError`], with the line.
    pub fn parse(source: &str) -> Result<Self, DirectiveError> {
        let text = head(source);
        let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let syntax = |error: &toml::de::Error| {
            let line = error.span().map_or(1, |span| line_of(span.start));
            if let Some(written) = text.lines().nth(line - 1).and_then(quoted) {
                return DirectiveError::Unquoted { line, written };
            }
            let why = error.message().lines().next().unwrap_or_default().to_owned();
            DirectiveError::Syntax { line, why }
        };
        // Names first, by themselves: serde's own complaint about one has no near name.
        let table = toml::de::DeTable::parse(&text).map_err(|error| syntax(&error))?;
        if let Some((name, _)) =
            table.get_ref().iter().find(|(name, _)| !NAMES.contains(&name.get_ref().as_ref()))
        {
            let line = line_of(name.span().start);
            return Err(DirectiveError::Unknown { line, name: name.get_ref().to_string() });
        }
        let document: Document = toml::from_str(&text).map_err(|error| syntax(&error))?;
        if let Some(arch) = &document.arch
            && !is_arch(arch.get_ref())
        {
            let line = line_of(arch.span().start);
            return Err(DirectiveError::Arch { line, arch: arch.get_ref().clone() });
        }
        for flag in &document.nvcc {
            let line = line_of(flag.span().start);
            check_flag(flag.get_ref()).map_err(|flag| DirectiveError::Flag { line, flag })?;
        }
        Ok(Self {
            problem: document.problem,
            arch: document.arch.map(Spanned::into_inner),
            nvcc: document.nvcc.into_iter().map(Spanned::into_inner).collect(),
        })
    }
}

/// A directive as it should be written, if all it lacks is quotes: `problem = mxfp4_quantize`.
fn quoted(line: &str) -> Option<String> {
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let word = |c: char| c.is_ascii_alphanumeric() || "_-=.+/".contains(c);
    let is_bare = !value.is_empty() && value.chars().all(|c| word(c) || c == ' ');
    let is_number = value.parse::<f64>().is_ok();
    match name {
        "problem" | "arch" if is_bare && !is_number => Some(format!("{name} = \"{value}\"")),
        "nvcc" if is_bare => {
            let flags: Vec<_> = value.split(' ').map(|flag| format!("\"{flag}\"")).collect();
            Some(format!("nvcc = [{}]", flags.join(", ")))
        }
        _ => None,
    }
}

/// `sm_80`, `sm_90a`, `sm_100f`: the shape only; which of them exist, nvcc knows.
pub fn is_arch(text: &str) -> bool {
    let Some(number) = text.strip_prefix("sm_") else { return false };
    let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
    (2..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The directives as TOML, every other line empty; ends with the first line of code.
fn head(source: &str) -> String {
    let mut text = String::new();
    let mut in_comment = false;
    for line in source.trim_start_matches('\u{feff}').lines() {
        let trimmed = line.trim();
        if in_comment {
            in_comment = !trimmed.contains("*/");
        } else if let Some(directive) = trimmed.strip_prefix("//!") {
            text.push_str(directive);
        } else if trimmed.starts_with("/*") {
            in_comment = !trimmed.contains("*/");
        } else if !trimmed.is_empty() && !trimmed.starts_with("//") {
            break;
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(source: &str) -> String {
        Directives::parse(source).unwrap_err().to_string()
    }

    #[test]
    fn directives_are_read_from_the_head() {
        let source = "// My kernel.\n\n/* long\n   story */\n//! problem = \"mxfp4_quantize\"\n\
                      //! arch = \"sm_120a\"  # for MMA\n//! nvcc = [\"-maxrregcount=32\",\n\
                      //!         \"--use_fast_math\"]\n#include <cuda_fp16.h>\n//! nonsense\n";
        let directives = Directives::parse(source).unwrap();
        assert_eq!(directives.problem.as_deref(), Some("mxfp4_quantize"));
        assert_eq!(directives.arch.as_deref(), Some("sm_120a"));
        assert_eq!(directives.nvcc, ["-maxrregcount=32", "--use_fast_math"]);
        assert_eq!(Directives::parse("int x; //! arch = 3\n"), Ok(Directives::default()));
        assert_eq!(Directives::parse(""), Ok(Directives::default()));
    }

    #[test]
    fn an_unknown_directive_names_its_line_and_its_neighbour() {
        assert_eq!(
            error("// a\n//! problm = \"x\"\n"),
            "line 2: unknown directive `problm`: did you mean `problem`?"
        );
        assert_eq!(
            error("//! colour = 1\n"),
            "line 1: unknown directive `colour`: there are problem, arch, nvcc"
        );
    }

    #[test]
    fn prose_and_wrong_types_are_explained() {
        let prose = error("\n//! This kernel is fast.\n");
        assert!(prose.starts_with("line 2: not a directive: "), "{prose}");
        assert!(prose.ends_with("with one of problem, arch, nvcc"), "{prose}");
        let number = error("//! problem = \"a\"\n//! arch = 100\n");
        assert!(number.starts_with("line 2: not a directive: invalid type: integer"), "{number}");
        assert_eq!(
            error("// a\n//! problem = nvfp4_quantize\n"),
            "line 2: the value needs quotes; write //! problem = \"nvfp4_quantize\""
        );
        assert_eq!(
            error("//! nvcc = -DA=3 -fmad=false\n"),
            "line 1: the value needs quotes; write //! nvcc = [\"-DA=3\", \"-fmad=false\"]"
        );
        assert!(error("//! arch = \"hopper\"\n").starts_with("line 1: `hopper` is not an arch"));
        assert!(error("//! arch = \"sm_100\u{e9}\"\n").contains("not an architecture"));
    }

    #[test]
    fn a_forbidden_flag_is_named_with_its_line() {
        let source = "//! nvcc = [\n//!   \"-rdc=true\",\n//! ]\n";
        assert!(error(source).starts_with("line 2: nvcc flag `-rdc=true`"), "{}", error(source));
    }
}

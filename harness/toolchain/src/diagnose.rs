//! What nvcc and its parts print, as records.
//!
//! Five programs speak, each in its own way:
//!
//! ```text
//! cudafe++, cicc   kernel.cu(3): error: identifier "foo" is undefined
//! gcc              kernel.cu:2:10: fatal error: nosuch.h: No such file or directory
//! ptxas            ptxas ./solution.ptx, line 32; error   : Instruction 'cvt …' not supported …
//! nvcc             nvcc fatal   : Unsupported gpu architecture 'compute_101x'
//! ld               /usr/bin/ld: … undefined reference to `foo()'
//! ```
//!
//! A line of PTX means nothing to who wrote CUDA, so it is traced back through the `.loc` above it.

use std::{fmt, path::Path};

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// As the user typed it, where it is the user's.
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub severity: Severity,
    pub message: String,
    /// `177-D`, for `-diag-suppress=177`.
    pub code: Option<String>,
    /// Further lines that belong to it: "detected during instantiation of …".
    pub notes: Vec<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            for position in [self.line, self.column].into_iter().flatten() {
                write!(f, "{position}:")?;
            }
            f.write_str(" ")?;
        }
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}", self.message)?;
        for note in &self.notes {
            write!(f, "\n    {note}")?;
        }
        Ok(())
    }
}

/// What a reader of compiler output knows about the compilation.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Absolute path of the user's file, as it stands in the translation unit.
    pub path: &'a Path,
    /// The same file as the user typed it.
    pub typed: &'a Path,
    pub source: &'a str,
    /// The PTX that ptxas read, for its line numbers.
    pub ptx: Option<&'a str>,
}

/// All diagnostics of `output`, in its order.
pub fn parse(output: &str, context: &Context<'_>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(mut diagnostic) = edg(line, context) {
            // The source as the compiler sees it, then a caret; then perhaps how it got there.
            let mut shown: Option<&str> = None;
            while let Some(&next) = lines.peek() {
                if !next.starts_with("  ") {
                    break;
                }
                lines.next();
                let trimmed = next.trim();
                if trimmed == "^" {
                    diagnostic.column = column(&diagnostic, shown, next, context);
                } else if next.starts_with("          ") && shown.is_some() {
                    diagnostic.notes.push(trimmed.to_owned());
                } else {
                    shown = Some(next);
                }
            }
            match all.last_mut() {
                Some(last) if diagnostic.severity == Severity::Note => {
                    let line = diagnostic.line.map(|line| format!("line {line}: "));
                    last.notes.push(line.unwrap_or_default() + &diagnostic.message);
                }
                _ => all.push(diagnostic),
            }
        } else if let Some(diagnostic) =
            gcc(line).or_else(|| ptxas(line, context.ptx)).or_else(|| driver(line))
        {
            all.push(diagnostic);
        }
    }
    let absolute = context.path.to_string_lossy();
    let typed = context.typed.to_string_lossy();
    for diagnostic in &mut all {
        for text in
            diagnostic.file.iter_mut().chain(&mut diagnostic.notes).chain([&mut diagnostic.message])
        {
            if text.contains(&*absolute) {
                *text = text.replace(&*absolute, &typed);
            }
        }
    }
    all
}

fn new(file: Option<&str>, severity: Severity, message: &str) -> Diagnostic {
    Diagnostic {
        file: file.map(str::to_owned),
        line: None,
        column: None,
        severity,
        message: message.trim().to_owned(),
        code: None,
        notes: Vec::new(),
    }
}

/// `FILE(LINE): error #20: TEXT`, `At end of source: error: TEXT`
fn edg(line: &str, context: &Context<'_>) -> Option<Diagnostic> {
    if let Some(message) = line.strip_prefix("At end of source: error: ") {
        let last = u32::try_from(context.source.lines().count()).ok();
        let found = new(context.path.to_str(), Severity::Error, message);
        return Some(Diagnostic { line: last, ..found });
    }
    let (place, rest) = line.split_once("): ")?;
    let (file, number) = place.rsplit_once('(')?;
    let number = number.parse().ok()?;
    let words = [
        ("catastrophic error", Severity::Error),
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("remark", Severity::Note),
        ("note", Severity::Note),
    ];
    let (severity, rest) =
        words.iter().find_map(|&(word, severity)| Some((severity, rest.strip_prefix(word)?)))?;
    let (code, message) = rest.split_once(": ")?;
    let code = code.trim().strip_prefix('#').map(str::to_owned);
    Some(Diagnostic { line: Some(number), code, ..new(Some(file), severity, message) })
}

/// The caret's column, where the compiler shows the line as it is in the file: macros
/// (`__global__`) are shown expanded, and the caret then points into text that nobody wrote.
fn column(
    diagnostic: &Diagnostic,
    shown: Option<&str>,
    caret: &str,
    context: &Context<'_>,
) -> Option<u32> {
    if diagnostic.file.as_deref().map(Path::new) != Some(context.path) {
        return None;
    }
    let written = context.source.lines().nth(diagnostic.line? as usize - 1)?;
    let shown = shown?;
    let margin = shown.len() - shown.trim_start().len();
    let indent = written.len() - written.trim_start().len();
    let at = caret.find('^')?;
    let same = shown.trim() == written.trim();
    // The compiler shows two columns of margin, then the line with its own indentation.
    (same && margin == indent + 2 && at >= 2).then(|| u32::try_from(at - 1).unwrap_or(1))
}

/// `FILE:LINE:COLUMN: error: TEXT`, `FILE:LINE: error: TEXT`
fn gcc(line: &str) -> Option<Diagnostic> {
    let words = [
        (": fatal error: ", Severity::Error),
        (": error: ", Severity::Error),
        (": warning: ", Severity::Warning),
        (": note: ", Severity::Note),
    ];
    let (at, word, severity) = words
        .iter()
        .filter_map(|&(word, severity)| Some((line.find(word)?, word, severity)))
        .min_by_key(|&(at, ..)| at)?;
    let found = new(None, severity, &line[at + word.len()..]);
    let (rest, last) = line[..at].rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    // Without a column where the complaint is about a whole line: an `#if` that is not closed.
    Some(match rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => {
            Diagnostic { file: Some(file.into()), line: Some(line), column: Some(last), ..found }
        }
        None => Diagnostic { file: Some(rest.into()), line: Some(last), ..found },
    })
}

/// `ptxas FILE, line N; error   : TEXT`, `ptxas error   : TEXT`
fn ptxas(line: &str, ptx: Option<&str>) -> Option<Diagnostic> {
    let rest = line.strip_prefix("ptxas ")?;
    let (head, message) = rest.split_once(" : ")?;
    let head = head.trim();
    let word = head.rsplit_once("; ").map_or(head, |(_, word)| word);
    let severity = match word {
        "error" | "fatal" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    // Says nothing that the error before it did not say.
    if message.starts_with("Ptx assembly aborted") {
        return None;
    }
    let mut diagnostic = new(None, severity, message);
    if let Some(number) = head
        .split_once(", line ")
        .and_then(|(_, rest)| rest.split(';').next()?.trim().parse::<usize>().ok())
    {
        let place = ptx.and_then(|ptx| cuda_line(ptx, number));
        if let Some((file, cuda)) = place {
            diagnostic.file = Some(file);
            diagnostic.line = Some(cuda);
        }
        if let Some(text) = ptx.and_then(|ptx| ptx.lines().nth(number - 1)) {
            diagnostic.notes.push(format!("in the PTX: {}", text.trim()));
        }
    }
    Some(diagnostic)
}

/// The CUDA file and line that a line of PTX was made from: the nearest `.loc FILE LINE …` above it
/// (PTX ISA 11.5.3).
pub fn cuda_line(ptx: &str, line: usize) -> Option<(String, u32)> {
    let above: Vec<&str> = ptx.lines().take(line).collect();
    let mut place = above.iter().rev().find_map(|text| {
        let mut numbers = text.trim().strip_prefix(".loc")?.split_whitespace();
        Some((numbers.next()?.to_owned(), numbers.next()?.parse().ok()?))
    })?;
    place.0 = ptx.lines().find_map(|text| {
        let rest = text.trim().strip_prefix(".file")?.trim();
        let (number, path) = rest.split_once(char::is_whitespace)?;
        (number == place.0).then(|| path.trim().trim_matches('"').to_owned())
    })?;
    Some(place)
}

/// `nvcc fatal   : TEXT`, and the linker.
fn driver(line: &str) -> Option<Diagnostic> {
    if let Some(rest) = line.strip_prefix("nvcc ") {
        let (word, message) = rest.split_once(" : ")?;
        let severity = match word.trim() {
            "fatal" | "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => return None,
        };
        return Some(new(None, severity, message));
    }
    let undefined = line.contains("undefined reference to") || line.contains("multiple definition");
    undefined.then(|| new(None, Severity::Error, line.rsplit(": ").next().unwrap_or(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "__global__ void k(int*p){ foo(1);\n  int unused;\n  *p = \"x\"; }\n";

    fn parsed(output: &str, ptx: Option<&str>) -> Vec<Diagnostic> {
        let context = Context {
            path: Path::new("/home/me/k.cu"),
            typed: Path::new("k.cu"),
            source: SOURCE,
            ptx,
        };
        parse(output, &context)
    }

    #[test]
    fn the_front_end_speaks_with_parentheses() {
        let all = parsed(
            "/home/me/k.cu(1): error: identifier \"foo\" is undefined\n\
             \x20 __attribute__((global)) void k(int*p){ foo(1);\n\
             \x20                                        ^\n\n\
             /home/me/k.cu(3): error: a value of type \"const char *\" cannot be assigned\n\
             \x20   *p = \"x\"; }\n\
             \x20      ^\n\n\
             /home/me/k.cu(2): warning #177-D: variable \"unused\" was declared\n\
             \x20   int unused;\n\
             \x20       ^\n\n\
             Remark: The warnings can be suppressed\n\
             /home/me/k.cu(1): error: expression must have class type\n\
             \x20 x\n\
             \x20 ^\n\
             \x20         detected during instantiation of \"T f(T)\" at line 2\n\
             At end of source: error: expected a \"}\"\n\
             /home/me/k.cu(1): note #3196-D: to match this \"{\"\n\
             \x20 {\n\
             \x20 ^\n\
             2 errors detected in the compilation of \"solution.cu\".\n",
            None,
        );
        let shown: Vec<String> = all.iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            shown,
            [
                "k.cu:1: error: identifier \"foo\" is undefined",
                "k.cu:3:6: error: a value of type \"const char *\" cannot be assigned",
                "k.cu:2:7: warning: variable \"unused\" was declared",
                "k.cu:1: error: expression must have class type\n    detected during instantiation of \
                 \"T f(T)\" at line 2",
                "k.cu:3: error: expected a \"}\"\n    line 1: to match this \"{\"",
            ]
        );
        assert_eq!(all[2].code.as_deref(), Some("177-D"));
    }

    #[test]
    fn gcc_speaks_with_colons() {
        let all = parsed(
            "In file included from solution.cu:1:\n\
             /home/me/k.cu:2:10: fatal error: nosuch.h: No such file or directory\n\
             \x20   2 | #include \"nosuch.h\"\n\
             compilation terminated.\n\
             /home/me/k.cu:7: error: unterminated #if\n",
            None,
        );
        let shown: Vec<String> = all.iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            shown,
            [
                "k.cu:2:10: error: nosuch.h: No such file or directory",
                "k.cu:7: error: unterminated #if",
            ]
        );
    }

    #[test]
    fn a_line_of_ptx_becomes_a_line_of_cuda() {
        let ptx = ".version 9.0\n.entry k()\n{\n.loc 1 2 5\nadd.s32 a, b, c;\n.loc 2 7 1, function_name f\n\
                   // begin inline asm\ncvt.bad x;\n}\n.file 1 \"/home/me/k.cu\"\n.file\t2 \"/usr/x.h\"\n";
        let all = parsed(
            "ptxas ./solution.ptx, line 5; error   : Instruction 'add' not supported\n\
             ptxas ./solution.ptx, line 8; error   : no\n\
             ptxas error   : Entry function 'k' uses too much shared data\n\
             ptxas fatal   : Ptx assembly aborted due to errors\n",
            Some(ptx),
        );
        let shown: Vec<String> = all.iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            shown,
            [
                "k.cu:2: error: Instruction 'add' not supported\n    in the PTX: add.s32 a, b, c;",
                "/usr/x.h:7: error: no\n    in the PTX: cvt.bad x;",
                "error: Entry function 'k' uses too much shared data",
            ]
        );
    }

    #[test]
    fn driver_and_linker_have_no_place() {
        let all = parsed(
            "nvcc fatal   : Unsupported gpu architecture 'compute_77'\n\
             /usr/bin/ld: /tmp/x.o: in function `solution': x.cu:(.text+0x1): undefined reference to `f()'\n\
             collect2: error: ld returned 1 exit status\n",
            None,
        );
        let shown: Vec<String> = all.iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            shown,
            [
                "error: Unsupported gpu architecture 'compute_77'",
                "error: undefined reference to `f()'",
            ]
        );
    }

    #[test]
    fn noise_is_no_diagnostic() {
        assert_eq!(parsed("", None), []);
        assert_eq!(parsed("hello\n(3): \n:1:2: error\nptxas info : x\na(b): error: c\n", None), []);
    }
}

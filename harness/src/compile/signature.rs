//! Is the user's `solution` the problem's? Said in the user's own words, before the compiler runs.
//!
//! A wrong signature links without a murmur, since `extern "C"` carries no types, and then reads
//! garbage. So the declaration is read from the text first: a `float*` where the problem passes
//! `uint8_t*` is reported with the line it stands on and as it is spelled there. What the text does
//! not show (a macro, a typedef, a declaration in a header) is left to the static check that the
//! generated translation unit ends with, see [`super::unit`].
//!
//! Only the ABI counts: `const` and `__restrict__` may be added or left out, `unsigned char` is
//! `uint8_t`, names are free. Except that when the user's names are exactly the problem's in
//! another order, the order is wrong even where the types agree.

use std::fmt;

use super::scan::{Token, line_at, tokens};

/// One parameter of the problem's signature: `const float*`, `a`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Parameter {
    pub ty: String,
    pub name: String,
}

impl Parameter {
    pub fn new(ty: impl Into<String>, name: impl Into<String>) -> Self {
        Self { ty: ty.into(), name: name.into() }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name)
    }
}

/// `extern "C" void solution(const float* a, uint8_t* q)`
pub fn prototype(parameters: &[Parameter]) -> String {
    let list: Vec<String> = parameters.iter().map(Parameter::to_string).collect();
    format!("extern \"C\" void solution({})", list.join(", "))
}

/// What is wrong with the user's `solution`, and on which line of the user's file (where known).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{difference}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct SignatureError {
    pub line: Option<usize>,
    pub difference: Difference,
    /// The prototype that would be right.
    pub expected: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    #[error("there is no function `solution`")]
    Missing,
    #[error("`solution` is not extern \"C\", so the judge cannot find it by its name")]
    NotC,
    #[error("`solution` is static, so the judge cannot see it")]
    Static,
    #[error("`solution` is a kernel; it must be the host function that launches yours")]
    Kernel,
    #[error("`solution` returns `{found}`, it must return void")]
    Returns { found: String },
    #[error("`solution` takes {found} parameters, the problem passes {expected}")]
    Arity { found: usize, expected: usize },
    /// `index` counts from 1.
    #[error("parameter {index} is `{found}`, the problem passes `{expected}`")]
    Type { index: usize, found: String, expected: String },
    /// The names are the problem's, in another order.
    #[error(
        "parameter {index} is `{found}`, the problem passes `{expected}` there: the order is another"
    )]
    Order { index: usize, found: String, expected: String },
    /// From the compiler; the text does not show the declaration.
    #[error("parameter {index} has another type than the problem's `{expected}`")]
    Hidden { index: usize, expected: String },
}

/// A declaration of `solution` as the text shows it.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub line: usize,
    linkage: Linkage,
    kernel: bool,
    hidden: bool,
    /// `None` where a name is not one of the language's.
    returns: Option<String>,
    pub parameters: Vec<Declared>,
    has_body: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linkage {
    C,
    Cpp,
    /// A macro stands among the specifiers.
    Unknown,
}

/// One parameter as the user wrote it.
#[derive(Clone, Debug)]
pub struct Declared {
    pub line: usize,
    /// `const float* a`, with single spaces.
    pub text: String,
    name: Option<String>,
    /// The ABI's type and how many pointers; `None` where a name is not known here.
    ty: Option<(&'static str, usize)>,
}

/// Compares every declaration of `solution` in `source` with the problem's parameters. The best
/// declaration is returned for later messages; `None` where the text shows none but an include or
/// a macro might.
///
/// # Errors
///
/// [`SignatureError`] where a declaration that is fully understood differs.
pub fn check(
    source: &str,
    parameters: &[Parameter],
) -> Result<Option<Declaration>, SignatureError> {
    let declarations = declarations(source);
    let error = |line, difference| {
        Err(SignatureError { line, difference, expected: prototype(parameters) })
    };
    // Several: overloads, or the branches of an `#if`. One that fits is enough.
    let c_before = declarations.iter().any(|declaration| declaration.linkage == Linkage::C);
    let mut first = None;
    for declaration in declarations.iter().filter(|declaration| declaration.has_body) {
        match compare(declaration, parameters, c_before) {
            Ok(()) => return Ok(Some(declaration.clone())),
            Err((line, difference)) => {
                first.get_or_insert((line, difference));
            }
        }
    }
    match first {
        Some((line, difference)) => error(Some(line), difference),
        None if may_hide(source) => Ok(declarations.into_iter().next()),
        None => error(None, Difference::Missing),
    }
}

/// Whether a definition may come from where the scan does not look.
fn may_hide(source: &str) -> bool {
    source.lines().map(str::trim_start).any(|line| {
        line.starts_with('#')
            && (line.contains("include") && line.contains('"') || line.contains("solution"))
    })
}

fn compare(
    declaration: &Declaration,
    parameters: &[Parameter],
    c_before: bool,
) -> Result<(), (usize, Difference)> {
    let line = declaration.line;
    if declaration.kernel {
        return Err((line, Difference::Kernel));
    }
    if declaration.hidden {
        return Err((line, Difference::Static));
    }
    if let Some(found) = declaration.returns.clone().filter(|returns| returns != "void") {
        return Err((line, Difference::Returns { found }));
    }
    let declared = &declaration.parameters;
    let counts = (declared.len(), parameters.len());
    if counts.0 != counts.1 {
        return Err((line, Difference::Arity { found: counts.0, expected: counts.1 }));
    }
    let reordered = reordered(declared, parameters);
    for (index, (found, expected)) in declared.iter().zip(parameters).enumerate() {
        let texts = (index + 1, found.text.clone(), expected.to_string());
        let (index, text, expected_text) = texts;
        if reordered && found.name.as_deref() != Some(expected.name.as_str()) {
            let difference = Difference::Order { index, found: text, expected: expected_text };
            return Err((found.line, difference));
        }
        let wanted = Declared::parse(&expected.ty, &tokens(&expected.ty)).ty;
        if let (Some(found_ty), Some(wanted)) = (found.ty, wanted)
            && found_ty != wanted
        {
            let difference = Difference::Type { index, found: text, expected: expected_text };
            return Err((found.line, difference));
        }
    }
    if declaration.linkage == Linkage::Cpp && !c_before {
        return Err((line, Difference::NotC));
    }
    Ok(())
}

/// The user's names are the problem's, but stand in other places.
fn reordered(declared: &[Declared], parameters: &[Parameter]) -> bool {
    let found: Vec<&str> = declared.iter().filter_map(|d| d.name.as_deref()).collect();
    let wanted: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        names
    };
    found != wanted && sorted(&found) == sorted(&wanted)
}

/// All declarations of `solution` outside of function bodies.
fn declarations(source: &str) -> Vec<Declaration> {
    let tokens = tokens(source);
    let mut scopes: Vec<Scope> = Vec::new();
    let mut found = Vec::new();
    // Where the current declaration began.
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => {
                scopes.push(Scope::of(&tokens[start..at]));
                start = at + 1;
            }
            "}" => {
                scopes.pop();
                start = at + 1;
            }
            ";" => start = at + 1,
            "solution" if !scopes.contains(&Scope::Other) => {
                let in_c = scopes.contains(&Scope::ExternC);
                found.extend(declaration(source, &tokens, start, at, in_c));
            }
            _ => {}
        }
    }
    found
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    ExternC,
    Namespace,
    /// A function's body, a class, an initializer.
    Other,
}

impl Scope {
    fn of(head: &[Token<'_>]) -> Self {
        let is = |text| head.iter().any(|token| token.text == text);
        match head {
            [.., e, c] if e.text == "extern" && c.text == "\"C\"" => Self::ExternC,
            _ if is("namespace") && !is("(") => Self::Namespace,
            _ => Self::Other,
        }
    }
}

/// Words that say nothing about the type.
const SPECIFIERS: [&str; 8] = [
    "extern",
    "\"C\"",
    "static",
    "inline",
    "__host__",
    "__global__",
    "__device__",
    "__forceinline__",
];

fn declaration(
    source: &str,
    tokens: &[Token<'_>],
    start: usize,
    name: usize,
    in_c: bool,
) -> Option<Declaration> {
    let specifiers = &tokens[start..name];
    // A call, not a declaration, where nothing or an operator stands before the name.
    let last = specifiers.last()?;
    if !(last.is_name() || ["*", "&", ")"].contains(&last.text)) || last.text == "return" {
        return None;
    }
    let open = name + 1;
    if tokens.get(open)?.text != "(" {
        return None;
    }
    let close = open + closing(&tokens[open..])?;
    let after = tokens[close + 1..].iter().find(|token| token.text == "{" || token.text == ";")?;
    let is = |text: &str| specifiers.iter().any(|token| token.text == text);
    let ty: Vec<Token<'_>> =
        specifiers.iter().filter(|token| !SPECIFIERS.contains(&token.text)).copied().collect();
    let returns = Declared::parse(source, &ty);
    let known = returns.ty.is_some();
    Some(Declaration {
        line: line_at(source, tokens[name].at),
        linkage: match () {
            () if in_c || (is("extern") && is("\"C\"")) => Linkage::C,
            () if known => Linkage::Cpp,
            () => Linkage::Unknown,
        },
        kernel: is("__global__"),
        hidden: is("static"),
        returns: known.then_some(returns.text),
        parameters: parameters(source, &tokens[open + 1..close]),
        has_body: after.text == "{",
    })
}

/// The index of the bracket that closes the one at 0.
fn closing(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

fn parameters(source: &str, tokens: &[Token<'_>]) -> Vec<Declared> {
    if tokens.is_empty() || matches!(tokens, [one] if one.text == "void") {
        return Vec::new();
    }
    let mut depth = 0_i32;
    tokens
        .split(|token| {
            match token.text {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth -= 1,
                _ => {}
            }
            depth == 0 && token.text == ","
        })
        .map(|tokens| Declared::parse(source, tokens))
        .collect()
}

/// Words of the built-in types, which combine (`unsigned long int`).
const BUILT_IN: [&str; 10] =
    ["unsigned", "signed", "long", "short", "int", "char", "float", "double", "void", "bool"];

/// Words that change nothing about how an argument is passed.
const QUALIFIERS: [&str; 7] =
    ["const", "volatile", "__restrict__", "__restrict", "restrict", "std", "struct"];

impl Declared {
    fn parse(source: &str, tokens: &[Token<'_>]) -> Self {
        // A default value is no part of the type.
        let end = tokens.iter().position(|token| token.text == "=").unwrap_or(tokens.len());
        let tokens = &tokens[..end];
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return Self { line: 1, text: String::new(), name: None, ty: None };
        };
        let text = &source[first.at..last.at + last.text.len()];
        let mut words = tokens
            .iter()
            .filter(|token| token.is_name() && !QUALIFIERS.contains(&token.text))
            .map(|token| token.text)
            .peekable();
        let mut ty: Vec<&str> = Vec::new();
        while let Some(word) = words.next_if(|word| BUILT_IN.contains(word)) {
            ty.push(word);
        }
        if ty.is_empty() {
            ty.extend(words.next());
        }
        let name = words.next().map(str::to_owned);
        let pointers = tokens.iter().filter(|token| ["*", "["].contains(&token.text)).count();
        // Anything stranger (references, templates, function pointers) is the compiler's business.
        let plain = words.next().is_none()
            && tokens.iter().all(|token| token.is_name() || "*[]:".contains(token.text));
        ty.sort_unstable();
        Self {
            line: line_at(source, first.at),
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            name,
            ty: abi_type(&ty).filter(|_| plain).map(|ty| (ty, pointers)),
        }
    }
}

/// One name for all spellings that are passed alike on 64-bit Linux. `words` are sorted.
fn abi_type(words: &[&str]) -> Option<&'static str> {
    let ty = match words {
        ["float"] => "float",
        ["double"] => "double",
        ["void"] => "void",
        ["bool"] => "bool",
        ["char"] => "char",
        ["char", "unsigned"] | ["uint8_t"] => "uint8_t",
        ["char", "signed"] | ["int8_t"] => "int8_t",
        ["short"] | ["int", "short"] | ["int16_t"] => "int16_t",
        ["short", "unsigned"] | ["int", "short", "unsigned"] | ["uint16_t"] => "uint16_t",
        ["int"] | ["signed"] | ["int", "signed"] | ["int32_t"] => "int32_t",
        ["unsigned"] | ["int", "unsigned"] | ["uint32_t"] => "uint32_t",
        ["long"] | ["int", "long"] | ["long", "long"] | ["int", "long", "long"] => "int64_t",
        ["int64_t"] | ["ptrdiff_t"] | ["ssize_t"] => "int64_t",
        ["long", "unsigned"] | ["int", "long", "unsigned"] | ["long", "long", "unsigned"] => {
            "uint64_t"
        }
        ["int", "long", "long", "unsigned"] | ["size_t"] | ["uint64_t"] => "uint64_t",
        ["half"] | ["__half"] => "__half",
        ["nv_bfloat16"] | ["__nv_bfloat16"] => "__nv_bfloat16",
        _ => return None,
    };
    Some(ty)
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;

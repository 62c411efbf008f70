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

use super::{
    declaration::{Declaration, Declared, Linkage, declarations},
    scan::tokens,
};

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

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;

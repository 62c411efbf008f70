//! Declarations of `solution`, read from the text.

use super::scan::{Token, line_at, tokens};

/// A declaration of `solution` as the text shows it.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub line: usize,
    pub linkage: Linkage,
    pub kernel: bool,
    pub hidden: bool,
    /// `None` where a name is not one of the language's.
    pub returns: Option<String>,
    pub parameters: Vec<Declared>,
    pub has_body: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
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
    pub name: Option<String>,
    /// The ABI's type and how many pointers; `None` where a name is not known here.
    pub ty: Option<(&'static str, usize)>,
}

/// All declarations of `solution` outside of function bodies.
pub fn declarations(source: &str) -> Vec<Declaration> {
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
    pub fn parse(source: &str, tokens: &[Token<'_>]) -> Self {
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

//! What a PTX file says, before anything is known about what it means.
//!
//! Everything borrows from the text and keeps a [`Span`], so that any later complaint can point at
//! the characters it is about. Modifiers are kept in the order written; whoever reads them treats
//! them as a set, because `ptxas` accepts several orders for one instruction (PTX ISA 9.7.14.5 and
//! CUTLASS disagree on where `kind::mxf4nvf4` stands, and both assemble).

use std::ops::Range;
use std::sync::Arc;

/// Byte range in the PTX text.
pub type Span = Range<u32>;

/// A position in CUDA source, from `.loc` (PTX ISA 11.5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// Index as in `.file`; look it up in [`Module::files`].
    pub file: u32,
    pub line: u32,
    pub column: u32,
    /// Position of the call where this code was inlined; that call may itself stand in inlined
    /// code, so following these leads outwards to the line of the kernel.
    pub inlined_at: Option<Arc<SourceLocation>>,
    /// Mangled name of the function inlined, where `function_name` gives one.
    pub function: Option<Arc<str>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module<'a> {
    pub version: (u32, u32),
    /// As written: `sm_100a`. Further target options (`debug`, texturing modes) are dropped.
    pub target: &'a str,
    pub address_size: u32,
    /// `.file INDEX "path"`.
    pub files: Vec<(u32, &'a str)>,
    /// Module-scope `.global`, `.const`, `.shared` variables.
    pub variables: Vec<Variable<'a>>,
    pub functions: Vec<Function<'a>>,
    /// Names declared by `.alias name, target`.
    pub aliases: Vec<(&'a str, &'a str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Register,
    Global,
    Constant,
    Shared,
    Local,
    Param,
}

/// `.global .align 4 .b8 name[16] = {…}`, a register declaration or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    pub space: Space,
    /// Fundamental type without the dot: `b32`, `pred`, `f16x2`.
    pub ty: &'a str,
    /// 2, 4 or 8 for `.v2`, `.v4`, `.v8`; else 1.
    pub vector: u32,
    pub align: Option<u32>,
    pub name: &'a str,
    /// `%r<7>` declares `%r0` to `%r6`.
    pub count: Option<u32>,
    /// `[16]`, `[4][8]`, and `[]` as 0 (an `extern .shared` array).
    pub dimensions: Vec<u64>,
    pub initializer: Option<Initializer<'a>>,
    pub external: bool,
    pub visible: bool,
    /// `.attribute(.managed)`.
    pub managed: bool,
    /// From the name to the end of its dimensions or initializer.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Initializer<'a> {
    /// A literal: one of the `Integer`, `Float32` and `Float64` operands.
    Value(Operand<'a>),
    /// A symbol, perhaps `generic(name)`, perhaps with an offset; `0xff(name)` masks are kept as
    /// the byte mask.
    Symbol {
        name: &'a str,
        generic: bool,
        offset: i64,
        mask: Option<u64>,
    },
    List(Vec<Initializer<'a>>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function<'a> {
    /// `.entry` rather than `.func`.
    pub entry: bool,
    pub visible: bool,
    pub external: bool,
    pub weak: bool,
    pub name: &'a str,
    pub returns: Vec<Variable<'a>>,
    pub params: Vec<Variable<'a>>,
    pub directives: Directives,
    /// Absent for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    /// From `.entry` or `.func` to the closing brace or semicolon.
    pub span: Span,
}

/// Performance-tuning and cluster directives (PTX ISA 11.4, 11.7, 11.8). A dimension left out is 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub maxntid: Option<[u32; 3]>,
    pub reqntid: Option<[u32; 3]>,
    pub minnctapersm: Option<u32>,
    pub maxnreg: Option<u32>,
    pub reqnctapercluster: Option<[u32; 3]>,
    pub maxclusterrank: Option<u32>,
    pub explicitcluster: bool,
    /// The launch's grid counts clusters, not CTAs.
    pub blocksareclusters: bool,
    pub noreturn: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'a> {
    Label {
        name: &'a str,
        span: Span,
    },
    Instruction(Instruction<'a>),
    /// `.reg`, `.local`, `.shared`, `.param`, `.const`, `.global` inside a body.
    Variable(Variable<'a>),
    /// `{ … }`: names declared inside end with it, labels too (inline PTX repeats them).
    Scope(Vec<Statement<'a>>),
    Location(SourceLocation),
    Pragma(Vec<&'a str>),
    /// `label: .branchtargets a, b;`
    BranchTargets {
        name: &'a str,
        labels: Vec<&'a str>,
    },
    /// `label: .calltargets f, g;`
    CallTargets {
        name: &'a str,
        functions: Vec<&'a str>,
    },
    /// `label: .callprototype (.param .b32 _) _ (.param .b64 _);`
    CallPrototype {
        name: &'a str,
        returns: Vec<Variable<'a>>,
        params: Vec<Variable<'a>>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'a> {
    pub guard: Option<Guard<'a>>,
    /// `cvt`
    pub opcode: &'a str,
    /// `["rn", "satfinite", "e2m1x2", "f32"]`; a `::` qualifier stays whole: `"L1::no_allocate"`.
    /// The `.unified` that `ld` writes behind its address (PTX ISA 9.7.9.8) comes last.
    pub modifiers: Vec<&'a str>,
    pub operands: Vec<Operand<'a>>,
    /// From the guard to the semicolon.
    pub span: Span,
}

/// `@p` or `@!p`.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard<'a> {
    pub negated: bool,
    pub register: &'a str,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, a special register (`%tid.x`), a variable, a label or a function: which of them
    /// is decided where names are resolved.
    Name(&'a str),
    /// `!%p1`
    Not(&'a str),
    /// `-%r1`, as some `.neg` forms of inline PTX write it.
    Negated(&'a str),
    /// Any integer literal, as its two's complement 64-bit pattern (PTX ISA 4.5.1).
    Integer(u64),
    /// `0f3F800000`: the bits.
    Float32(u32),
    /// `0d…` and decimal literals: the bits.
    Float64(u64),
    /// `{a, b, c, d}`
    Vector(Vec<Operand<'a>>),
    /// `[base+offset]`; `base` is `None` for an absolute address.
    Address { base: Option<&'a str>, offset: i64 },
    /// `[map, {x, y}]` and its relatives (tensor copies, multimem).
    AddressList(Vec<Operand<'a>>),
    /// `name+4` outside brackets: the address of a variable as a value.
    Offset { name: &'a str, offset: i64 },
    /// `d|p`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `(a, b)` of a call.
    List(Vec<Operand<'a>>),
    /// `_`
    Discard,
    /// `%v.x`: one element of a vector register (`x y z w`, `r g b a`), or `%r.b0`, `%r.h1`: the
    /// part of a register that a video instruction takes. `%tid.x` and its like are a `Name`.
    Element(&'a str, &'a str),
}

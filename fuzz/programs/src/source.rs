//! A program as CUDA C++.
//!
//! ```text
//! HD u64 f3(u64 seed, const u32 *table, u32 *scratch) { … return h; }
//! extern "C" __global__ void k3(u64 *out, const u32 *table, u32 *scratch) { … }
//! ```
//!
//! Compiled by nvcc, `main` runs both and compares; by g++, it is the twin, and writes what the kernels must
//! store, function after function.

use std::fmt::Write;

use crate::expression::{Expression, TYPES};
use crate::statement::{Function, Program, Statement};

/// Functions of one result and two arguments, by their names in `prelude.cuh`.
const BINARY: [&str; 18] = [
    "add",
    "sub",
    "mul",
    "both_bits",
    "either_bit",
    "one_bit",
    "shl",
    "shr",
    "least",
    "most",
    "rotate",
    "quotient",
    "remainder_of",
    "guarded",
    "upper",
    "carried",
    "add",
    "mul",
];
const UNARY: [&str; 6] = ["complement", "negated", "magnitude", "counted", "reversed", "halfway"];
const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];
/// The arrays of a function: type, and elements, which are a power of two.
const ARRAYS: [(&str, u32); 5] = [("u8", 16), ("i16", 8), ("u32", 8), ("i64", 4), ("f32", 8)];
/// Members of records, with their types; and of an array of records.
const MEMBERS: [(&str, &str); 11] = [
    ("r.a", "u8"),
    ("r.b", "u32"),
    ("r.c", "u32"),
    ("r.d", "i32"),
    ("r.e", "i64"),
    ("r.f", "u16"),
    ("r.g.whole", "u32"),
    ("r.g.halves[1]", "u16"),
    ("r.g.bytes[2]", "u8"),
    ("r.h", "f32"),
    ("rows[v0 & 3].e", "i64"),
];
/// Bits of those members that have not all of their type's.
const FIELDS: [(&str, u32); 3] = [("r.b", 5), ("r.c", 20), ("r.d", 8)];

pub fn source(program: &Program) -> String {
    let mut text = include_str!("prelude.cuh").replace("#pragma once\n", "");
    for (number, function) in program.functions.iter().enumerate() {
        let mut writer = Writer::default();
        writer.function(number, function);
        text += &writer.text;
    }
    text += "\n#ifdef __CUDACC__\n";
    for (number, function) in program.functions.iter().enumerate() {
        kernel(&mut text, number, function);
    }
    text += include_str!("compare.cuh");
    text += "\nint main() {\n    start();\n";
    for (number, function) in program.functions.iter().enumerate() {
        twin(&mut text, number, function);
    }
    text += "    return finish();\n}\n";
    text
}

fn kernel(text: &mut String, number: usize, function: &Function) {
    let _ = writeln!(
        text,
        "extern \"C\" __global__ void k{number}(u64 *out, const u32 *table, u32 *scratch) {{\n\
         \x20   const u32 at = blockIdx.x * THREADS + threadIdx.x;"
    );
    let mine = match function.scratch % 3 {
        0 => "u32 room_of_mine[8];",
        1 => "__shared__ u32 rooms[THREADS * 8]; u32 *room_of_mine = rooms + threadIdx.x * 8;",
        _ => "u32 *room_of_mine = scratch + at * 8;",
    };
    let _ = writeln!(text, "    {mine}\n    for (u32 n = 0; n < 8; n++) room_of_mine[n] = n * at;");
    let _ = writeln!(text, "    u64 x = f{number}(at, table, room_of_mine);");
    if !function.meetings.is_empty() {
        text.push_str("    __shared__ u64 room[THREADS];\n");
    }
    for (which, by) in &function.meetings {
        let _ = writeln!(text, "    x = together({which}, {by}, x, room);");
        let _ = writeln!(text, "    x = f{number}(x, table, room_of_mine);");
    }
    text.push_str("    out[at] = x;\n}\n");
}

fn twin(text: &mut String, number: usize, function: &Function) {
    let each = "for (u32 t = 0; t < THREADS; t++)";
    let _ = writeln!(text, "    for (u32 b = 0; b < BLOCKS; b++) {{\n        u64 *x = begin(b);");
    let _ = writeln!(text, "        {each} x[t] = f{number}(b * THREADS + t, table, mine(b, t));");
    for (which, by) in &function.meetings {
        let _ = writeln!(text, "        together({which}, {by}, x);");
        let _ = writeln!(text, "        {each} x[t] = f{number}(x[t], table, mine(b, t));");
    }
    let _ = writeln!(text, "    }}\n    COMPARE(k{number});");
}

/// A function as it is written.
#[derive(Default)]
struct Writer {
    text: String,
    /// Names of variables and their types, the latest last.
    variables: Vec<(String, usize)>,
    named: usize,
    depth: usize,
    loops: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.depth);
        self.text += line;
        self.text += "\n";
    }

    fn fresh(&mut self) -> usize {
        self.named += 1;
        self.named
    }

    fn function(&mut self, number: usize, function: &Function) {
        self.line(&format!("\nHD u64 f{number}(u64 seed, const u32 *table, u32 *scratch) {{"));
        self.depth = 1;
        for (n, ty) in TYPES.iter().enumerate() {
            let start = format!("to<{ty}>((i64)(seed * {}u))", 2 * n * n + 1);
            self.line(&format!("{ty} v{n} = {start};"));
            self.variables.push((format!("v{n}"), n));
        }
        for (n, (ty, count)) in ARRAYS.iter().enumerate() {
            self.line(&format!("{ty} a{n}[{count}];"));
            self.line(&format!(
                "for (u32 n = 0; n < {count}; n++) a{n}[n] = to<{ty}>(v0 * 3 + n * 41);"
            ));
        }
        self.line("Record r, rows[4];\n    fill(r, v0);");
        self.line("for (u32 n = 0; n < 4; n++) fill(rows[n], v0 + n);");
        for (name, ty) in MEMBERS {
            let ty = TYPES.iter().position(|known| *known == ty).unwrap_or(0);
            self.variables.push((name.to_owned(), ty));
        }
        self.statements(&function.body);
        self.line("u64 h = 0;");
        for n in 0..TYPES.len() {
            self.line(&format!("h = mix(h, bits(v{n}));"));
        }
        for (n, (_, count)) in ARRAYS.iter().enumerate() {
            self.line(&format!("for (u32 n = 0; n < {count}; n++) h = mix(h, bits(a{n}[n]));"));
        }
        self.line("for (u32 n = 0; n < 4; n++) h = mix(h, rows[n]);");
        self.line("for (u32 n = 0; n < 8; n++) h = mix(h, scratch[n]);");
        self.line("return mix(h, r);");
        self.depth = 0;
        self.line("}");
    }

    fn block(&mut self, head: &str, body: &[Statement]) {
        self.line(&format!("{head} {{"));
        self.inside(body);
        self.line("}");
    }

    fn inside(&mut self, body: &[Statement]) {
        let known = self.variables.len();
        self.depth += 1;
        self.statements(body);
        self.depth -= 1;
        self.variables.truncate(known);
    }

    fn round(&mut self, head: &str, body: &[Statement]) {
        self.loops += 1;
        self.block(head, body);
        self.loops -= 1;
    }

    fn variable(&self, draw: u8) -> (String, usize) {
        self.variables[usize::from(draw) % self.variables.len()].clone()
    }

    /// `a < b`, as unsigned numbers.
    fn less(&self, a: &Expression, b: &Expression) -> String {
        format!("{} < {}", self.expression(a, 0), self.expression(b, 0))
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn assign(&mut self, to: u8, value: impl FnOnce(&Self, usize) -> String) {
        let (name, ty) = self.variable(to);
        let value = value(self, ty);
        let field = FIELDS.iter().find(|field| field.0 == name);
        self.line(&match field {
            Some((_, bits)) => format!("{name} = ({value}) & {};", (1u32 << bits) - 1),
            None => format!("{name} = {value};"),
        });
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign(to, what) => self.assign(*to, |this, ty| this.expression(what, ty)),
            Statement::New(ty, what) => {
                let (ty, name) = (usize::from(*ty) % TYPES.len(), format!("n{}", self.fresh()));
                let value = self.expression(what, ty);
                self.line(&format!("{} {name} = {value};", TYPES[ty]));
                self.variables.push((name, ty));
            }
            Statement::If(a, b, yes, no) => {
                self.block(&format!("if ({})", self.less(a, b)), yes);
                if !no.is_empty() {
                    self.block("else", no);
                }
            }
            Statement::For(down, count, body) => {
                let (n, count) = (self.fresh(), self.expression(count, 0));
                let head = if *down {
                    format!("for (u32 at{n} = {count} & 7; at{n}-- > 0;)")
                } else {
                    format!("for (u32 at{n} = 0, end{n} = {count} & 7; at{n} < end{n}; at{n}++)")
                };
                self.round(&head, body);
            }
            Statement::While(a, b, body) => {
                let (n, holds) = (self.fresh(), self.less(a, b));
                self.line(&format!("u32 w{n} = 0;"));
                self.round(&format!("while (w{n}++ < 9 && {holds})"), body);
            }
            Statement::Switch(by, arms) => {
                self.line(&format!("switch ({} & 3) {{", self.expression(by, 0)));
                for (n, (arm, onwards)) in arms.iter().enumerate() {
                    self.block(&format!("case {n}:"), arm);
                    if !onwards {
                        self.line("break;");
                    }
                }
                self.line("}");
            }
            Statement::Skip(a, b, leave) if self.loops > 0 => {
                let how = if *leave { "break" } else { "continue" };
                self.line(&format!("if ({}) {how};", self.less(a, b)));
            }
            Statement::Skip(..) => {}
            Statement::Return(a, b) => {
                self.line(&format!("if ({}) return mix(v2, scratch[v0 & 7]);", self.less(a, b)));
            }
            Statement::Store(array, how, at, what) => {
                let (place, ty) = self.element(*array, *how, at);
                let value = self.expression(what, ty);
                self.line(&format!("{place} = {value};"));
            }
            Statement::Walk(array, how, to) => self.walk(*array, *how, *to),
            Statement::Carry(to, ty, now, rank) => self.carry(*to, *ty, now, rank),
            Statement::Scratch(true, at, what) => {
                let value = self.expression(what, 0);
                self.line(&format!("scratch[{}] = {value};", at % 8));
            }
            Statement::Scratch(false, to, at) => {
                let at = self.expression(at, 0);
                self.assign(*to, |_, ty| format!("to<{}>(scratch[7 - ({at} & 7)])", TYPES[ty]));
            }
            Statement::Long(to, a, b) => {
                let n = self.fresh();
                let (a, b) = (self.variable(*a).0, self.variable(*b).0);
                self.line(&format!("u128 s{n} = to<u128>({a}), d{n} = to<u128>({b}) << 64 | v2;"));
                self.line(&format!("s{n} += d{n}; d{n} -= s{n} >> 7; s{n} -= d{n} * v0;"));
                self.assign(*to, |_, ty| {
                    format!("to<{}>((u64)(s{n} / (d{n} | 1) + (s{n} >> 64)))", TYPES[ty])
                });
            }
        }
    }

    /// From one end of an array to the other, by a pointer.
    fn walk(&mut self, array: u8, how: u8, to: u8) {
        let n = usize::from(array) % ARRAYS.len();
        let (ty, count) = ARRAYS[n];
        let p = self.fresh();
        let (head, end) = if how & 1 == 0 {
            (format!("for (const {ty} *p{p} = a{n}; p{p} != a{n} + {count}; p{p}++) {{"), "")
        } else {
            (format!("for (const {ty} *p{p} = a{n} + {count}; p{p} != a{n};) {{"), "--p")
        };
        self.line(&head);
        self.depth += 1;
        if !end.is_empty() {
            self.line(&format!("{end}{p};"));
        }
        self.assign(to, |this, to| {
            let before = this.variable(how).0;
            format!("add(to<{0}>(*p{p}), mul(to<{0}>({before}), ({0})3))", TYPES[to])
        });
        self.depth -= 1;
        self.line("}");
    }

    fn carry(&mut self, to: u8, ty: u8, now: &Expression, rank: &Expression) {
        let (n, ty) = (self.fresh(), usize::from(ty) % TYPES.len());
        let name = TYPES[ty];
        self.line(&format!("{name} before{n}, best{n};"));
        self.line(&format!("u32 least{n} = ~0u;"));
        self.line(&format!("for (u32 at{n} = 0; at{n} < 2 + (v0 & 3); at{n}++) {{"));
        self.depth += 1;
        self.variables.push((format!("at{n}"), 0));
        let (now, rank) = (self.expression(now, ty), self.expression(rank, 0));
        self.variables.pop();
        self.line(&format!("const {name} now{n} = add({now}, to<{name}>(at{n}));"));
        self.assign(to, |_, to| {
            format!("at{n} ? to<{}>(sub(now{n}, before{n})) : to<{}>(now{n})", TYPES[to], TYPES[to])
        });
        self.line(&format!("const u32 rank{n} = {rank} ^ at{n};"));
        self.line(&format!(
            "if (at{n} == 0 || rank{n} < least{n}) least{n} = rank{n}, best{n} = now{n};"
        ));
        self.line(&format!("before{n} = now{n};"));
        self.depth -= 1;
        self.line("}");
        self.assign(to, |_, to| format!("to<{}>(best{n})", TYPES[to]));
    }

    /// An element of an array, addressed from its beginning, its end, its middle or from before it.
    fn element(&self, array: u8, how: u8, at: &Expression) -> (String, usize) {
        let n = usize::from(array) % ARRAYS.len();
        let (ty, count) = ARRAYS[n];
        let ty = TYPES.iter().position(|known| *known == ty).unwrap_or(0);
        let (at, last) = (self.expression(at, 0), count - 1);
        let place = match how % 4 {
            0 => format!("a{n}[{at} & {last}]"),
            1 => format!("a{n}[{last} - ({at} & {last})]"),
            2 => format!("(a{n} + {})[(int)({at} & {last}) - {}]", count / 2, count / 2),
            _ => format!("*(a{n} + {count} - 1 - ({at} & {last}))"),
        };
        (place, ty)
    }

    /// `what`, of that type.
    fn expression(&self, what: &Expression, ty: usize) -> String {
        let name = TYPES[ty];
        match what {
            Expression::Variable(which) => {
                let (variable, of) = self.variable(*which);
                if of == ty {
                    format!("({name}){variable}")
                } else {
                    format!("to<{name}>({variable})")
                }
            }
            Expression::Literal(value) => format!("to<{name}>((i64){value:#x}ull)"),
            Expression::Unary(which, a) => {
                format!("{}({})", UNARY[usize::from(*which) % UNARY.len()], self.expression(a, ty))
            }
            Expression::Binary(which, a, b) => format!(
                "{}({}, {})",
                BINARY[usize::from(*which) % BINARY.len()],
                self.expression(a, ty),
                self.expression(b, ty)
            ),
            Expression::Choice(how, of, [a, b, c, d]) => {
                let of = usize::from(*of) % TYPES.len();
                let how = COMPARISONS[usize::from(*how) % COMPARISONS.len()];
                let (a, b) = (self.expression(a, of), self.expression(b, of));
                let (c, d) = (self.expression(c, ty), self.expression(d, ty));
                format!("({a} {how} {b} ? {c} : {d})")
            }
            Expression::Through(of, a) => {
                let of = usize::from(*of) % TYPES.len();
                format!("to<{name}>({})", self.expression(a, of))
            }
            Expression::Narrow(which, a) => {
                let single = TYPES.len() - 2;
                format!("to<{name}>(narrow({which}, {}))", self.expression(a, single))
            }
            Expression::Element(array, how, at) => {
                let (place, of) = self.element(*array, *how, at);
                if of == ty { place } else { format!("to<{name}>({place})") }
            }
            Expression::Table(at) => format!("to<{name}>(table[{} & 255])", self.expression(at, 0)),
            Expression::Call(which, a, b) => format!(
                "to<{name}>(called({which}, {}, {}))",
                self.expression(a, 0),
                self.expression(b, 0)
            ),
        }
    }
}

//! A program as PTX.
//!
//! Every function has a few registers of each kind that are written again and again, and makes new ones
//! that are written once, as a compiler does: copies of those are what lowering folds. A new one is known
//! to the rest of the braces it was made in.

use std::fmt::Write;

use crate::forms::{ELEMENTS, FIRST, LAST, MIDDLE};
use crate::step::{Array, Draws, Loop, Program, Step};

pub const THREADS: u32 = 64;
pub const BLOCKS: u32 = 2;
/// Registers of each kind that are written again and again.
const EACH: usize = 4;
/// Bytes of an array.
const ARRAY: u32 = 32;

/// The kinds of registers: letter in a form, type, name.
const KINDS: [(char, &str, &str); 6] = [
    ('I', "b32", "%i"),
    ('L', "b64", "%l"),
    ('H', "b16", "%h"),
    ('F', "f32", "%f"),
    ('W', "f64", "%w"),
    ('P', "pred", "%p"),
];
/// Bytes that a thread stores in the end.
pub const BYTES: usize = EACH * (4 + 8 + 4 + 4 + 8 + 4);

pub fn ptx(program: &Program, forms: &[&str]) -> String {
    let mut text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.shared .align 4 .b8 words[{}];\n\
         .shared .align 16 .b8 arrays[{}];\n.shared .align 4 .b8 sum[4];\n",
        4 * THREADS,
        ARRAY * THREADS
    );
    let mut kernel = String::new();
    let mut writer = Writer::new(forms, Some("-1".to_owned()), program.functions.len());
    writer.line(&format!(
        "mov.u32 %t, %ctaid.x; mov.u32 %s, %tid.x; mad.lo.u32 %at, %t, {THREADS}, %s;"
    ));
    writer.begin();
    writer.steps(&program.kernel);
    writer.results();
    writer.finish(".visible .entry kernel(.param .u64 out)", &mut kernel);
    let last = program.functions.len() - 1;
    for (number, steps) in program.functions.iter().enumerate() {
        if !kernel.contains(&format!(" f{number}")) {
            continue;
        }
        let mut writer = Writer::new(forms, None, 0);
        writer.line("ld.param.b32 %at, [a]; ld.param.b32 %t, [b];");
        writer.line("mad.lo.u32 %at, %at, 0x2c1b3c6d, %t;");
        writer.begin();
        writer.steps(steps);
        if number == last {
            writer.again(number);
        }
        for k in 1..EACH {
            writer.line(&format!("xor.b32 %i0, %i0, %i{k};"));
        }
        writer.line("st.param.b32 [result], %i0; ret;");
        let head = format!(".func (.param .b32 result) f{number}(.param .b32 a, .param .b32 b)");
        writer.finish(&head, &mut text);
    }
    text + &kernel
}

struct Writer<'f> {
    forms: &'f [&'f str],
    text: String,
    labels: usize,
    /// Registers written once, of each kind: how many there are, and which are known here.
    made: [usize; KINDS.len()],
    known: [Vec<String>; KINDS.len()],
    /// The lanes that are here, where that is known.
    mask: Option<String>,
    /// Functions that may be called.
    functions: usize,
    /// Labels of the loop around: of its next round, and behind it.
    around: Option<(usize, usize)>,
}

impl<'f> Writer<'f> {
    fn new(forms: &'f [&'f str], mask: Option<String>, functions: usize) -> Self {
        let (made, known) = Default::default();
        let text = String::new();
        Self { forms, text, labels: 0, made, known, mask, functions, around: None }
    }

    fn line(&mut self, line: &str) {
        self.text += line;
        self.text += "\n";
    }

    /// Every register and array from `%at`.
    fn begin(&mut self) {
        self.line("mov.u32 %tid, %tid.x;");
        for k in 0..EACH as u32 {
            let (factor, addend) =
                (0x9e37_79b1u32.wrapping_mul(k + 1) | 1, 0x85eb_ca6bu32.wrapping_mul(k));
            self.line(&format!("mad.lo.u32 %i{k}, %at, {factor}, {addend};"));
            self.line(&format!("mul.wide.s32 %l{k}, %i{k}, {factor}; cvt.u16.u32 %h{k}, %i{k};"));
            self.line(&format!("cvt.rn.f64.s32 %w{k}, %i{k}; cvt.rn.f32.s32 %f{k}, %i{k};"));
            // Floats of every size rather than huge ones only.
            self.line(&format!("mul.f32 %f{k}, %f{k}, 0f30000000; setp.gt.s32 %p{k}, %i{k}, {k};"));
        }
        self.line("mov.b64 %b, arrays; mad.wide.u32 %b, %tid, 32, %b;");
        for at in 0..ARRAY / 8 {
            let k = at % EACH as u32;
            let at = 8 * at;
            self.line(&format!(
                "st.local.b64 [array+{at}], %l{k}; st.shared.b64 [%b+{at}], %l{k};"
            ));
        }
        self.line("mov.b32 %t, %i0; st.local.b8 [odd+6], %t; st.local.b8 [odd], %t;");
    }

    fn finish(self, head: &str, text: &mut String) {
        *text += head;
        *text += "\n{\n.reg .b32 %tid, %t, %s, %at, %n;\n.reg .b64 %o, %b, %x;\n\
                  .reg .f64 %e, %g;\n.reg .pred %q, %u;\n\
                  .local .align 1 .b8 odd[7];\n.local .align 16 .b8 array[32];\n";
        for ((_, ty, name), made) in KINDS.iter().zip(self.made) {
            let _ = writeln!(text, ".reg .{ty} {name}<{EACH}>;");
            if made > 0 {
                let _ = writeln!(text, ".reg .{ty} {name}n<{made}>;");
            }
        }
        *text += &self.text;
        *text += "}\n";
    }

    /// What a thread leaves behind. A NaN of double precision is any.
    fn results(&mut self) {
        self.line("ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;");
        self.line(&format!("mul.wide.u32 %x, %at, {BYTES}; add.u64 %o, %o, %x;"));
        for k in 0..EACH {
            let (wide, narrow) = (8 * k, 16 * EACH + 4 * k);
            self.line(&format!(
                "setp.nan.f64 %q, %w{k}, %w{k}; selp.f64 %w{k}, 0d0000000000000000, %w{k}, %q;"
            ));
            self.line(&format!("st.global.b64 [%o+{wide}], %l{k};"));
            self.line(&format!("st.global.f64 [%o+{}], %w{k};", wide + 8 * EACH));
            self.line(&format!("st.global.b32 [%o+{narrow}], %i{k};"));
            self.line(&format!("st.global.f32 [%o+{}], %f{k};", narrow + 4 * EACH));
            self.line(&format!(
                "cvt.u32.u16 %t, %h{k}; st.global.b32 [%o+{}], %t;",
                narrow + 8 * EACH
            ));
            self.line(&format!(
                "selp.b32 %t, 1, 2, %p{k}; st.global.b32 [%o+{}], %t;",
                narrow + 12 * EACH
            ));
        }
        self.line("ret;");
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn kind(letter: char) -> Option<usize> {
        KINDS.iter().position(|kind| kind.0 == letter)
    }

    /// A register to read.
    fn read(&self, kind: usize, draw: u8) -> String {
        let (known, draw) =
            (&self.known[kind], usize::from(draw) % (EACH + self.known[kind].len()));
        if draw < EACH { format!("{}{draw}", KINDS[kind].2) } else { known[draw - EACH].clone() }
    }

    fn word(&self, draw: u8) -> String {
        self.read(0, draw)
    }

    /// A register that is written once, not known yet.
    fn make(&mut self, kind: usize) -> String {
        self.made[kind] += 1;
        format!("{}n{}", KINDS[kind].2, self.made[kind] - 1)
    }

    /// One of those that are written again and again.
    fn rewritten(kind: usize, draw: u8) -> String {
        format!("{}{}", KINDS[kind].2, usize::from(draw) % EACH)
    }

    /// A form with registers in it; those of its first operand are written, new ones if `fresh`.
    fn form(&mut self, form: &str, draws: &Draws, fresh: bool) -> String {
        let mut draws = draws.iter().copied().cycle();
        let (mut depth, mut writes) = (0, true);
        let mut written: Vec<(usize, String)> = Vec::new();
        let (opcode, operands) = form.split_once(' ').expect("operands");
        let mut text = format!("{opcode} ");
        let mut before = ' ';
        for letter in operands.chars() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => writes = false,
                _ => {}
            }
            let kind = Self::kind(letter).filter(|_| !before.is_alphanumeric());
            before = letter;
            let Some(kind) = kind else {
                text.push(letter);
                continue;
            };
            let draw = draws.next().expect("an endless supply");
            text += &if !writes {
                self.read(kind, draw)
            } else if fresh && draw >= 0x80 {
                let new = self.make(kind);
                written.push((kind, new.clone()));
                new
            } else {
                // Two results go to two registers.
                let mut draw = draw;
                while written.iter().any(|(_, name)| *name == Self::rewritten(kind, draw)) {
                    draw = draw.wrapping_add(1);
                }
                let name = Self::rewritten(kind, draw);
                written.push((kind, name.clone()));
                name
            };
        }
        for (kind, name) in written {
            if name.contains('n') {
                self.known[kind].push(name);
            }
        }
        text
    }

    /// Division by zero has no meaning.
    fn divisor(&mut self, instruction: &str) {
        let divides = instruction.starts_with("div.") || instruction.starts_with("rem.");
        let (opcode, operands) = instruction.split_once(' ').expect("operands");
        if divides && !opcode.contains(".f") {
            let divisor = operands.rsplit(", ").next().expect("a divisor");
            let bits = &opcode[opcode.len() - 2..];
            self.line(&format!("or.b{bits} {divisor}, {divisor}, 1;"));
        }
    }

    /// Whatever is made inside is not known behind it.
    fn inside(&mut self, mask: Option<String>, around: Option<(usize, usize)>, steps: &[Step]) {
        let known = self.known.clone();
        let mask = std::mem::replace(&mut self.mask, mask);
        let around = std::mem::replace(&mut self.around, around);
        self.steps(steps);
        (self.known, self.mask, self.around) = (known, mask, around);
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Do { form, draws, guard } => {
                let form = self.forms[usize::from(*form) % self.forms.len()];
                let guard = guard.map(|(draw, negated)| {
                    format!("@{}{} ", if negated { "!" } else { "" }, self.read(5, draw))
                });
                let instruction = self.form(form, draws, guard.is_none());
                self.divisor(&instruction);
                self.line(&format!("{}{instruction};", guard.unwrap_or_default()));
            }
            Step::Chain(links) => {
                for (n, (which, draws)) in links.iter().enumerate() {
                    let from = match n {
                        0 => FIRST,
                        n if n + 1 == links.len() => LAST,
                        _ => MIDDLE,
                    };
                    let link = self.form(from[usize::from(*which) % from.len()], draws, true);
                    self.line(&format!("{link};"));
                }
            }
            Step::If(a, b, yes, no) => self.branch(*a, *b, yes, no),
            Step::Loop(round) => self.round(round),
            Step::Switch(index, arms) => self.switch(*index, arms),
            Step::Skip { a, b, leave } => {
                let Some((next, end)) = self.around else { return };
                let to = if *leave { end } else { next };
                let (a, b) = (self.word(*a), self.word(*b));
                self.line(&format!("setp.gt.s32 %q, {a}, {b};\n@%q bra L{to};"));
            }
            Step::Array(array) => self.array(array),
            Step::Call { function, draws, pointer } => self.call(*function, draws, *pointer),
            Step::Lanes(which, draws) => self.lanes(*which, draws),
            Step::Approximate(from, to) => {
                let (from, to) = (self.read(4, *from), Self::rewritten(0, *to));
                self.line(&format!("abs.f64 %e, {from}; rsqrt.approx.f64 %g, %e;"));
                self.line("mul.rn.f64 %g, %g, %g; fma.rn.f64 %g, %g, %e, 0dBFF0000000000000;");
                self.line("abs.f64 %g, %g; setp.lt.f64 %q, %g, 0d3D20000000000000;");
                self.line(&format!("@%q add.s32 {to}, {to}, 1;"));
            }
            Step::Exchange(a, b, by) => {
                let (from, to) = (self.word(*b), Self::rewritten(0, *a));
                self.line("mov.u32 %s, words; shl.b32 %t, %tid, 2; add.u32 %t, %s, %t;");
                self.line(&format!("st.shared.b32 [%t], {from};\nbar.sync 0;"));
                let by = u32::from(*by) % THREADS;
                self.line(&format!("add.u32 %t, %tid, {by}; rem.u32 %t, %t, {THREADS};"));
                self.line("shl.b32 %t, %t, 2; add.u32 %t, %s, %t;");
                self.line(&format!("ld.shared.b32 {to}, [%t];\nbar.sync 0;"));
            }
            Step::Reduce(a, b, how) => {
                let (from, to) = (self.word(*b), Self::rewritten(0, *a));
                let how = ["add.u32", "xor.b32", "min.s32", "max.u32", "and.b32", "or.b32"]
                    [usize::from(*how) % 6];
                self.line(&format!("mov.b32 %t, {from}; setp.eq.u32 %q, %tid, 5;"));
                self.line("@%q st.shared.b32 [sum], %t;\nbar.sync 0;");
                self.line(&format!("@!%q red.shared.{how} [sum], %t;\nbar.sync 0;"));
                self.line(&format!("ld.shared.b32 {to}, [sum];\nbar.sync 0;"));
            }
        }
    }

    fn branch(&mut self, a: u8, b: u8, yes: &[Step], no: &[Step]) {
        let (other, end) = (self.label(), self.label());
        let condition = self.make(5);
        let (a, b) = (self.word(a), self.word(b));
        self.line(&format!("setp.lt.u32 {condition}, {a}, {b};"));
        let meets = yes.iter().chain(no).any(Step::meets);
        let (mut here, mut there) = (None, None);
        if let Some(mask) = self.mask.clone().filter(|_| meets) {
            let (yes, no) = (self.make(0), self.make(0));
            self.line(&format!("vote.sync.ballot.b32 {yes}, {condition}, {mask};"));
            self.line(&format!("not.b32 {no}, {yes}; and.b32 {no}, {no}, {mask};"));
            (here, there) = (Some(yes), Some(no));
        }
        self.line(&format!("@!{condition} bra L{other};"));
        self.inside(here, self.around, yes);
        self.line(&format!("bra L{end};\nL{other}:"));
        self.inside(there, self.around, no);
        self.line(&format!("L{end}:"));
    }

    fn round(&mut self, round: &Loop) {
        let (top, next, end) = (self.label(), self.label(), self.label());
        let (count, number) = (self.make(0), self.make(0));
        let rounds = self.word(round.rounds);
        self.line(&format!("and.b32 {count}, {rounds}, 3; mov.u32 {number}, 0;"));
        let meets = round.body.iter().any(Step::meets);
        let mask = self.mask.clone().filter(|_| meets).map(|mask| {
            let all = self.make(0);
            self.line(&format!("mov.b32 {all}, {mask};"));
            all
        });
        let (kept, seen) = (self.make(0), self.make(0));
        if round.kept.is_some() {
            self.line(&format!("mov.u32 {seen}, 0;"));
        }
        let known = self.known.clone();
        self.line(&format!("L{top}:"));
        let before = self.make(0);
        let now = self.make(0);
        if let Some((early, draws)) = &round.carried {
            let now_first = self.form("mad.lo.u32 I, I, I, I", draws, false);
            let (_, operands) = now_first.split_once(", ").expect("operands");
            let make = format!("mad.lo.u32 {now}, {operands};");
            let to = Self::rewritten(0, draws[4]);
            let skip = self.label();
            let using = format!(
                "setp.eq.u32 %q, {number}, 0;\n@%q bra L{skip};\nxor.b32 {to}, {to}, {before};\nL{skip}:"
            );
            let (first, second) = if *early { (using, make) } else { (make, using) };
            self.line(&first);
            self.line(&second);
            self.known[0].push(now.clone());
        }
        let best = self.make(0);
        if let Some(draws) = &round.kept {
            let from = self.word(draws[0]);
            self.line(&format!("add.s32 {best}, {from}, {number};"));
            self.known[0].push(best.clone());
        }
        // Lanes that leave early or skip would be waited for.
        let around = (!meets).then_some((next, end));
        self.inside(mask.clone(), around, &round.body);
        self.line(&format!("L{next}:"));
        if round.carried.is_some() {
            self.line(&format!("mov.b32 {before}, {now};"));
        }
        if let Some(draws) = &round.kept {
            let (a, b) = (self.word(draws[1]), self.word(draws[2]));
            self.line(&format!("setp.lt.s32 %q, {a}, {b};\n@%q mov.b32 {kept}, {best};"));
            self.line(&format!("@%q mov.u32 {seen}, 1;"));
        }
        self.known = known;
        let more = self.make(5);
        self.line(&format!(
            "add.s32 {number}, {number}, 1; setp.le.u32 {more}, {number}, {count};"
        ));
        if let Some(mask) = &mask {
            self.line(&format!("vote.sync.ballot.b32 {mask}, {more}, {mask};"));
        }
        self.line(&format!("@{more} bra L{top};\nL{end}:"));
        if let Some(draws) = &round.kept {
            let to = Self::rewritten(0, draws[3]);
            let skip = self.label();
            self.line(&format!("setp.eq.u32 %q, {seen}, 0;\n@%q bra L{skip};"));
            self.line(&format!("add.s32 {to}, {to}, {kept};\nL{skip}:"));
        }
    }

    fn switch(&mut self, index: u8, arms: &[Vec<Step>]) {
        let end = self.label();
        let labels: Vec<_> = arms.iter().map(|_| self.label()).collect();
        let names: Vec<_> = labels.iter().map(|label| format!("L{label}")).collect();
        let index = self.word(index);
        self.line(&format!(
            "and.b32 %n, {index}, 3;\nT{end}: .branchtargets {};",
            names.join(", ")
        ));
        self.line(&format!("brx.idx %n, T{end};"));
        for (label, arm) in labels.iter().zip(arms) {
            self.line(&format!("L{label}:"));
            self.inside(None, self.around, arm);
            self.line(&format!("bra L{end};"));
        }
        self.line(&format!("L{end}:"));
    }

    /// An element of an array whose address lies inside it, before it or behind it, until the
    /// instruction's offset is added.
    fn array(&mut self, array: &Array) {
        let (ty, bytes, registers) = ELEMENTS[usize::from(array.element) % ELEMENTS.len()];
        let index = self.word(array.index);
        let narrow = array.narrow && array.shared && !array.generic;
        let space = match (array.generic, array.shared) {
            (true, _) => "",
            (false, true) => ".shared",
            (false, false) => ".local",
        };
        self.line(&format!("and.b32 %n, {index}, {};", ARRAY / bytes - 1));
        let base = if array.shared { "arrays" } else { "array" };
        self.line(&format!("mov.b64 %b, {base};"));
        if array.shared {
            self.line(&format!("mad.wide.u32 %b, %tid, {ARRAY}, %b;"));
        }
        if array.generic {
            let from = if array.shared { "shared" } else { "local" };
            self.line(&format!("cvta.{from}.u64 %b, %b;"));
        }
        self.line(&format!("mul.wide.u32 %x, %n, {bytes};"));
        let (operation, further, offset) = match array.side % 4 {
            0 => ("add", 0, 0),
            1 => ("sub", 0, ARRAY - bytes),
            2 => ("add", 4096, 0),
            _ => ("sub", 64, ARRAY - bytes),
        };
        self.line(&format!("{operation}.s64 %b, %b, %x; {operation}.s64 %b, %b, {further};"));
        if narrow {
            self.line("cvt.u32.u64 %t, %b;");
        }
        let base = if narrow { "%t" } else { "%b" };
        let further = if operation == "add" { -further } else { further };
        let at = format!("[{base}+{}]", i64::from(offset) + further);
        let line = if array.store {
            let value = self.form(&format!("_ _, {registers}"), &array.draws, false);
            format!("st{space}.{ty} {at}, {};", &value["_ _, ".len()..])
        } else {
            format!(
                "{}, {at};",
                self.form(&format!("ld{space}.{ty} {registers}"), &array.draws, true)
            )
        };
        self.line(&line);
    }

    fn call(&mut self, function: u8, draws: &Draws, pointer: bool) {
        if self.functions == 0 {
            return;
        }
        let number = usize::from(function) % self.functions;
        let (a, b) = (self.word(draws[0]), self.word(draws[1]));
        let to = Self::rewritten(0, draws[2]);
        self.invoke(number, &a, &b, &to, pointer);
    }

    fn invoke(&mut self, number: usize, a: &str, b: &str, to: &str, pointer: bool) {
        let call = self.label();
        self.line(&format!("mov.b32 %t, {b};"));
        self.line("{ .param .b32 x; .param .b32 y; .param .b32 z;");
        self.line(&format!("st.param.b32 [x], {a}; st.param.b32 [y], %t;"));
        if pointer {
            self.line(&format!(
                "C{call}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);"
            ));
            self.line(&format!("mov.u64 %x, f{number};\ncall (z), %x, (x, y), C{call};"));
        } else {
            self.line(&format!("call.uni (z), f{number}, (x, y);"));
        }
        self.line(&format!("ld.param.b32 {to}, [z]; }}"));
    }

    /// A function that calls itself, as often as two bits of its second argument say.
    fn again(&mut self, number: usize) {
        let end = self.label();
        self.line("ld.param.b32 %t, [b]; and.b32 %t, %t, 3; setp.eq.u32 %q, %t, 0;");
        self.line(&format!("@%q bra L{end};\nadd.s32 %n, %t, -1;"));
        self.invoke(number, "%i1", "%n", "%i2", false);
        self.line(&format!("L{end}:"));
    }

    fn lanes(&mut self, which: u8, draws: &Draws) {
        let Some(mask) = self.mask.clone() else { return };
        let all = mask == "-1";
        let (from, p) = (self.word(draws[0]), self.read(5, draws[1]));
        let (to, q) = (Self::rewritten(0, draws[2]), Self::rewritten(5, draws[3]));
        let (by, width) = (draws[4] % 32, [0x1f, 0x181f, 0x1c1f][usize::from(draws[5]) % 3]);
        let text = match which % 10 {
            0 if all => format!("shfl.sync.bfly.b32 {to}|{q}, {from}, {by}, {width}, {mask};"),
            1 if all => format!("shfl.sync.down.b32 {to}|{q}, {from}, {by}, {width}, {mask};"),
            2 if all => {
                format!("shfl.sync.up.b32 {to}|{q}, {from}, {by}, {}, {mask};", width & 0x1f00)
            }
            3 if all => format!("shfl.sync.idx.b32 {to}|{q}, {from}, {from}, {width}, {mask};"),
            // From the highest lane that is here.
            0..=3 => format!(
                "bfind.u32 %n, {mask};\nshfl.sync.idx.b32 {to}|{q}, {from}, %n, 31, {mask};"
            ),
            4 => format!("vote.sync.ballot.b32 {to}, {p}, {mask};"),
            5 => format!("vote.sync.any.pred {q}, {p}, {mask};"),
            6 => format!("vote.sync.all.pred {q}, !{p}, {mask};"),
            7 => format!("vote.sync.uni.pred {q}, {p}, {mask};"),
            8 => format!("redux.sync.add.s32 {to}, {from}, {mask};"),
            _ => format!("redux.sync.max.s32 {to}, {from}, {mask};"),
        };
        self.line(&text);
    }
}

//! A random legal program gives the same bits on both compilations of every handler, on one host thread and
//! on eight, sanitized, and in any order of warps and blocks.
//!
//! A program is a list of steps over a few registers of each kind, which begin as mixtures of the
//! thread's number: arithmetic, branches that some lanes take, loops that lanes leave at different times,
//! exchanges between lanes and through shared memory. At the end every thread stores all its registers.

use emulator::{Config, LaunchConfig, Level, Machine};
use proptest::prelude::*;

const THREADS: u32 = 96;
const BLOCKS: u32 = 5;
/// Registers of each kind.
const EACH: usize = 6;
/// Words that a thread stores: its 32-bit registers, then the 64-bit ones.
const WORDS: usize = EACH * 6;

/// `D`, `A`, `B`, `C` are registers of the step's kind; `I` one of 32 bits, `F` a float, `W` a double.
const FORMS: [&str; 68] = [
    "add.s32 I, I, I",
    "sub.s32 I, I, I",
    "mul.lo.s32 I, I, I",
    "mul.hi.u32 I, I, I",
    "mad.lo.s32 I, I, I, I",
    "mul24.lo.s32 I, I, I",
    "sad.u32 I, I, I, I",
    "and.b32 I, I, I",
    "or.b32 I, I, I",
    "xor.b32 I, I, I",
    "not.b32 I, I",
    "shl.b32 I, I, I",
    "shr.u32 I, I, I",
    "shr.s32 I, I, I",
    "shf.l.wrap.b32 I, I, I, I",
    "shf.r.clamp.b32 I, I, I, I",
    "min.s32 I, I, I",
    "max.u32 I, I, I",
    "abs.s32 I, I",
    "neg.s32 I, I",
    "div.u32 I, I, I",
    "rem.s32 I, I, I",
    "popc.b32 I, I",
    "clz.b32 I, I",
    "brev.b32 I, I",
    "bfind.u32 I, I",
    "bfe.u32 I, I, I, I",
    "bfe.s32 I, I, I, I",
    "bfi.b32 I, I, I, I, I",
    "prmt.b32 I, I, I, I",
    "lop3.b32 I, I, I, I, 0x96",
    "lop3.b32 I, I, I, I, 0xca",
    "dp4a.s32.u32 I, I, I, I",
    "dp2a.lo.u32.s32 I, I, I, I",
    "add.f16x2 I, I, I",
    "fma.rn.f16x2 I, I, I, I",
    "max.bf16x2 I, I, I",
    "cvt.rn.f16x2.f32 I, F, F",
    "cvt.rn.bf16x2.f32 I, F, F",
    "cvt.rzi.s32.f32 I, F",
    "cvt.rni.sat.u32.f32 I, F",
    "mov.b32 I, F",
    "cvt.rn.f32.s32 F, I",
    "cvt.rz.f32.u32 F, I",
    "mov.b32 F, I",
    "add.rn.f32 F, F, F",
    "sub.rz.ftz.f32 F, F, F",
    "mul.rm.f32 F, F, F",
    "mul.rn.sat.f32 F, F, F",
    "fma.rn.f32 F, F, F, F",
    "fma.rp.ftz.f32 F, F, F, F",
    "div.rn.f32 F, F, F",
    "rcp.rn.f32 F, F",
    "sqrt.rn.f32 F, F",
    "min.f32 F, F, F",
    "max.NaN.f32 F, F, F",
    "abs.f32 F, F",
    "neg.ftz.f32 F, F",
    "ex2.approx.f32 F, F",
    "rsqrt.approx.f32 F, F",
    "tanh.approx.f32 F, F",
    "cvt.f64.f32 W, F",
    "cvt.rn.f32.f64 F, W",
    "add.rn.f64 W, W, W",
    "fma.rz.f64 W, W, W, W",
    "mul.rp.f64 W, W, W",
    "cvt.rn.f64.s32 W, I",
    "div.rn.f64 W, W, W",
];

#[derive(Clone, Debug)]
enum Step {
    /// A form and its registers.
    Do(usize, [u8; 5]),
    /// Lanes for which the comparison of two registers holds.
    If(u8, u8, Vec<Step>),
    /// As often as some bits of a register say.
    Loop(u8, Vec<Step>),
    /// Of all lanes: the register and the distance.
    Shuffle(u8, u8, u8),
    /// Through shared memory: each thread takes the word of another.
    Exchange(u8, u8, u8),
}

fn steps(depth: u32) -> impl Strategy<Value = Vec<Step>> {
    let form = (0..FORMS.len(), any::<[u8; 5]>()).prop_map(|(form, of)| Step::Do(form, of));
    let leaf = proptest::collection::vec(form, 1..8);
    leaf.prop_recursive(depth, 40, 5, |inner| {
        let step = prop_oneof![
            6 => (0..FORMS.len(), any::<[u8; 5]>()).prop_map(|(form, of)| Step::Do(form, of)),
            1 => (any::<u8>(), any::<u8>(), inner.clone()).prop_map(|(a, b, s)| Step::If(a, b, s)),
            1 => (any::<u8>(), inner).prop_map(|(a, s)| Step::Loop(a, s)),
        ];
        proptest::collection::vec(step, 1..10)
    })
}

/// Lanes meet between the parts only, so there they may exchange.
fn program() -> impl Strategy<Value = Vec<Step>> {
    let meeting = prop_oneof![
        any::<[u8; 3]>().prop_map(|[a, b, c]| Step::Shuffle(a, b, c)),
        any::<[u8; 3]>().prop_map(|[a, b, c]| Step::Exchange(a, b, c)),
    ];
    proptest::collection::vec((steps(3), meeting), 1..5).prop_map(|parts| {
        let together = |(mut steps, meeting): (Vec<Step>, Step)| {
            steps.push(meeting);
            steps
        };
        parts.into_iter().flat_map(together).collect()
    })
}

struct Writer {
    text: String,
    labels: usize,
}

fn of(kind: char, which: u8) -> String {
    format!("%{}{}", kind.to_ascii_lowercase(), usize::from(which) % EACH)
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text += "\n";
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Do(form, registers) => {
                    let mut next = registers.iter();
                    let (opcode, operands) = FORMS[*form].split_once(' ').expect("operands");
                    let named = operands.split(", ").map(|operand| match operand {
                        "I" | "F" | "W" => {
                            of(operand.chars().next().expect("a kind"), *next.next().expect("one"))
                        }
                        literal => literal.to_owned(),
                    });
                    let named: Vec<_> = named.collect();
                    // The sanitizer looks on, and division by zero has no meaning.
                    if let ("div.u32" | "rem.s32", [.., divisor]) = (opcode, named.as_slice()) {
                        self.line(&format!("or.b32 {divisor}, {divisor}, 1;"));
                    }
                    self.line(&format!("{opcode} {};", named.join(", ")));
                }
                Step::If(a, b, inner) => {
                    let label = self.label();
                    self.line(&format!("setp.lt.u32 %p, {}, {};", of('i', *a), of('i', *b)));
                    self.line(&format!("@%p bra L{label};"));
                    self.steps(inner);
                    self.line(&format!("L{label}:"));
                }
                Step::Loop(a, inner) => {
                    let label = self.label();
                    // Of its own, so that nothing in the loop changes it.
                    self.line(&format!(
                        "{{ .reg .b32 %n; .reg .pred %q; and.b32 %n, {}, 3;\nL{label}:",
                        of('i', *a)
                    ));
                    self.steps(inner);
                    self.line("add.s32 %n, %n, -1; setp.gt.s32 %q, %n, 0;");
                    self.line(&format!("@%q bra L{label}; }}"));
                }
                Step::Shuffle(a, b, by) => {
                    let (to, from, by) = (of('i', *a), of('i', *b), by % 32);
                    self.line(&format!("shfl.sync.bfly.b32 {to}, {from}, {by}, 31, -1;"));
                }
                Step::Exchange(a, b, by) => {
                    self.line(&format!("st.shared.b32 [%mine], {};\nbar.sync 0;", of('i', *b)));
                    let by = u32::from(*by) % THREADS;
                    self.line(&format!("add.u32 %t, %tid, {by}; rem.u32 %t, %t, {THREADS};"));
                    self.line("shl.b32 %t, %t, 2; mov.u32 %s, words; add.u32 %t, %s, %t;");
                    self.line(&format!("ld.shared.b32 {}, [%t];\nbar.sync 0;", of('i', *a)));
                }
            }
        }
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }
}

fn ptx(steps: &[Step]) -> String {
    let mut writer = Writer { text: String::new(), labels: 0 };
    writer.line(&format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n{{\n\
         .reg .b32 %i<{EACH}>, %tid, %t, %s, %mine, %at;\n.reg .f32 %f<{EACH}>;\n\
         .reg .f64 %w<{EACH}>;\n.reg .b64 %o, %x;\n.reg .pred %p;\n\
         .shared .align 4 .b8 words[{}];\n\
         mov.u32 %tid, %tid.x; mov.u32 %s, words; shl.b32 %t, %tid, 2; add.u32 %mine, %s, %t;\n\
         mov.u32 %t, %ctaid.x; mad.lo.u32 %at, %t, {THREADS}, %tid;",
        4 * THREADS
    ));
    for k in 0..EACH {
        writer.line(&format!(
            "mad.lo.u32 %i{k}, %at, {}, {}; mov.b32 %f{k}, %i{k}; cvt.rn.f64.s32 %w{k}, %i{k};",
            0x9e37_79b1u32.wrapping_mul(k as u32 + 1) | 1,
            0x85eb_ca6bu32.wrapping_mul(k as u32)
        ));
        // Floats of every size rather than huge ones only.
        writer.line(&format!("cvt.rn.f32.s32 %f{k}, %i{k}; mul.f32 %f{k}, %f{k}, 0f30000000;"));
    }
    writer.steps(steps);
    writer.line("ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;");
    writer.line(&format!("mul.wide.u32 %x, %at, {}; add.u64 %o, %o, %x;", 4 * WORDS));
    for k in 0..EACH {
        writer.line(&format!("st.global.b32 [%o+{}], %i{k};", 4 * k));
        writer.line(&format!("st.global.f32 [%o+{}], %f{k};", 4 * (EACH + k)));
        writer.line(&format!("st.global.f64 [%o+{}], %w{k};", 8 * (EACH + k)));
    }
    writer.line("ret;\n}");
    writer.text
}

fn run(text: &str, config: Config) -> Vec<u32> {
    let machine = Machine::new(config);
    let words = (BLOCKS * THREADS) as usize * WORDS;
    let out = machine.memory().allocate(4 * words as u64, "out").expect("room");
    let module = machine.load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [BLOCKS, 1, 1],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    if let Err(fault) = machine.launch(&launch, &out.to_le_bytes()) {
        panic!("{}\n{}\n{text}", fault.headline(), fault.details(&mut |_, _| None).join("\n"));
    }
    // SAFETY: the allocation above, which nothing writes any more.
    unsafe { std::slice::from_raw_parts(out as *const u32, words) }.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_bits_whichever_way(steps in program(), seed: u64) {
        let text = ptx(&steps);
        let usual = Config { threads: 1, ..Config::default() };
        let expected = run(&text, usual.clone());
        let level = |level| Config { level, ..usual.clone() };
        let levels = Level::all().iter().map(|&which| ("another level", level(which)));
        for (how, config) in levels.chain([
            ("eight threads", Config { threads: 8, ..usual.clone() }),
            ("not counting", Config { counting: false, ..usual.clone() }),
            ("sanitized", Config { sanitize: true, ..usual.clone() }),
            ("shuffled", Config { seed: Some(seed), ..usual.clone() }),
        ]) {
            let found = run(&text, config);
            let first = expected.iter().zip(&found).position(|(a, b)| a != b);
            prop_assert_eq!(first, None, "{}: word {:?} differs\n{}", how, first, text);
        }
    }
}

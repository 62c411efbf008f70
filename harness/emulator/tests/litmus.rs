//! Litmus tests of the PTX memory model (PTX ISA 8.9, 8.10): outcomes that it forbids do not appear, at any
//! scope. Threads are warps of a CTA, CTAs of a cluster, or CTAs of a grid on host threads of their own.
//!
//! ```text
//! SB    x = 1; fence.sc; r0 = y            y = 1; fence.sc; r1 = x            not r0 = r1 = 0
//! MP    x = 1; flag = 1 (release)          r0 = flag (acquire); r1 = x        not r0 = 1, r1 = 0
//! LB    r0 = x; fence.acq_rel; y = 1       r1 = y; fence.acq_rel; x = 1       not r0 = r1 = 1
//! IRIW  x = 1 | y = 1 | r0 = x; fence.sc; r1 = y | r2 = y; fence.sc; r3 = x   not 1, 0, 1, 0
//! CoRR  x = 1                              r0 = x; r1 = x                     not r0 = 1, r1 = 0
//! ```
//!
//! Each thread runs its part once a round, all threads begin a round together, and every round has words of
//! its own. What was read is kept in memory and judged at the end.

use emulator::{Config, LaunchConfig, Machine};

const ROUNDS: usize = 200;
/// Words of a round: a meeting place, x and y in cache lines of their own, and what was read.
const ROUND: usize = 64;
const X: usize = 16;
const Y: usize = 32;
const READ: usize = 48;

/// Who the threads of a test are.
#[derive(Clone, Copy, Debug)]
enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

impl Scope {
    const ALL: [Self; 4] = [Self::Cta, Self::Cluster, Self::Gpu, Self::Sys];

    fn word(self) -> &'static str {
        match self {
            Self::Cta => "cta",
            Self::Cluster => "cluster",
            Self::Gpu => "gpu",
            Self::Sys => "sys",
        }
    }

    /// Grid, threads of a block, and blocks of a cluster, for so many threads of the test.
    fn shape(self, threads: u32) -> (u32, u32, Option<[u32; 3]>) {
        match self {
            Self::Cta => (1, 32 * threads, None),
            Self::Cluster => (threads, 32, Some([threads, 1, 1])),
            Self::Gpu | Self::Sys => (threads, 32, None),
        }
    }
}

/// The parts of each thread, in which `{S}` is the scope, `X`, `Y` and `R0` … `R3` are words of the round.
type Parts = &'static [&'static str];

fn program(parts: Parts, scope: Scope) -> String {
    let place = |text: &str| {
        let mut text = text.replace("{S}", scope.word());
        for (name, word) in [("X", X), ("Y", Y)] {
            text = text.replace(&format!("[{name}]"), &format!("[%d2+{}]", 4 * word));
        }
        for index in 0..4 {
            let at = format!("[%d2+{}]", 4 * (READ + index));
            text = text.replace(&format!("[R{index}]"), &at);
        }
        text.split("; ").map(|line| format!("\t{line};\n")).collect::<String>()
    };
    let jump =
        |number: usize| format!("\tsetp.eq.u32 %p2, %r0, {number};\n\t@%p2 bra PART{number};\n");
    let jumps: String = (0..parts.len()).map(jump).collect();
    let bodies = parts.iter().enumerate();
    let bodies: String = bodies
        .map(|(number, part)| format!("PART{number}:\n{}\tbra NEXT;\n", place(part)))
        .collect();
    let count = parts.len();
    let who = match scope {
        Scope::Cta => "\tmov.u32 %r0, %tid.x;\n\tshr.u32 %r0, %r0, 5;\n",
        _ => "\tmov.u32 %r0, %ctaid.x;\n",
    };
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry kernel(.param .u64 a)\n{{\n\t.reg .pred %p<4>;\n\t.reg .b32 %r<12>;\n\
         \t.reg .b64 %d<4>;\n\tld.param.u64 %d2, [a];\n{who}\tmov.u32 %r1, %laneid;\n\
         \tsetp.ne.u32 %p0, %r1, 0;\n\t@%p0 ret;\n\tmov.u32 %r2, 0;\n\
         ROUND:\n\tatom.global.add.u32 %r3, [%d2], 1;\n\
         MEET:\n\tld.relaxed.gpu.global.u32 %r3, [%d2];\n\tsetp.lt.u32 %p1, %r3, {count};\n\
         \t@%p1 bra MEET;\n{jumps}\tbra NEXT;\n{bodies}\
         NEXT:\n\tadd.u64 %d2, %d2, {};\n\tadd.u32 %r2, %r2, 1;\n\tsetp.lt.u32 %p1, %r2, {ROUNDS};\n\
         \t@%p1 bra ROUND;\n\tret;\n}}\n",
        4 * ROUND
    )
}

/// What was read in each round.
fn run(parts: Parts, scope: Scope) -> Vec<[u32; 4]> {
    let machine = Machine::new(Config { threads: parts.len(), ..Config::default() });
    let bytes = 4 * (ROUND * ROUNDS) as u64;
    let a = machine.memory().allocate(bytes, "a").expect("room");
    let text = program(parts, scope);
    let module = machine.load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (grid, block, cluster) = scope.shape(parts.len() as u32);
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        cluster,
        cooperative: false,
    };
    if let Err(fault) = machine.launch(&launch, &a.to_le_bytes()) {
        panic!("{}\n{text}", fault.headline());
    }
    let at = std::ptr::with_exposed_provenance::<u32>(a as usize);
    // SAFETY: the allocation above, which nothing writes any more.
    let words = unsafe { std::slice::from_raw_parts(at, ROUND * ROUNDS) };
    words.chunks(ROUND).map(|round| std::array::from_fn(|index| round[READ + index])).collect()
}

/// No round of the test, at any scope, may end so.
fn never(parts: Parts, forbidden: impl Fn([u32; 4]) -> bool) {
    for scope in Scope::ALL {
        let rounds = run(parts, scope);
        let bad = rounds.iter().position(|&read| forbidden(read));
        assert_eq!(bad, None, "at scope {scope:?}: {:?}", bad.map(|round| rounds[round]));
    }
}

const SB: [Parts; 2] = [
    &[
        "st.relaxed.{S}.global.u32 [X], 1; fence.sc.{S}; ld.relaxed.{S}.global.u32 %r4, [Y]; \
         st.global.u32 [R0], %r4",
        "st.relaxed.{S}.global.u32 [Y], 1; fence.sc.{S}; ld.relaxed.{S}.global.u32 %r4, [X]; \
         st.global.u32 [R1], %r4",
    ],
    // As CUDA's `__threadfence_system` and volatile accesses are compiled.
    &[
        "st.volatile.u32 [X], 1; membar.sys; ld.volatile.u32 %r4, [Y]; st.global.u32 [R0], %r4",
        "st.volatile.u32 [Y], 1; membar.sys; ld.volatile.u32 %r4, [X]; st.global.u32 [R1], %r4",
    ],
];

#[test]
fn stores_are_seen_behind_a_sequentially_consistent_fence() {
    for parts in SB {
        never(parts, |[r0, r1, ..]| r0 == 0 && r1 == 0);
    }
}

const MP: [Parts; 3] = [
    &[
        "st.global.u32 [X], 1; st.release.{S}.global.u32 [Y], 1",
        "ld.acquire.{S}.global.u32 %r4, [Y]; ld.global.u32 %r5, [X]; st.global.u32 [R0], %r4; \
         st.global.u32 [R1], %r5",
    ],
    &[
        "st.global.u32 [X], 1; fence.acq_rel.{S}; st.relaxed.{S}.global.u32 [Y], 1",
        "ld.relaxed.{S}.global.u32 %r4, [Y]; fence.acq_rel.{S}; ld.global.u32 %r5, [X]; \
         st.global.u32 [R0], %r4; st.global.u32 [R1], %r5",
    ],
    // Through an atomic, and with vectors of which the last element tells.
    &[
        "st.global.u32 [X], 1; red.release.{S}.global.add.u32 [Y], 1",
        "ld.acquire.{S}.global.v2.u32 {%r4, %r6}, [Y]; ld.global.u32 %r5, [X]; \
         st.global.u32 [R0], %r4; st.global.u32 [R1], %r5",
    ],
];

#[test]
fn what_was_released_is_seen_by_who_acquires() {
    for parts in MP {
        never(parts, |[r0, r1, ..]| r0 == 1 && r1 == 0);
    }
}

const LB: Parts = &[
    "ld.relaxed.{S}.global.u32 %r4, [X]; fence.acq_rel.{S}; st.relaxed.{S}.global.u32 [Y], 1; \
     st.global.u32 [R0], %r4",
    "ld.relaxed.{S}.global.u32 %r4, [Y]; fence.acq_rel.{S}; st.relaxed.{S}.global.u32 [X], 1; \
     st.global.u32 [R1], %r4",
];

#[test]
fn loads_do_not_see_what_comes_behind_them() {
    never(LB, |[r0, r1, ..]| r0 == 1 && r1 == 1);
}

const IRIW: Parts = &[
    "st.relaxed.{S}.global.u32 [X], 1",
    "st.relaxed.{S}.global.u32 [Y], 1",
    "ld.relaxed.{S}.global.u32 %r4, [X]; fence.sc.{S}; ld.relaxed.{S}.global.u32 %r5, [Y]; \
     st.global.u32 [R0], %r4; st.global.u32 [R1], %r5",
    "ld.relaxed.{S}.global.u32 %r4, [Y]; fence.sc.{S}; ld.relaxed.{S}.global.u32 %r5, [X]; \
     st.global.u32 [R2], %r4; st.global.u32 [R3], %r5",
];

#[test]
fn readers_agree_on_the_order_of_independent_stores() {
    never(IRIW, |[r0, r1, r2, r3]| (r0, r1, r2, r3) == (1, 0, 1, 0));
}

const CORR: Parts = &[
    "st.relaxed.{S}.global.u32 [X], 1",
    "ld.relaxed.{S}.global.u32 %r4, [X]; ld.relaxed.{S}.global.u32 %r5, [X]; \
     st.global.u32 [R0], %r4; st.global.u32 [R1], %r5",
];

#[test]
fn a_place_never_goes_back_to_an_older_value() {
    never(CORR, |[r0, r1, ..]| r0 == 1 && r1 == 0);
}

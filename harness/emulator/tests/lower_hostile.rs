//! Lowering against programs nobody meant: lines of real PTX copied, dropped, their words exchanged, so
//! that most still parse. It may refuse them, and must not panic. `PROPTEST_CASES=100000` for longer.

use emulator::{Config, LaunchConfig, Level, Machine};
use proptest::prelude::*;
use proptest::sample::select;

const TEXTS: [&str; 8] = [
    include_str!("fixtures/small.100a.ptx"),
    include_str!("fixtures/inline.100a.ptx"),
    include_str!("fixtures/tensor.120a.ptx"),
    include_str!("fixtures/quantize.100a.ptx"),
    include_str!("fixtures/control.80.ptx"),
    include_str!("fixtures/system.ptx"),
    include_str!("ptx/pass/mbarrier_producer_consumer.ptx"),
    include_str!("ptx/pass/vector_atomics.ptx"),
];

#[derive(Clone, Debug)]
enum Mutation {
    Drop(usize),
    Copy(usize, usize),
    /// The word of a line, replaced by the word of another line.
    Word([usize; 4]),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<usize>();
    prop_oneof![
        1 => at.prop_map(Mutation::Drop),
        2 => (at, at).prop_map(|(from, to)| Mutation::Copy(from, to)),
        4 => [at, at, at, at].prop_map(Mutation::Word),
    ]
}

fn words(line: &str) -> Vec<&str> {
    let of_a_word = |c: char| c.is_ascii_alphanumeric() || "_%$.:".contains(c);
    line.split(|c| !of_a_word(c)).filter(|word| !word.is_empty()).collect()
}

fn mutate(lines: &mut Vec<String>, mutation: &Mutation) {
    let count = lines.len();
    match *mutation {
        Mutation::Drop(at) => drop(lines.remove(at % count)),
        Mutation::Copy(from, to) => lines.insert(to % count, lines[from % count].clone()),
        Mutation::Word([line, word, from, which]) => {
            let (old, new) = (words(&lines[line % count]), words(&lines[from % count]));
            if old.is_empty() || new.is_empty() {
                return;
            }
            let (old, new) = (old[word % old.len()], new[which % new.len()]);
            lines[line % count] = lines[line % count].replacen(old, new, 1);
        }
    }
}

fn lower_anything(text: &str) {
    for &level in Level::all() {
        let machine = Machine::new(Config { threads: 1, level, ..Config::default() });
        let Ok(module) = machine.load(text) else { return };
        for name in module.kernels() {
            assert!(module.kernel(name).is_some(), "{name} is there");
        }
    }
}

#[test]
fn what_no_gpu_has_room_for_is_refused() {
    for declaration in [
        ".reg .b16 %h<0x42000000>;",
        ".local .align 8 .b8 x[0xffffffffffff];",
        ".shared .b64 y[0x1fffffff];",
    ] {
        let text = format!(".version 9.0 .target sm_90 .entry f() {{ {declaration} ret; }}");
        let machine = Machine::new(Config { threads: 1, ..Config::default() });
        let kernel = machine.load(&text).expect("PTX").kernel("f").expect("a kernel");
        let (grid, block) = ([1; 3], [1; 3]);
        let launch = LaunchConfig {
            kernel,
            grid,
            block,
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        let fault = machine.launch(&launch, &[]).expect_err(declaration);
        let said = fault.headline();
        assert!(said.contains("than any GPU") || said.contains("too many registers"), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn mutated_programs_are_lowered_or_refused(
        text in select(TEXTS.to_vec()),
        mutations in proptest::collection::vec(mutation(), 1..6),
    ) {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for mutation in &mutations {
            mutate(&mut lines, mutation);
        }
        lower_anything(&lines.join("\n"));
    }
}

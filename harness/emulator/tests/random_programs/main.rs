//! Random legal programs: every way to run one gives the same bits, and those are the bits that a slow
//! evaluator finds.
//!
//! A program works on a few registers of each kind, which begin as mixtures of the thread's number:
//! arithmetic and carries, branches that some lanes take, loops that hand values from round to round and
//! that lanes leave at different times, switches, calls, recursion, arrays addressed from inside and from
//! outside, exchanges between lanes and through shared memory. At the end every thread stores all its
//! registers.
//!
//! The programs for the evaluator are numbered, and a number always gives the same program. One that is
//! computed wrongly is shrunk before it is shown. `NIBBLE_PROGRAMS=2000..9000` tries those numbers
//! instead of the first.

#[path = "../evaluator/mod.rs"]
mod evaluator;
mod forms;
mod step;
mod writer;

use std::ops::Range;

use emulator::{Config, LaunchConfig, Level, Machine};
use evaluator::Grid;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use step::Program;
use writer::{BLOCKS, BYTES, THREADS};

const LENGTH: usize = (BLOCKS * THREADS) as usize * BYTES;

fn run(text: &str, config: Config) -> Result<Vec<u8>, String> {
    let machine = Machine::new(config);
    let out = machine.memory().allocate(LENGTH as u64, "out").expect("room");
    let module = machine.load(text).map_err(|error| error.to_string())?;
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").ok_or("no kernel")?,
        grid: [BLOCKS, 1, 1],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    machine.launch(&launch, &out.to_le_bytes()).map_err(|fault| {
        format!("{}\n{}", fault.headline(), fault.details(&mut |_, _| None).join("\n"))
    })?;
    // SAFETY: the allocation above, which nothing writes any more.
    Ok(unsafe { std::slice::from_raw_parts(out as *const u8, LENGTH) }.to_vec())
}

/// All ways to run a program, with a name each.
fn ways(seed: u64) -> Vec<(String, Config)> {
    let usual = Config { threads: 1, memory: 1 << 30, ..Config::default() };
    let level = |&level: &Level| (format!("{level:?}"), Config { level, ..usual.clone() });
    let others = [
        ("eight threads", Config { threads: 8, ..usual.clone() }),
        ("not counting", Config { counting: false, ..usual.clone() }),
        ("sanitized", Config { sanitize: true, ..usual.clone() }),
        ("shuffled", Config { seed: Some(seed), ..usual.clone() }),
    ];
    let others = others.map(|(name, config)| (name.to_owned(), config));
    Level::all().iter().map(level).chain(others).collect()
}

/// Where the first byte differs, if any does.
fn difference(expected: &[u8], found: &[u8]) -> Option<String> {
    let at = expected.iter().zip(found).position(|(a, b)| a != b)?;
    Some(format!("thread {}, byte {}", at / BYTES, at % BYTES))
}

/// How many instructions the evaluator took, or what is wrong.
fn agrees(program: &Program, seed: u64) -> Result<u64, String> {
    let text = writer::ptx(program, forms::EXACT);
    let mut expected = vec![0; LENGTH];
    let grid = Grid { text: &text, kernel: "kernel", blocks: BLOCKS, threads: THREADS };
    let steps = grid.run(&mut expected).map_err(|error| format!("evaluator: {error}\n{text}"))?;
    for (way, config) in ways(seed) {
        let found = run(&text, config).map_err(|error| format!("{way}: {error}\n{text}"))?;
        if let Some(place) = difference(&expected, &found) {
            return Err(format!("{way}: {place} is wrong\n{text}"));
        }
    }
    Ok(steps)
}

fn numbered(seed: u64) -> impl ValueTree<Value = Program> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    step::program().new_tree(&mut runner).expect("a program")
}

/// The smallest program found that still fails, and how.
fn shrink(mut tree: impl ValueTree<Value = Program>, mut failure: String, seed: u64) -> String {
    while tree.simplify() {
        loop {
            match agrees(&tree.current(), seed) {
                Err(smaller) => failure = smaller,
                Ok(_) if tree.complicate() => continue,
                Ok(_) => return failure,
            }
            break;
        }
    }
    failure
}

fn programs() -> Option<Range<u64>> {
    let said = std::env::var("NIBBLE_PROGRAMS").ok()?;
    let (first, end) = said.split_once("..").expect("a range of numbers");
    Some(first.parse().expect("a number")..end.parse().expect("a number"))
}

#[test]
fn the_evaluator_agrees_about_ten_million_instructions() {
    let range = programs();
    let mut steps = 0;
    for seed in range.clone().unwrap_or(0..u64::MAX) {
        let tree = numbered(seed);
        match agrees(&tree.current(), seed) {
            Ok(more) => steps += more,
            Err(failure) => panic!("program {seed}: {}", shrink(tree, failure, seed)),
        }
        if range.is_none() && steps > 10_000_000 {
            break;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_bits_whichever_way(program in step::program(), seed: u64) {
        let forms = [forms::EXACT, forms::OTHER].concat();
        let text = writer::ptx(&program, &forms);
        let mut expected = None;
        for (way, config) in ways(seed) {
            let found = match run(&text, config) {
                Ok(found) => found,
                Err(error) => panic!("{way}: {error}\n{text}"),
            };
            let first = expected.get_or_insert_with(|| found.clone());
            prop_assert_eq!(difference(first, &found), None, "{}\n{}", way, text);
        }
    }
}

//! `generate SECONDS [SEED]`: random programs until the time is over or one is computed wrongly, which is
//! then shrunk and shown as source. `generate keep FOLDER SEED…`: small programs for `tests/fixed.rs`. `generate source SEED`: the
//! program itself, for `nibble run` or a GPU.
#![expect(clippy::print_stdout, reason = "a tool of its own, whose output is for people")]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use programs::{BuildError, Compiler, Kept, Program, VARIANTS, Variant, program, source, try_ptx};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Functions of a program: many, since starting the compilers takes most of the time.
const FUNCTIONS: usize = 12;
/// Functions of a program that is kept.
const KEPT: usize = 2;
/// Smaller programs that are tried in place of one that failed.
const ATTEMPTS: usize = 400;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let numbers = |texts: &[String]| -> Option<Vec<u64>> {
        texts.iter().map(|text| text.parse().ok()).collect()
    };
    let done = match arguments.as_slice() {
        [keep, folder, seeds @ ..] if keep == "keep" => {
            numbers(seeds).map(|seeds| keep_programs(Path::new(folder), &seeds))
        }
        [word, seed] if word == "source" => seed.parse().ok().map(|seed| {
            println!("{}", source(&drawn(seed, FUNCTIONS).current()));
            Ok(ExitCode::SUCCESS)
        }),
        other => match numbers(other).as_deref() {
            Some(&[seconds]) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Some(generate(Duration::from_secs(seconds), now.as_nanos() as u64 >> 16))
            }
            Some(&[seconds, seed]) => Some(generate(Duration::from_secs(seconds), seed)),
            _ => None,
        },
    };
    let Some(done) = done else {
        println!(
            "usage: generate SECONDS [SEED]\n       generate keep FOLDER SEED...\n       generate source SEED"
        );
        return ExitCode::from(2);
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            println!("{error}");
            ExitCode::from(3)
        }
    }
}

fn generate(time: Duration, first: u64) -> Result<ExitCode, BuildError> {
    let compiler = Compiler::find()?;
    let (start, mut functions, mut seed) = (Instant::now(), 0, first);
    while start.elapsed() < time {
        let tree = drawn(seed, FUNCTIONS);
        let variant = &VARIANTS[seed as usize % VARIANTS.len()];
        if let Err(failure) = attempt(&compiler, &tree.current(), variant, seed) {
            println!("seed {seed}, {} {:?}: {failure}", variant.arch, variant.flags);
            println!("shrinking it takes some minutes");
            let (smallest, failure) = shrink(&compiler, tree, failure, variant, seed);
            let text = source(&smallest);
            let own = text.split_once("\nHD u64 f0").map_or("", |(_, own)| own);
            println!("{failure}\n\nHD u64 f0{own}");
            return Ok(ExitCode::FAILURE);
        }
        functions += FUNCTIONS;
        seed += 1;
    }
    println!("seeds {first} to {}: {functions} functions, none wrong", seed - 1);
    Ok(ExitCode::SUCCESS)
}

fn keep_programs(folder: &Path, seeds: &[u64]) -> Result<ExitCode, BuildError> {
    let compiler = Compiler::find()?;
    for &seed in seeds {
        let variant = &VARIANTS[seed as usize % VARIANTS.len()];
        let text = source(&drawn(seed, KEPT).current());
        let build = compiler.build(&text, variant)?;
        let kept =
            Kept { capability: variant.capability, expected: build.expected, ptx: &build.ptx };
        let path = folder.join(format!("{seed}_{}.ptx", variant.arch));
        std::fs::write(path, kept.write())
            .map_err(|error| BuildError::Start { what: "the folder", error })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn drawn(seed: u64, functions: usize) -> impl ValueTree<Value = Program> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    program(functions).new_tree(&mut runner).expect("nothing is filtered out")
}

/// Compile and run a program, and say what is wrong with it.
fn attempt(
    compiler: &Compiler,
    program: &Program,
    variant: &Variant,
    seed: u64,
) -> Result<(), String> {
    let build = compiler.build(&source(program), variant).map_err(|error| error.to_string())?;
    try_ptx(&build.ptx, &build.expected, variant.capability, seed)
        .map_err(|mistake| mistake.to_string())
}

/// The smallest program that still fails, and how it does.
fn shrink(
    compiler: &Compiler,
    mut tree: impl ValueTree<Value = Program>,
    mut failure: String,
    variant: &Variant,
    seed: u64,
) -> (Program, String) {
    let mut smallest = tree.current();
    let mut attempts = 0;
    while attempts < ATTEMPTS && tree.simplify() {
        loop {
            attempts += 1;
            let candidate = tree.current();
            match attempt(compiler, &candidate, variant, seed) {
                Err(smaller) => (smallest, failure) = (candidate, smaller),
                Ok(()) if tree.complicate() => continue,
                Ok(()) => return (smallest, failure),
            }
            break;
        }
    }
    (smallest, failure)
}

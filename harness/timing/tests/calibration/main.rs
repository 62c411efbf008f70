//! The model, held to what an H200 took for the calibration set, always by problem left out.
//!
//! The problems are in two halves. The figures are fitted to the calls of one half and to those that belong
//! to no problem, and the other half is predicted with them; then the other way round. What the predictions
//! come to stands in docs/measuring.md, and a test compares. No clock is read here, nothing is compiled, and nothing is drawn by chance.
//!
//! `NIBBLE_BLESS=1` writes the table, and the figures that nibble uses (`src/h200.toml`), which are fitted to
//! everything.

mod call;
mod fit;
mod half;
mod held_out;

use std::{env, fs, path::PathBuf};

use call::Call;
use half::Half;
use timing::gpus::{self, Gpu};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn h200() -> Gpu {
    gpus::for_arch("sm_90a").expect("an H200 in gpus.toml").clone()
}

fn modelled(gpu: &Gpu, calls: &[Call]) -> Vec<f64> {
    calls.iter().map(|call| call.modelled(gpu)).collect()
}

/// Each call of a problem with the figures that were fitted without its problem.
fn predicted(calls: &[Call]) -> Vec<(&Call, f64)> {
    let predict = |half: Half| {
        let known: Vec<&Call> =
            calls.iter().filter(|call| Half::of(&call.family) != Some(half)).collect();
        let gpu = fit::fitted(&h200(), &known);
        let left_out = calls.iter().filter(move |call| Half::of(&call.family) == Some(half));
        left_out.map(move |call| (call, call.modelled(&gpu)))
    };
    predict(Half::Quantizers).chain(predict(Half::Others)).collect()
}

/// The table is the first text block under this heading.
const HEADING: &str = "### What it is good for";

/// docs/measuring.md up to its table, the table, and the rest.
fn documented(text: &str) -> [&str; 3] {
    const FENCE: &str = "```";
    let heading = text.find(HEADING).unwrap();
    let open = heading + text[heading..].find(FENCE).unwrap();
    let begin = open + text[open..].find('\n').unwrap() + 1;
    let end = begin + text[begin..].find(FENCE).unwrap();
    [&text[..begin], &text[begin..end], &text[end..]]
}

#[test]
fn problems_left_out_come_out_as_documented() {
    let calls = call::all();
    let report = held_out::report(&predicted(&calls));
    let file_of_docs = file("../../docs/measuring.md");
    let text = fs::read_to_string(&file_of_docs).unwrap();
    let [before, table, after] = documented(&text);
    if env::var_os("NIBBLE_BLESS").is_some() {
        fs::write(file_of_docs, [before, &report, after].concat()).unwrap();
        return;
    }
    assert_eq!(report, table);
}

/// What `compare` calls by the model, it calls right in nineteen of twenty.
#[test]
fn what_the_model_tells_apart_is_in_order() {
    let calls = call::all();
    let (_, (right, all)) = held_out::by_ratio(&predicted(&calls));
    assert!(f64::from(right) >= 0.95 * f64::from(all), "{right} of {all}");
}

/// As it was seen on an H200 and a B200: vectors beat a warp for each block, and that beats a thread.
#[test]
fn the_ladder_keeps_its_order_on_every_gpu() {
    let calls = call::all();
    for gpu in gpus::all() {
        let micros = |rung: &str| {
            let name = format!("mxfp4_quantize/rung {rung} 4096x8192");
            calls.iter().find(|call| call.name == name).expect("a rung").modelled(gpu)
        };
        let ladder = [
            micros("01_thread_per_block"),
            micros("02_warp_per_block"),
            micros("03_four_lanes_vectorized"),
        ];
        assert!(ladder.is_sorted_by(|slow, fast| slow > fast), "{}: {ladder:?}", gpu.name);
    }
}

/// The figures that nibble uses are those that the fit finds: nobody has changed one by hand.
#[test]
fn the_figures_are_the_fitted_ones() {
    let calls = call::all();
    let all: Vec<&Call> = calls.iter().collect();
    let fitted = fit::fitted(&h200(), &all);
    if env::var_os("NIBBLE_BLESS").is_some() {
        fs::write(file("src/h200.toml"), fit::text(&fitted)).unwrap();
        return;
    }
    let (mine, fitted) = (modelled(&h200(), &calls), modelled(&fitted, &calls));
    for ((call, mine), fitted) in calls.iter().zip(mine).zip(fitted) {
        assert!((mine / fitted - 1.0).abs() < 0.005, "{}: {mine} and {fitted}", call.name);
    }
}

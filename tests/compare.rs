//! `nibble compare A B`

use crate::support::{Nibble, ON_MOCK, mock};

/// 1 % noise, 1 % drift a thousand samples, 1 % spikes: `other.cu` takes 1 % longer than `one.cu`.
fn noisy(arguments: &[&str], seed: u32) -> Nibble {
    let solution = |file: &str, us: f64| {
        format!(
            "[[solution]]\nfile = \"{file}\"\ntime_us = {us}\nnoise = 0.01\ndrift = 0.01\nspikes = 0.01\n"
        )
    };
    let script = format!(
        "name = \"Noisy GPU\"\narch = \"sm_100a\"\nseed = {seed}\n{}{}",
        solution("one.cu", 200.0),
        solution("other.cu", 202.0)
    );
    Nibble::new(["compare", "--device", "mock:noisy.toml", "--problem", "mxfp4_quantize"])
        .args(["--seed", &seed.to_string()])
        .args(arguments)
        .file("noisy.toml", script)
        .file("one.cu", "// one\n")
        .file("other.cu", "// other\n")
}

/// How often the verdict was each word. A thousand runs of the statistics alone are in the
/// leaderboard's own tests; this is the way from the command line to them.
fn calls(arguments: &[&str], runs: u32) -> std::collections::BTreeMap<String, u32> {
    let mut calls = std::collections::BTreeMap::new();
    for seed in 0..runs {
        let object = noisy(arguments, seed).args(["--json"]).run().code(0).json().remove(0);
        let call = object["geomean"]["call"].as_str().expect("a word").to_owned();
        *calls.entry(call).or_default() += 1;
    }
    calls
}

#[test]
fn a_against_itself_is_the_same() {
    let calls = calls(&["one.cu", "one.cu"], 20);
    assert!(calls.get("same").is_some_and(|same| *same >= 19), "{calls:?}");
}

#[test]
fn one_per_cent_is_seen_both_ways() {
    let slower = calls(&["one.cu", "other.cu"], 10);
    assert_eq!(slower.get("slower"), Some(&10), "{slower:?}");
    let faster = calls(&["other.cu", "one.cu"], 10);
    assert_eq!(faster.get("faster"), Some(&10), "{faster:?}");
}

#[test]
fn the_screen_of_a_measured_one() {
    let run = noisy(&["one.cu", "other.cu"], 7).run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

/// Wild noise and few pairs: the interval allows anything.
#[test]
fn what_cannot_be_told_is_unclear() {
    let script = "name = \"Wild GPU\"\narch = \"sm_100a\"\nseed = 3\n\
                  [[solution]]\ntime_us = 200.0\nnoise = 0.2\n";
    let nibble = noisy(&["one.cu", "other.cu", "--pairs", "6"], 1).file("noisy.toml", script);
    let run = nibble.run().code(0).fits();
    run.stdout_contains("UNCLEAR which is faster").stdout_contains("--pairs 18");
}

#[test]
fn an_attempt_against_a_file() {
    let nibble = mock(["submit", "slow.cu", "-m", "the obvious way"]);
    let id = nibble.run().code(0).attempts[0].tail().to_owned();
    let nibble = nibble.again(["compare", &id, "fast.cu"]).args(ON_MOCK);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
    let object = &nibble.args(["--json"]).run().code(0).json()[0];
    assert!(object["a"]["attempt"].as_str().is_some_and(|found| found.ends_with(&id)));
    assert!(object["b"]["attempt"].is_null());
    assert_eq!(object["sizes"][0]["effect"]["relative"], -0.7333333333333334);
}

#[test]
fn scripts_ask_with_the_exit_code() {
    for (arguments, code) in [
        (["fast.cu", "slow.cu", "slower"], 1),
        (["slow.cu", "fast.cu", "slower"], 0),
        (["fast.cu", "fast.cu", "slower"], 0),
        (["fast.cu", "fast.cu", "not-faster"], 1),
        (["slow.cu", "fast.cu", "not-faster"], 0),
    ] {
        let [a, b, verdict] = arguments;
        mock(["compare", a, b, "--fail-if", verdict]).run().code(code);
    }
}

/// Its times are the model's, and so exact: no intervals, and the counters that explain them.
#[test]
fn two_rungs_on_the_emulator() {
    let rung = |name: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/solutions/mxfp4_quantize/");
        std::fs::read_to_string(format!("{path}{name}")).expect("a rung")
    };
    let nibble = Nibble::new(["compare", "--device", "emulator"])
        .args(["mxfp4_quantize/a.cu", "mxfp4_quantize/b.cu"])
        .file("mxfp4_quantize/a.cu", rung("01_thread_per_block.cu"))
        .file("mxfp4_quantize/b.cu", rung("03_four_lanes_vectorized.cu"));
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn what_was_not_accepted_is_not_timed() {
    let run = mock(["compare", "fast.cu", "wrong.cu"]).run().code(1).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
    let object = &mock(["compare", "broken.cu", "fast.cu", "--json"]).run().code(1).json()[0];
    assert_eq!(object["a"]["report"]["verdict"], "compile_error");
    assert!(object["geomean"].is_null());
}

#[test]
fn bad_input() {
    let run = |arguments: &[&str]| mock(["compare"]).args(arguments).run().stdout_is_empty().fits();
    let neither = run(&["fast.cu", "zz"]).code(2);
    insta::assert_snapshot!(neither.screen());
    run(&["fast.cu", "missing.cu"]).code(2).stderr_contains("there is no file missing.cu");
    run(&["fast.cu", "."]).code(2).stderr_contains("is a folder, not a solution");
    Nibble::new(["compare", "fast.cu", "slow.cu", "--pairs", "3"])
        .run()
        .code(2)
        .stderr_contains("3 is not in 6..=1000");
}

#[test]
fn two_problems_and_two_architectures() {
    let nibble = Nibble::new(["compare", "a.cu", "b.cu", "--device", "mock:gpu.toml"])
        .file("gpu.toml", "name = \"G\"\narch = \"sm_100a\"\n[[solution]]\ntime_us = 1.0\n")
        .file("a.cu", "//! problem = \"mxfp4_quantize\"\n")
        .file("b.cu", "//! problem = \"mxfp4_dequantize\"\n");
    let run = nibble.run().code(2).stdout_is_empty().fits();
    run.stderr_contains("A solves mxfp4_quantize and B solves mxfp4_dequantize");
}

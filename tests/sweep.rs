//! `nibble sweep FILE -D NAME=VALUES`

use leaderboard::Store;

use crate::support::{Nibble, mock};

const TILED: &str = "#ifndef TILE\n#define TILE 64\n#endif\n#ifndef STAGES\n#define STAGES 2\n#endif\n\
                     int tile = TILE, stages = STAGES;\n";

/// A GPU on which a larger tile is faster, more stages are, and both together do not fit.
fn tiled(arguments: &[&str]) -> Nibble {
    let mut script = "name = \"Scripted GPU\"\narch = \"sm_100a\"\nseed = 7\n".to_owned();
    for (tile, stages, time) in
        [(64, 2, 80.0), (64, 3, 60.0), (64, 4, 50.0), (128, 2, 60.0), (128, 3, 40.0)]
    {
        script.push_str(&format!(
            "[[solution]]\nvalues = {{ TILE = \"{tile}\", STAGES = \"{stages}\" }}\ntime_us = {time:?}\n"
        ));
    }
    script.push_str(
        "[[solution]]\nvalues = { TILE = \"128\", STAGES = \"4\" }\nverdict = \"compile_error\"\n\
         message = \"ptxas error: k uses too much shared data\"\ntime_us = 1.0\n",
    );
    Nibble::new(["sweep", "k.cu", "--device", "mock:gpu.toml", "--problem", "mxfp4_quantize"])
        .args(arguments)
        .file("gpu.toml", script)
        .file("k.cu", TILED)
}

const AXES: [&str; 4] = ["-D", "TILE=64,128", "-D", "STAGES=2..4"];

#[test]
fn every_combination_by_time_and_what_each_value_did() {
    // Recorded one after the other, so that ids have an order.
    let nibble = tiled(&AXES).args(["-j", "1"]);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
    let store = Store::at(nibble.path().join("leaderboard"));
    let attempts = store.read(None).expect("a leaderboard").attempts;
    assert_eq!(attempts.len(), 6, "one for each variant, the one that failed too");
    let fastest = attempts.iter().min_by(|a, b| {
        let us = |one: &leaderboard::Summary| one.geomean.map_or(f64::INFINITY, |time| time.us);
        us(a).total_cmp(&us(b))
    });
    let fastest = fastest.expect("some");
    assert_eq!(fastest.values["TILE"], "128");
    assert_eq!(fastest.values["STAGES"], "3");
    assert_eq!(fastest.facts.flags, ["-DSTAGES=3", "-DTILE=128"]);
    // Again by its id: with the same values.
    let id = fastest.id.as_str();
    let object = &nibble.beside(&["bench", id, "--device", "mock:gpu.toml", "--json"]).json()[0];
    assert_eq!(object["values"]["TILE"], "128");
    assert_eq!(object["geomean_us"], 40.0);
    // Where only a source can be taken, the values are in it.
    let tensara = nibble.beside(&["export", id, "--to", "tensara"]).code(0);
    assert!(tensara.stdout.contains("#define STAGES 3\n#define TILE 128\n"), "{}", tensara.stdout);
    let board = nibble.beside(&["leaderboard", "--json"]).json();
    assert_eq!(board[0]["rows"].as_array().expect("rows").len(), 1, "one solution");
}

#[test]
fn only_the_best_is_recorded_or_nothing() {
    for (which, count) in [("best", 1), ("none", 0), ("all", 6)] {
        let nibble = tiled(&AXES).args(["--submit", which, "--json"]);
        let run = nibble.run().code(0);
        assert_eq!(run.attempts.len(), count, "{which}");
        let object = &run.json()[0];
        assert_eq!(object["best"].is_string(), count > 0);
        assert_eq!(object["variants"][0]["values"]["STAGES"], "3");
        assert_eq!(object["variants"][5]["verdict"], "compile_error");
        assert_eq!(object["effects"][0]["name"], "TILE");
        assert_eq!(object["effects"][0]["balanced"], 2);
    }
}

#[test]
fn a_sweep_that_was_killed_goes_on() {
    let nibble = tiled(&AXES).args(["--quiet"]);
    nibble.start().kill();
    nibble.run().code(0);
    let store = Store::at(nibble.path().join("leaderboard"));
    assert_eq!(store.read(None).expect("a leaderboard").attempts.len(), 6);
}

#[test]
fn nothing_that_works() {
    let run = tiled(&["-D", "TILE=128", "-D", "STAGES=4"]).run().code(1).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn bad_input() {
    let run = |arguments: &[&str]| tiled(arguments).run().code(2).stdout_is_empty().fits();
    tiled(&[]).run().code(2).stdout_is_empty().stderr_contains("-D <NAME=VALUES>");
    run(&["-D", "TILE"]).stderr_contains("`TILE` has no values");
    run(&["-D", "TILE=9..2"]).stderr_contains("`9..2` is no range");
    run(&["-D", "TILE=1", "-D", "TILE=2"]).stderr_contains("TILE is given twice");
    run(&["-D", "A=1"]).stderr_contains("k.cu: it does not say A");
    run(&["-D", "TILE=1..99", "-D", "STAGES=1..99"]).stderr_contains("more than 4096");
    let fixed = tiled(&["-D", "TILE=1,2"]).file("k.cu", "#define TILE 64\n");
    let fixed = fixed.run().code(2).stdout_is_empty().fits();
    fixed.stderr_contains("it defines TILE itself in line 1").stderr_contains("put #ifndef TILE");
    mock(["sweep", "missing.cu", "-D", "A=1"]).run().code(2).stderr_contains("there is no file");
}

/// What nvcc and the emulator make of it.
#[test]
fn macros_reach_the_compiler() {
    let rung =
        concat!(env!("CARGO_MANIFEST_DIR"), "/solutions/mxfp4_quantize/01_thread_per_block.cu");
    let source = std::fs::read_to_string(rung).expect("a rung");
    let nibble = Nibble::new(["sweep", "mxfp4_quantize/k.cu", "--device", "emulator", "--json"])
        .args(["-D", "FAST=0,1", "--submit", "none"])
        .file("mxfp4_quantize/k.cu", format!("{source}\n#if FAST\n#error not yet\n#endif\n"));
    let object = &nibble.run().code(0).json()[0];
    assert_eq!(object["variants"][0]["values"]["FAST"], "0");
    assert_eq!(object["variants"][0]["verdict"], "accepted");
    let reason = object["variants"][1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("not yet"), "{reason}");
}

//! `nibble reference PROBLEM --input NAME=FILE … -o DIR`

use std::{fs, path::Path};

use problems::npy;

use crate::support::Nibble;

fn golden(problem: &str, name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("problems").join(problem);
    fs::read(root.join("golden").join(name).with_extension("npy")).expect(name)
}

/// The data that NumPy wrote, and what it says that a right solution writes.
fn gemv() -> Nibble {
    let inputs = ["a", "b", "sfa", "sfb", "sfa_blocked", "sfb_blocked"];
    let nibble = Nibble::new(["reference", "nvfp4_gemv", "-o", "out"]);
    inputs.iter().fold(nibble, |nibble, name| {
        let typed = format!("{name}=data/{name}.npy");
        let file = golden("nvfp4_gemv", &format!("full_{name}"));
        nibble.args(["--input", &typed]).file(&format!("data/{name}.npy"), file)
    })
}

#[test]
fn it_writes_what_is_expected() {
    let nibble = gemv();
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
    let written = fs::read(nibble.path().join("out/c.npy")).expect("written");
    let expected = npy::read(&golden("nvfp4_gemv", "full_c"));
    assert_eq!(npy::read(&written), expected);
}

#[test]
fn programs_are_told_what_was_written() {
    let object = &gemv().args(["--json"]).run().code(0).json()[0];
    assert_eq!(object["sizes"], serde_json::json!({ "m": 128, "k": 256, "l": 1 }));
    assert_eq!(object["outputs"][0]["file"], "out/c.npy");
    assert_eq!(object["outputs"][0]["shape"], serde_json::json!([1, 128, 1]));
}

#[test]
fn every_mistake_says_what_to_do() {
    let scalar = golden("nvfp4_quantize", "16x16_global_sf");
    let quantize = || {
        Nibble::new(["reference", "nvfp4_quantize", "-o", "out"])
            .file("x.npy", golden("nvfp4_quantize", "16x16_x_f16"))
            .file("short.npy", &golden("nvfp4_quantize", "16x16_x_f16")[..200])
            .file("floats.npy", &scalar)
            .file("taken", "")
    };
    let mut screens = String::new();
    for arguments in [
        &[][..],
        &["--input", "x.npy"],
        &["--input", "a=nowhere.npy"],
        &["--input", "a=short.npy"],
        &["--input", "a=floats.npy"],
        &["--input", "a=x.npy"],
        &["--input", "a=x.npy", "--scalar", "sf_g=much"],
        &["--input", "a=x.npy", "--input", "b=x.npy"],
        &["--input", "a=x.npy", "--scalar", "sf_g=1", "-o", "taken/out"],
    ] {
        let arguments: Vec<&str> = arguments.to_vec();
        let nibble = if arguments.contains(&"-o") {
            quantize().again(["reference", "nvfp4_quantize"])
        } else {
            quantize()
        };
        let run = nibble.args(&arguments).run().code(2).stdout_is_empty().fits();
        screens.push_str(&format!("$ {}\n{}\n", arguments.join(" "), run.screen()));
    }
    insta::assert_snapshot!(screens);
}

//! What programs read: the fields and types of every verb's object. `docs/json.md` describes them,
//! and a field that goes away breaks somebody's script.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Made, Nibble, mock};

/// The fields of an object, one a line, with their types; lists show their first element.
fn shape(name: &str, value: &Value) -> String {
    let mut lines = BTreeMap::new();
    describe("", value, &mut lines);
    // Of a pair, `b` is like `a`.
    lines.retain(|path, _| !path.starts_with("b."));
    let lines: Vec<String> =
        lines.into_iter().map(|(path, ty)| format!("  {path}: {ty}\n")).collect();
    format!("{name}\n{}", lines.concat())
}

fn describe(path: &str, value: &Value, lines: &mut BTreeMap<String, &'static str>) {
    let ty = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(elements) => {
            match elements.first() {
                Some(first) => describe(&format!("{path}[]"), first, lines),
                None => {
                    lines.insert(format!("{path}[]"), "empty");
                }
            }
            return;
        }
        // What is counted is the emulator's business, and grows.
        Value::Object(_) if path.ends_with("launches[].counters") => "object",
        Value::Object(fields) => {
            for (name, field) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                describe(&format!("{path}{dot}{name}"), field, lines);
            }
            return;
        }
    };
    lines.insert(path.to_owned(), ty);
}

#[test]
fn every_verb_has_its_fields() {
    let nibble = Nibble::new(["list", "--json"]).file("k.cu", "//! problem = \"mxfp4_quantize\"\n");
    let folder = nibble.path();
    let first = Made::accepted("k.cu", 40.0).hours_old(3).record(&folder);
    let second = Made::accepted("k.cu", 4.0).message("128-bit loads").registers(64);
    let second = second.after(&first.id).hours_old(2).record(&folder);
    Made::wrong("k.cu").after(&second.id).hours_old(1).record(&folder);
    let id = second.id.as_str();
    let mut text = String::new();
    let mut nibble = nibble;
    for verb in [
        &["list"][..],
        &["show", "mxfp4_quantize"],
        &["new", "mxfp4_quantize", "mine", "--from", "01"],
        &["leaderboard"],
        &["leaderboard", "verify"],
        &["history"],
        &["attempt", id],
        &["diff", id],
        &["export", id, "--to", "tensara"],
        &["import", "k.cu"],
        &["attempt", "zz"],
    ] {
        nibble = nibble.again(verb).args(["--json"]);
        let objects = nibble.run().json();
        text.push_str(&shape(&verb[..verb.len().min(2)].join(" ").replace(id, "ID"), &objects[0]));
    }
    for verb in
        [&["check", "fast.cu"][..], &["submit", "slow.cu"], &["compare", "fast.cu", "slow.cu"]]
    {
        let objects = mock(verb.iter().copied()).args(["--json"]).run().json();
        text.push_str(&shape(verb[0], &objects[0]));
    }
    insta::assert_snapshot!(text);
}

/// On the emulator there are counters, too, and what the model makes of them.
#[test]
fn what_the_emulator_counts_has_its_fields() {
    let rung =
        concat!(env!("CARGO_MANIFEST_DIR"), "/solutions/mxfp4_quantize/01_thread_per_block.cu");
    let nibble = Nibble::new(["bench", "--device", "emulator", "--json", rung]);
    let object = &nibble.run().code(0).json()[0];
    insta::assert_snapshot!(shape("bench[]", &object["bench"][0]));
    let nibble =
        nibble.again(["profile", "--device", "emulator", "--json", "--size", "m=64,k=64", rung]);
    let object = &nibble.run().code(0).json()[0];
    insta::assert_snapshot!("profile", shape("profile", object));
}

/// `--json` says the same to a pager, to a file and to a terminal: no colours, one line each.
#[test]
fn colours_are_for_people() {
    let nibble = Nibble::new(["leaderboard"]);
    Made::accepted("k.cu", 40.0).record(&nibble.path());
    let colourful = |nibble: &Nibble| nibble.run().code(0).stdout.contains('\u{1b}');
    assert!(!colourful(&nibble), "stdout is no terminal");
    let nibble = nibble.args(["--color", "always"]);
    assert!(colourful(&nibble));
    let nibble = nibble.env("NO_COLOR", "1");
    assert!(colourful(&nibble), "what was typed counts more than the environment");
    let nibble = nibble.again(["leaderboard"]).env("CLICOLOR_FORCE", "1");
    assert!(!colourful(&nibble), "NO_COLOR counts more than CLICOLOR_FORCE");
    let nibble = nibble.without("NO_COLOR");
    assert!(colourful(&nibble));
    let nibble = nibble.args(["--color", "never"]);
    assert!(!colourful(&nibble));
    let nibble = nibble.again(["leaderboard", "--json", "--color", "always"]);
    assert!(!colourful(&nibble), "JSON is for programs");
}

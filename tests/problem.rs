//! `nibble problem`, and problems that lie outside of the program.

use std::fs;
use std::path::Path;
use std::process::Command;

use problems::{Element, npy};

use crate::support::Nibble;

/// A step of `docs/adding-a-problem.md`, in its order.
enum Step {
    /// A file that it shows whole, under a line that names it.
    File { path: String, text: String },
    /// A line that begins with `nibble`.
    Command(Vec<String>),
}

fn steps() -> Vec<Step> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/adding-a-problem.md");
    let page = fs::read_to_string(path).expect("the page");
    let (mut steps, mut label) = (Vec::new(), None);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            match label.take() {
                Some(path) => steps.push(Step::File { path, text: text.join("\n") + "\n" }),
                None if language == "sh" => steps.extend(text.into_iter().map(|line| {
                    let words = line.strip_prefix("nibble ").expect("a command of nibble");
                    Step::Command(words.split(' ').map(str::to_owned).collect())
                })),
                None => {}
            }
        } else if line.starts_with("`problems/") {
            label =
                line.strip_prefix('`').and_then(|line| line.strip_suffix('`')).map(str::to_owned);
        }
    }
    steps
}

/// The problem of the page, without what it says to run.
fn row_sum(nibble: Nibble) -> Nibble {
    steps().into_iter().fold(nibble, |nibble, step| match step {
        Step::File { path, text } => nibble.file(&path, text),
        Step::Command(_) => nibble,
    })
}

#[test]
fn the_page_leads_to_a_rung_on_the_board() {
    let mut nibble = Nibble::new([""; 0]);
    let mut last = String::new();
    for step in steps() {
        match step {
            Step::File { path, text } => {
                assert!(nibble.path().join(&path).is_file(), "{path} is one of the template's");
                nibble = nibble.file(&path, text);
            }
            Step::Command(words) => {
                nibble = nibble.again(words);
                last = nibble.run().code(0).stdout;
            }
        }
    }
    assert!(last.contains("first"), "{last}");
}

#[test]
fn the_template_is_a_good_problem() {
    let nibble = Nibble::new(["problem", "new", "block_amax"]);
    nibble.run().code(0).fits().stderr_is_empty();
    let nibble = nibble.again(["problem", "check", "problems/block_amax", "--json"]);
    let object = &nibble.run().code(0).json()[0];
    assert_eq!(object["passed"], true, "{object:#}");
    let nibble = nibble.again(["problem", "new", "block_amax"]);
    nibble.run().code(2).stderr_contains("there is a problem block_amax");
}

/// Changes one line of the starter.
fn changed(from: &str, to: &str) -> String {
    let starter = steps().into_iter().find_map(|step| match step {
        Step::File { path, text } if path.ends_with("starter.cu") => Some(text),
        _ => None,
    });
    let starter = starter.expect("a starter");
    assert!(starter.contains(from), "{from}");
    starter.replace(from, to)
}

#[test]
fn a_known_bug_of_the_reference_is_named() {
    for (name, from, to, reason) in [
        ("tail", "i < k; i++", "i + 1 < k; i++", "last_element_missing"),
        (
            "narrow",
            "total += __half2float(a[row * k + i])",
            "total = __half2float(__float2half(total + __half2float(a[row * k + i])))",
            "sums_in_f16",
        ),
        ("unwritten", "sum[row] = total;", "if (row < m / 2) sum[row] = total;", "unwritten_sum"),
    ] {
        let nibble = Nibble::new(["check", "k.cu", "--json", "--device", "emulator"]);
        let nibble = row_sum(nibble).file("k.cu", changed(from, to));
        let object = &nibble.run().code(1).json()[0];
        let cases = object["cases"].as_array().expect("cases");
        let reasons: Vec<&str> = cases
            .iter()
            .flat_map(|case| case["reasons"].as_array().expect("reasons"))
            .filter_map(|reason| reason.as_str())
            .collect();
        assert!(reasons.iter().any(|found| found.starts_with(reason)), "{name}: {object:#}");
    }
}

/// Whether this machine's Python has NumPy; without it the test says nothing.
fn numpy_is_there() -> bool {
    let import = Command::new("python3").args(["-c", "import numpy"]).output();
    import.is_ok_and(|output| output.status.success())
}

#[test]
fn a_recording_is_held_to_too() {
    let nibble = row_sum(Nibble::new(["check", "k.cu", "--json", "--device", "emulator"]));
    let folder = nibble.path().join("problems/row_sum");
    fs::remove_file(folder.join("reference.cu")).expect("it was written");
    let manifest = fs::read_to_string(folder.join("problem.toml")).expect("written");
    // One size is recorded, its outputs and the errors they may have are not computed.
    let manifest = manifest
        .replace("{ m = 1, k = 1 }, { m = 33, k = 100 }, { m = 128, k = 1024 }", "{ m = 2, k = 3 }")
        .replace("{ m = 1024, k = 1024 }", "{ m = 2, k = 3 }")
        .replace("the error that the reference allows", "the value")
        .replace("bound = 1.0", "bound = 1e-6")
        .replace(", \"wide\", \"outliers\", \"exact\"", "");
    let manifest = manifest.split("[[known_bug]]").next().expect("a beginning").to_owned();
    let array = |element, shape: &[u64], bytes: Vec<u8>| {
        npy::write(&npy::Array { element, shape: shape.to_vec(), bytes })
    };
    let halves = [0x3c00u16, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600];
    let a = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    let sum = [6f32, 15.0].iter().flat_map(|sum| sum.to_le_bytes()).collect();
    let nibble = nibble
        .file("problems/row_sum/problem.toml", manifest)
        .file("problems/row_sum/recorded/2x3/a.npy", array(Element::F16, &[2, 3], a))
        .file("problems/row_sum/recorded/2x3/sum.npy", array(Element::F32, &[2], sum))
        .file("k.cu", changed("sum[row] = total", "sum[row] = total"));
    nibble.run().code(0);
    let nibble = nibble.file("k.cu", changed("sum[row] = total", "sum[row] = total + 1"));
    nibble.run().code(1);
}

#[test]
fn a_reference_can_be_python() {
    if !numpy_is_there() {
        return;
    }
    let nibble = row_sum(Nibble::new(["problem", "check", "problems/row_sum", "--json"]));
    fs::remove_file(nibble.path().join("problems/row_sum/reference.cu")).expect("it was written");
    let reference = "import numpy as np\n\ndef reference(a, m, k, known_bug):\n    wide = \
                     a.astype(np.float64)\n    error = k * 2.0**-24 * np.abs(wide).sum(axis=1)\n    \
                     return wide.sum(axis=1).astype(np.float32), error.astype(np.float32)\n";
    let nibble = nibble.file("problems/row_sum/reference.py", reference);
    let object = &nibble.run().code(0).json()[0];
    assert_eq!(object["passed"], true, "{object:#}");

    let nibble =
        nibble.file("problems/row_sum/reference.py", "def reference(*_): return nothing\n");
    nibble.again(["problem", "check", "problems/row_sum"]).run().code(2).stderr_contains("nothing");
}

#[test]
fn a_damaged_folder_keeps_nobody_from_the_others() {
    let nibble = Nibble::new(["list"]).file("problems/broken/problem.toml", "title = 3\n");
    let run = nibble.run().code(0).stderr_contains("broken");
    assert!(run.stdout.contains("mxfp4_quantize"), "{}", run.stdout);
    let nibble = nibble.again(["list", "--problems", "nowhere"]);
    nibble.run().code(2).stderr_contains("nowhere is no folder");
}

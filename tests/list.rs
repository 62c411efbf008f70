//! `nibble list`

use crate::support::{Made, Nibble};

#[test]
fn before_and_after_the_first_attempt() {
    let nibble = Nibble::new(["list"]);
    let empty = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("list_empty", entry(&empty.stdout));

    Made::accepted("03_vectors.cu", 4.0).record(&nibble.path());
    Made::accepted("03_vectors.cu", 3.5).measured(0.01).by("bob").record(&nibble.path());
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("list", entry(&run.stdout));
}

/// That of one problem: others may come.
fn entry(screen: &str) -> &str {
    screen.split("\n\n").find(|entry| entry.starts_with("mxfp4_quantize")).expect("listed")
}

#[test]
fn one_object_for_each_problem() {
    let nibble = Nibble::new(["list", "--json"]);
    let attempt = Made::accepted("03_vectors.cu", 4.0).record(&nibble.path());
    let objects = nibble.run().code(0).json();
    assert_eq!(objects.len(), problems::catalog().len());
    let listed = objects.iter().find(|object| object["problem"] == "mxfp4_quantize");
    let listed = listed.expect("it is listed");
    assert_eq!(listed["bench"][0], "1024x1024");
    assert_eq!(listed["best"][0]["id"], attempt.id.as_str());
}

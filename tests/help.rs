//! What nibble says of itself.

use crate::support::Nibble;

#[test]
fn alone_it_names_its_verbs() {
    let run = Nibble::new::<&str>([]).run().code(2).stdout_is_empty();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn every_verb_explains_itself_within_80_columns() {
    let verbs = [
        "list",
        "show",
        "new",
        "check",
        "bench",
        "profile",
        "submit",
        "leaderboard",
        "history",
        "attempt",
        "diff",
        "report",
        "compare",
        "watch",
        "export",
        "import",
        "doctor",
        "toolchain",
    ];
    for verb in verbs {
        Nibble::new([verb, "--help"]).run().code(0).fits().stdout_contains("Usage: nibble");
    }
}

#[test]
fn it_knows_its_version() {
    let run = Nibble::new(["--version"]).run().code(0);
    assert_eq!(run.stdout, concat!("nibble ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_misspelt_verb_is_wrong_use() {
    Nibble::new(["sumbit", "k.cu"]).run().code(2).stderr_contains("submit");
}

//! What shells and `man` are given.

use crate::support::Nibble;

#[test]
fn shells_complete_the_verbs_and_not_the_hidden_ones() {
    for shell in ["bash", "zsh", "fish"] {
        let run = Nibble::new(["completions", shell]).run().code(0).stdout_contains("leaderboard");
        assert!(run.stderr.is_empty());
    }
}

#[test]
fn each_verb_has_a_page_and_hidden_ones_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let nibble = Nibble::new(["man"]).args([folder.path()]);
    nibble.run().code(0).stdout_contains("man -l ").stdout_contains("nibble.1");
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name));
    assert!(page("nibble.1").unwrap().contains("Exit codes"));
    assert!(page("nibble-submit.1").unwrap().contains("SYNOPSIS"));
    assert!(page("nibble-__worker.1").is_err());

    Nibble::new(["man", "nowhere"])
        .run()
        .code(3)
        .stderr_contains("error: cannot write man pages to nowhere")
        .stderr_contains(" next: name a folder that exists");
}

//! The hidden verb that shells call.

use crate::support::Nibble;

#[test]
fn shells_complete_the_verbs_and_not_the_hidden_ones() {
    for shell in ["bash", "zsh", "fish"] {
        let run = Nibble::new(["completions", shell]).run().code(0).stdout_contains("leaderboard");
        assert!(run.stderr.is_empty());
    }
}

//! `nibble leaderboard [PROBLEM]`

use crate::support::{Made, Nibble};

#[test]
fn modelled_and_measured_are_never_on_one_board() {
    let nibble = Nibble::new(["leaderboard"]);
    let folder = nibble.path();
    Made::accepted("01_naive.cu", 40.0).hours_old(50).record(&folder);
    Made::accepted("03_vectors.cu", 4.0).hours_old(30).message("128-bit loads").record(&folder);
    Made::wrong("03_vectors.cu").hours_old(20).record(&folder);
    Made::accepted("04_one_pass_over_everything.cu", 3.9)
        .by("Bartholomäus")
        .hours_old(2)
        .message("keeps the whole row in registers, which costs occupancy")
        .record(&folder);
    Made::accepted("03_vectors.cu", 3.5).measured(0.01).hours_old(3).record(&folder);
    Made::accepted("05.cu", 3.51).measured(0.01).hours_old(1).record(&folder);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn nothing_there_yet() {
    let run = Nibble::new(["leaderboard", "mxfp4_quantize"]).run().code(0).fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn one_object_for_each_board() {
    let nibble = Nibble::new(["leaderboard", "--json"]);
    let attempt = Made::accepted("01_naive.cu", 40.0).record(&nibble.path());
    let objects = nibble.run().code(0).json();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["rows"][0]["rank"], 1);
    assert_eq!(objects[0]["rows"][0]["best"]["id"], attempt.id.as_str());
}

#[test]
fn verify_names_what_is_wrong_and_repair_removes_no_attempt() {
    let nibble = Nibble::new(["leaderboard", "verify"]);
    let attempt = Made::accepted("01_naive.cu", 40.0).record(&nibble.path());
    let sound = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("verify_sound", sound.screen());

    let folder = format!("leaderboard/attempts/mxfp4_quantize/{}", attempt.id);
    let nibble = nibble.file(&format!("{folder}/solution.cu"), "another");
    nibble.run().code(1).stdout_contains("solution.cu is not the source that was recorded");
    let nibble = nibble.again(["leaderboard", "repair", "--json"]);
    let object = &nibble.run().code(1).json()[0];
    assert_eq!(object["findings"].as_array().expect("an array").len(), 1);
    assert!(nibble.path().join(folder).join("attempt.toml").exists());
}

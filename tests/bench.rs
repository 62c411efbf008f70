//! `nibble bench FILE…`

use crate::support::mock;

#[test]
fn times_against_the_speed_of_light() {
    let run = mock(["bench", "fast.cu"]).run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
    assert!(run.attempts.is_empty(), "a bench is not recorded");
}

#[test]
fn what_is_wrong_is_not_timed() {
    let object = &mock(["bench", "wrong.cu", "--json"]).run().code(1).json()[0];
    assert!(object["bench"].as_array().expect("an array").is_empty());
    assert!(object["geomean_us"].is_null());
}

#[test]
fn programs_read_the_times() {
    let object = &mock(["bench", "fast.cu", "--json"]).run().code(0).json()[0];
    let sizes = object["bench"].as_array().expect("an array");
    assert_eq!(sizes.len(), 4);
    assert_eq!(sizes[0]["name"], "1024x1024");
    assert_eq!(sizes[0]["sizes"]["m"], 1024);
    let median = sizes[0]["median_us"].as_f64().expect("a number");
    assert!((median - 8.0).abs() < 1e-6, "{median}");
    assert!(object["attempt"].is_null());
}

//! Solutions that are right, or honestly wrong.

use judge::report::Verdict;

use crate::court::{Court, Test, verdict};

pub const TESTS: &[Test] = &[
    ("right_is_accepted_again_and_again", right_is_accepted_again_and_again),
    ("nothing_written", nothing_written),
    ("half_written", half_written),
    ("one_byte_missing_at_the_end", one_byte_missing_at_the_end),
    ("inputs_are_fresh_each_time", inputs_are_fresh_each_time),
    ("what_is_printed_is_the_log", what_is_printed_is_the_log),
    ("an_undefined_symbol_is_named", an_undefined_symbol_is_named),
];

fn right_is_accepted_again_and_again() {
    let mut court = Court::new("", "quantize(a, q, scale, m, k);");
    for _ in 0..5 {
        let trial = court.run_case();
        assert_eq!(trial.report.verdict, Verdict::Accepted, "{:?}", trial.report);
        assert_eq!(trial.report.mismatches, 0);
        assert!(trial.report.explanation.is_empty() && trial.report.reasons.is_empty());
    }
    assert_eq!(court.judge.dismiss(), None);
}

fn nothing_written() {
    let (verdict, reasons) = verdict("", "", "");
    assert_eq!(verdict, Verdict::WrongAnswer);
    assert!(reasons.contains(&"unwritten".to_owned()), "{reasons:?}");
}

fn half_written() {
    let (verdict, reasons) = verdict("", "quantize(a, q, scale, m / 2, k);", "");
    assert_eq!(verdict, Verdict::WrongAnswer);
    assert!(reasons.contains(&"unwritten".to_owned()), "{reasons:?}");
}

fn one_byte_missing_at_the_end() {
    let spoil = "quantize(a, q, scale, m, k); scale[m * k / 32 - 1] += 1;";
    assert_eq!(verdict("", spoil, "").0, Verdict::WrongAnswer);
}

/// The cheat that really happens: keep the outputs of the first call, replay them.
fn inputs_are_fresh_each_time() {
    let replay = "
        static uint8_t *old_q, *old_scale;
        if (old_q) {
            memcpy(q, old_q, m * k / 2);
            memcpy(scale, old_scale, m * k / 32);
            return;
        }
        quantize(a, q, scale, m, k);
        old_q = (uint8_t*)malloc(m * k / 2);
        old_scale = (uint8_t*)malloc(m * k / 32);
        memcpy(old_q, q, m * k / 2);
        memcpy(old_scale, scale, m * k / 32);";
    let mut court = Court::new("", replay);
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    assert_eq!(court.run_case().report.verdict, Verdict::WrongAnswer);
}

fn what_is_printed_is_the_log() {
    let body =
        r#"quantize(a, q, scale, m, k); printf("to stdout"); fprintf(stderr, "to stderr\n");"#;
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    court.judge.dismiss();
    let log = court.judge.log();
    assert!(log.contains("to stdout") && log.contains("to stderr"), "{log}");
}

fn an_undefined_symbol_is_named() {
    let helpers = "extern \"C\" void nobody_defines_this();";
    let (verdict, reasons) = verdict(helpers, "nobody_defines_this();", "nobody_defines_this");
    assert_eq!((verdict, reasons), (Verdict::RuntimeError, vec!["not_loaded".to_owned()]));
}

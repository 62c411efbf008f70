//! Solutions that crash, hang, write where they must not, and lie.

use std::time::{Duration, Instant};

use judge::report::Verdict;

use crate::court::{Court, Test, verdict};

pub const TESTS: &[Test] = &[
    ("segmentation_fault", segmentation_fault),
    ("the_next_case_gets_a_fresh_worker", the_next_case_gets_a_fresh_worker),
    ("exit_0_after_the_work", exit_0_after_the_work),
    ("exit_0_in_a_constructor", exit_0_in_a_constructor),
    ("exit_handlers_do_not_help", exit_handlers_do_not_help),
    ("abort_", abort),
    ("an_exception", an_exception),
    ("a_crash_in_a_constructor", a_crash_in_a_constructor),
    ("sleeping_for_ever", sleeping_for_ever),
    ("stopping_itself", stopping_itself),
    ("stack_overflow", stack_overflow),
    ("a_gigabyte_of_text", a_gigabyte_of_text),
    ("inputs_overwritten", inputs_overwritten),
    ("written_behind_the_end", written_behind_the_end),
    ("written_before_the_start", written_before_the_start),
    ("late_writes_do_not_count", late_writes_do_not_count),
    ("a_forged_claim", a_forged_claim),
    ("noise_on_every_descriptor", noise_on_every_descriptor),
    ("files_are_out_of_reach", files_are_out_of_reach),
    ("ctrl_c", ctrl_c),
];

fn dies(helpers: &str, body: &str, says: &str, reason: &str) {
    let (verdict, reasons) = verdict(helpers, body, says);
    assert_eq!((verdict, reasons), (Verdict::RuntimeError, vec![reason.to_owned()]));
}

fn segmentation_fault() {
    let body = "quantize(a, q, scale, m, k); *(volatile int*)8 = 1;";
    dies("", body, "segmentation fault (SIGSEGV) before `solution` returned", "crashed");
}

fn the_next_case_gets_a_fresh_worker() {
    let body = r#"
        quantize(a, q, scale, m, k);
        FILE* mark = fopen("mark", "r");
        if (!mark) { fclose(fopen("mark", "w")); puts("first"); abort(); }
        puts("second");"#;
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::RuntimeError);
    let trial = court.run_case();
    assert_eq!(trial.report.verdict, Verdict::Accepted, "{:?}", trial.report);
    court.judge.dismiss();
    assert_eq!(court.judge.log(), "first\nsecond\n");
}

fn exit_0_after_the_work() {
    let body = "quantize(a, q, scale, m, k); exit(0);";
    dies("", body, "called exit(0) before `solution` returned", "exited");
    dies("", "quantize(a, q, scale, m, k); _exit(3);", "exit(3)", "exited");
}

fn exit_0_in_a_constructor() {
    let helpers = "__attribute__((constructor)) static void early() { _exit(0); }";
    dies(helpers, "", "exit(0) while the library was opened", "exited");
}

fn exit_handlers_do_not_help() {
    let body = "atexit([] { for (;;) pause(); }); quantize(a, q, scale, m, k);";
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    let started = Instant::now();
    assert_eq!(court.judge.dismiss(), None);
    assert!(started.elapsed() < Duration::from_secs(4));
}

fn abort() {
    dies("", "abort();", "SIGABRT", "crashed");
}

fn an_exception() {
    let mut court = Court::new("", "throw std::runtime_error(\"out of luck\");");
    let report = court.run_case().report;
    assert_eq!(report.verdict, Verdict::RuntimeError);
    assert!(report.explanation[0].contains("uncaught exception"), "{:?}", report.explanation);
    assert!(court.judge.log().contains("out of luck"), "{}", court.judge.log());
}

fn a_crash_in_a_constructor() {
    let helpers = "__attribute__((constructor)) static void early() { abort(); }";
    dies(helpers, "", "while the library was opened", "crashed");
}

fn sleeping_for_ever() {
    for body in ["for (;;) sleep(1000);", "for (volatile int i = 0;; i = i + 1);"] {
        let mut court = Court::new("", body);
        let report = court.hear_for(Duration::from_millis(300)).report;
        assert_eq!(report.verdict, Verdict::TimeLimitExceeded);
        assert_eq!(report.reasons, ["time_limit"]);
    }
}

fn stopping_itself() {
    let mut court = Court::new("", "raise(SIGSTOP);");
    let report = court.hear_for(Duration::from_millis(300)).report;
    assert_eq!(report.verdict, Verdict::TimeLimitExceeded);
}

fn stack_overflow() {
    let helpers = "
        static volatile int depth;
        __attribute__((noinline)) static int deeper(volatile char* p) {
            volatile char block[4096]; block[0] = p[0]; ++depth; return deeper(block) + block[1];
        }";
    let (verdict, reasons) = verdict(helpers, "char c = 0; deeper(&c);", "host code");
    assert_eq!((verdict, reasons), (Verdict::RuntimeError, vec!["crashed".to_owned()]));
}

fn a_gigabyte_of_text() {
    let body = r#"
        quantize(a, q, scale, m, k);
        static char text[1 << 20];
        memset(text, 'x', sizeof text - 1);
        for (int i = 0; i < 1024; ++i) fputs(text, i % 2 ? stdout : stderr);
        puts("the end");"#;
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    court.judge.dismiss();
    let log = court.judge.log();
    assert!(log.starts_with("xxx") && log.ends_with("xthe end\n"), "{log}");
    assert!(log.contains("bytes left out") && log.len() < 5000, "{}", log.len());
}

fn inputs_overwritten() {
    let body = "quantize(a, q, scale, m, k); ((float*)a)[m * k - 1] = 0;";
    let (verdict, reasons) = verdict("", body, "input `a` was overwritten, first at byte 1638");
    assert_eq!((verdict, reasons), (Verdict::WrongAnswer, vec!["inputs_overwritten".to_owned()]));
}

fn written_behind_the_end() {
    let body = "quantize(a, q, scale, m, k); for (int i = 0; i < 8; ++i) q[m * k / 2 + i] ^= 0xff;";
    let says = "wrote outside of `q`: 8 bytes, the first 0 bytes behind its end (2048 bytes)";
    dies("", body, says, "out_of_bounds");
}

fn written_before_the_start() {
    let body = "quantize(a, q, scale, m, k); scale[-3] ^= 1;";
    dies("", body, "wrote outside of `scale`: 1 bytes, the first 3 bytes before", "out_of_bounds");
}

/// Work that a thread does after `solution` returned was not done by `solution`.
fn late_writes_do_not_count() {
    let body = "std::thread([=] { usleep(300000); quantize(a, q, scale, m, k); }).detach();";
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::WrongAnswer);
}

/// Claims a good return on the private socket, then leaves: the outputs still decide.
fn a_forged_claim() {
    let body = r#"
        const char* claim = "{\"Called\":{\"Returned\":{\"host_ns\":1,\"device_ns\":1.0,"
                            "\"launches\":[],\"transfers\":{\"operations\":0,\"bus_bytes\":0,"
                            "\"device_bytes\":0,\"host_seconds\":0.0},"
                            "\"profiles\":[],\"unsupported\":[],\"errors\":[]}}}";
        uint32_t len = strlen(claim);
        for (int fd = 3; fd < 256; ++fd) {
            struct stat s;
            if (fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode)) {
                write(fd, &len, 4);
                write(fd, claim, len);
            }
        }
        _exit(0);"#;
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::WrongAnswer);
}

fn noise_on_every_descriptor() {
    let body =
        r#"for (int fd = 3; fd < 256; ++fd) write(fd, "what is this, a frame?", 22); pause();"#;
    let (verdict, reasons) = verdict("", body, "private channel");
    assert_eq!((verdict, reasons), (Verdict::RuntimeError, vec!["channel_damaged".to_owned()]));
}

#[expect(clippy::print_stderr, reason = "a test that skips must say so")]
fn files_are_out_of_reach() {
    let executable = std::env::current_exe().expect("this executable");
    let isolation = judge::judge::isolation(&executable).expect("a worker");
    if !(isolation.files && isolation.signals) {
        eprintln!("skipped: {}", isolation.describe());
        return;
    }
    let body = r#"
        quantize(a, q, scale, m, k);
        if (fopen("/tmp/nibble-was-here", "w") || !fopen("scratch", "w")) abort();
        if (kill(getppid(), SIGKILL) == 0) sleep(1000);"#;
    let mut court = Court::new("", body);
    let trial = court.run_case();
    assert_eq!(trial.report.verdict, Verdict::Accepted, "{:?}", trial.report);
}

fn ctrl_c() {
    let mut court = Court::new("", "for (;;) sleep(1000);");
    let interrupt = court.interrupt.clone();
    let user = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        interrupt.raise();
    });
    assert_eq!(court.run_case().report.verdict, Verdict::Interrupted);
    user.join().expect("a thread that ends");
}

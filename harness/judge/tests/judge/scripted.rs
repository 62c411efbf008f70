//! Whole runs on the scripted device: check, protocol, report.

use std::path::PathBuf;

use judge::report::{DeviceKind, Verdict};
use judge::{Config, DeviceChoice, Error, Event, Report, Stage, run};

use crate::court::Test;

pub const TESTS: &[Test] = &[
    ("scripted_times_come_out", scripted_times_come_out),
    ("for_the_record_three_processes", for_the_record_three_processes),
    ("check_does_not_time", check_does_not_time),
    ("noise_beyond_measure_is_called_noisy", noise_beyond_measure_is_called_noisy),
    ("scripted_failures_are_verdicts", scripted_failures_are_verdicts),
    ("wrong_use_is_said", wrong_use_is_said),
];

struct Desk {
    folder: tempfile::TempDir,
    events: Vec<Event>,
}

impl Desk {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = format!("name = \"Scripted\"\narch = \"sm_100a\"\nseed = 3\n{script}");
        std::fs::write(folder.path().join("mock.toml"), text).expect("a script");
        let problem = folder.path().join("mxfp4_quantize");
        std::fs::create_dir(&problem).expect("a folder");
        std::fs::write(problem.join("fast.cu"), "void solution();\n").expect("a solution");
        Self { folder, events: Vec::new() }
    }

    fn run(&mut self, stage: Stage) -> Result<Report, Error> {
        let mut config = Config::new(self.path("mxfp4_quantize/fast.cu"), stage);
        config.device = DeviceChoice::Mock(self.path("mock.toml"));
        run(&config, &mut |event| self.events.push(event))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn scripted_times_come_out() {
    let mut desk = Desk::new(
        "[[solution]]\nfile = \"fast.cu\"\ntime_us = 40.0\nsizes = { \"1024x1024\" = 2.5 }",
    );
    let report = desk.run(Stage::Bench).expect("a report");
    assert_eq!(report.verdict, Verdict::Accepted);
    assert_eq!((report.device.kind, report.modelled), (DeviceKind::Mock, false));
    let medians: Vec<f64> = report.bench.iter().map(|size| size.median_us).collect();
    assert_eq!(medians, [2.5, 40.0, 40.0, 40.0]);
    assert!((report.geomean_us.expect("a score") - 20.0).abs() < 1e-9);
    for size in &report.bench {
        assert_eq!(size.ci_us, (size.median_us, size.median_us));
        assert_eq!(size.samples_us.len(), 50);
        assert!((size.sol_percent - 100.0 * size.sol_us / size.median_us).abs() < 1e-9);
    }
    // 8192 x 4096: 152043520 bytes at 7.672 TB/s.
    assert!((report.bench[3].sol_us - 19.818).abs() < 0.001, "{}", report.bench[3].sol_us);
    let finished = |event: &&Event| matches!(event, Event::CaseFinished(_));
    assert_eq!(desk.events.iter().filter(finished).count(), report.cases.len());
    let timed = |event: &&Event| matches!(event, Event::BenchStarted { .. });
    assert_eq!(desk.events.iter().filter(timed).count(), 4);
}

fn for_the_record_three_processes() {
    let mut desk = Desk::new("[[solution]]\ntime_us = 40.0\nnoise = 0.01\nspikes = 0.01");
    let report = desk.run(Stage::Submit).expect("a report");
    for size in &report.bench {
        assert!((size.median_us / 40.0 - 1.0).abs() < 0.01, "{}", size.median_us);
        assert!(size.ci_us.0 < size.median_us && size.median_us < size.ci_us.1);
        assert!(size.samples_us.len() >= 150);
    }
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

fn check_does_not_time() {
    let mut desk = Desk::new("[[solution]]\ntime_us = 40.0");
    let report = desk.run(Stage::Check).expect("a report");
    assert_eq!(report.verdict, Verdict::Accepted);
    assert!(report.bench.is_empty() && report.geomean_us.is_none());
    assert!(report.cases.iter().any(|case| case.name == "8192x4096 mixed"));
}

fn noise_beyond_measure_is_called_noisy() {
    let mut desk = Desk::new("[[solution]]\ntime_us = 40.0\nnoise = 0.5");
    let report = desk.run(Stage::Bench).expect("a report");
    assert_eq!(report.verdict, Verdict::Accepted);
    assert_eq!(report.bench[0].samples_us.len(), 2000);
    assert!(report.warnings.iter().all(|warning| warning.starts_with("NOISY: ")));
    assert_eq!(report.warnings.len(), 4, "{:?}", report.warnings);
}

fn scripted_failures_are_verdicts() {
    let verdicts = [
        ("wrong_answer", Verdict::WrongAnswer),
        ("runtime_error", Verdict::RuntimeError),
        ("time_limit_exceeded", Verdict::TimeLimitExceeded),
        ("compile_error", Verdict::CompileError),
    ];
    for (name, verdict) in verdicts {
        let script = format!(
            "[[solution]]\ntime_us = 1.0\nverdict = \"{name}\"\nmessage = \"so it is written\""
        );
        let report = Desk::new(&script).run(Stage::Submit).expect("a report");
        assert_eq!(report.verdict, verdict);
        assert!(report.bench.is_empty() && report.geomean_us.is_none());
        let said = report.message.iter().chain(report.cases.iter().flat_map(|c| &c.explanation));
        assert!(said.into_iter().any(|text| text == "so it is written"));
        // A wrong answer goes on to the other families, whatever costs time does not.
        let cases = report.cases.len();
        match verdict {
            Verdict::WrongAnswer => assert!(cases > 10, "{cases}"),
            Verdict::CompileError => assert_eq!(cases, 0),
            _ => assert_eq!(cases, 1),
        }
    }
}

fn wrong_use_is_said() {
    let mut desk = Desk::new("[[solution]]\nfile = \"other.cu\"\ntime_us = 1.0");
    assert!(matches!(desk.run(Stage::Check), Err(Error::Usage(why)) if why.contains("fast.cu")));
    let mut desk = Desk::new("[[solution]]\ntime_ms = 1.0");
    assert!(matches!(desk.run(Stage::Check), Err(Error::Usage(why)) if why.contains("time_ms")));
    let desk = Desk::new("");
    std::fs::write(desk.path("lost.cu"), "void solution();\n").expect("a solution");
    let config = Config::new(desk.path("lost.cu"), Stage::Check);
    let error = run(&config, &mut |_| {}).expect_err("no problem is named");
    assert!(error.to_string().contains("which problem"), "{error}");
}

//! The GPU's side of judge and worker, on a driver without a GPU (`null_driver.cpp`).

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use judge::card::Card;
use judge::device::{Target, Temperature};
use judge::report::Verdict;
use judge::subject::{Manner, Subject, Timed};
use problems::{CaseSpec, Family, Sizes};

use crate::court::{Court, Test};

pub const TESTS: &[Test] = &[
    ("the_card_is_described", the_card_is_described),
    ("a_series_is_timed_and_judged", a_series_is_timed_and_judged),
    ("a_replay_by_address_is_a_wrong_answer", a_replay_by_address_is_a_wrong_answer),
    ("a_call_that_does_nothing_is_found_in_a_series", a_call_that_does_nothing_is_found),
    ("outputs_that_come_late_are_found", outputs_that_come_late_are_found),
    ("work_that_nothing_waits_for_is_found", work_that_nothing_waits_for_is_found),
    ("a_call_that_takes_longer_each_time_leaves_nothing", a_call_that_takes_longer_each_time),
    ("every_call_gets_inputs_of_its_own", every_call_gets_inputs_of_its_own),
    ("a_broken_gpu_costs_one_worker", a_broken_gpu_costs_one_worker),
    ("where_no_gpu_is_the_machine_is_at_fault", where_no_gpu_is_the_machine_is_at_fault),
];

/// Compiles the driver to where this process, and the workers it starts, will find it.
///
/// # Safety
///
/// No other thread may run yet.
pub unsafe fn install(folder: &Path) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge/null_driver.cpp");
    let library = folder.join("libcuda.so");
    let status = Command::new("g++")
        .args(["-std=c++17", "-O1", "-fPIC", "-shared", "-Wl,-soname,libcuda.so.1", "-o"])
        .arg(&library)
        .arg(source)
        .status();
    assert!(status.expect("g++").success());
    // SAFETY: as this function promises. Workers get this variable and few others.
    unsafe { std::env::set_var("LD_LIBRARY_PATH", folder) };
}

/// 64 rows, each with scales of 8 bytes: enough to mix.
fn case() -> CaseSpec {
    CaseSpec { sizes: Sizes::new([("m", 64), ("k", 256)]), family: Family::Uniform }
}

fn gpu(helpers: &str, body: &str) -> Court {
    Court::on(Target::Cuda { ordinal: 0 }, helpers, body)
}

fn time(court: &mut Court, manner: Manner) -> Timed {
    court.judge.time_it(&case(), manner).expect("a machine that can run a worker")
}

trait TimeIt {
    fn time_it(&mut self, case: &CaseSpec, manner: Manner) -> Result<Timed, judge::Error>;
}

impl<S: Subject> TimeIt for S {
    fn time_it(&mut self, case: &CaseSpec, manner: Manner) -> Result<Timed, judge::Error> {
        self.time(case, manner, Duration::from_secs(30))
    }
}

#[track_caller]
fn refused(court: &mut Court) -> (Verdict, Vec<String>, String) {
    let report = time(court, Manner::cold(20)).expect_err("it must be found out");
    assert!(report.name.ends_with("(timed)"), "{}", report.name);
    (report.verdict, report.reasons, report.explanation.join("\n"))
}

/// This process was started without the driver's folder in its library path: a new one sees it.
fn the_card_is_described() {
    let described = |visible: &str| {
        let mut this = Command::new(std::env::current_exe().expect("this executable"));
        this.arg(DESCRIBE).env("CUDA_VISIBLE_DEVICES", visible);
        String::from_utf8(this.output().expect("a process").stdout).expect("text")
    };
    assert_eq!(
        described("0"),
        "NVIDIA H200 (null driver) sm_90a 4.8e12 GPU-07070707-0707-0707-0707-070707070707\n\
         there is no GPU 1: this machine has one, cuda:0\n"
    );
    assert_eq!(described(""), "the NVIDIA driver finds no GPU\n");
}

/// The argument with which this executable only describes the card.
pub const DESCRIBE: &str = "__describe";

pub fn describe() -> String {
    let card = match Card::find(0) {
        Ok(card) => card,
        Err(why) => return format!("{why}\n"),
    };
    let figures = card.figures();
    let other = Card::find(1).expect_err("there is one card");
    format!("{} {} {:e} {}\n{other}\n", card.name, card.arch(), figures.dram, card.uuid)
}

fn a_series_is_timed_and_judged() {
    let mut court = gpu("", "quantize(a, q, scale, m, k);");
    let samples = time(&mut court, Manner::cold(25)).expect("a right solution");
    assert_eq!(samples.len(), 25);
    assert!(samples.iter().all(|sample| sample.device_ns > 0.0 && sample.host_ns > 0));
    assert!(samples.iter().all(|sample| sample.clock_mhz == Some(1980.0)), "{samples:?}");
    let hot = Manner { temperature: Temperature::Hot, ..Manner::cold(5) };
    assert_eq!(time(&mut court, hot).expect("a right solution").len(), 5);
}

fn a_replay_by_address_is_a_wrong_answer() {
    let helpers = "#include <map>\n#include <vector>\n\
        struct Answer { std::vector<uint8_t> q, scale; };\n\
        static std::map<const float*, Answer> known;\n";
    let mut court = gpu(
        helpers,
        "auto found = known.find(a);
         if (found != known.end() && known.size() > 2) {
             memcpy(q, found->second.q.data(), m * k / 2);
             memcpy(scale, found->second.scale.data(), m * k / 32);
             return;
         }
         quantize(a, q, scale, m, k);
         known[a] = {{q, q + m * k / 2}, {scale, scale + m * k / 32}};",
    );
    assert_eq!(refused(&mut court).0, Verdict::WrongAnswer);
}

fn a_call_that_does_nothing_is_found() {
    let mut court = gpu("static int calls;", "if (++calls % 7 != 6) quantize(a, q, scale, m, k);");
    let (verdict, _, text) = refused(&mut court);
    assert_eq!(verdict, Verdict::WrongAnswer);
    assert!(text.contains("written"), "{text}");
}

fn outputs_that_come_late_are_found() {
    let mut court = gpu(
        "static int calls;",
        "if (++calls < 5) return quantize(a, q, scale, m, k);
         std::thread([=] {
             std::this_thread::sleep_for(std::chrono::milliseconds(1));
             quantize(a, q, scale, m, k);
         }).detach();",
    );
    let (verdict, reasons, _) = refused(&mut court);
    // Where the machine is so slow that even the fetched outputs are not there yet, they are wrong.
    match verdict {
        Verdict::RuntimeError => assert_eq!(reasons, ["late_writes"]),
        other => assert_eq!(other, Verdict::WrongAnswer),
    }
}

fn work_that_nothing_waits_for_is_found() {
    let mut court = gpu(
        "#include <dlfcn.h>\n",
        "quantize(a, q, scale, m, k);
         void* driver = dlopen(\"libcuda.so.1\", RTLD_NOW | RTLD_NOLOAD);
         if (driver) ((void (*)(float))dlsym(driver, \"null_driver_hide\"))(20.0f);",
    );
    let (verdict, reasons, text) = refused(&mut court);
    assert_eq!((verdict, reasons), (Verdict::RuntimeError, vec!["unfinished_work".to_owned()]));
    assert!(text.contains("take 10.0 µs") && text.contains("busy with it for"), "{text}");
}

/// As one does whose host enqueues longer than the GPU is kept busy: its times differ from series to
/// series, here by a tenth a call, which says nothing of work that is left.
fn a_call_that_takes_longer_each_time() {
    let mut court = gpu(
        "#include <dlfcn.h>\nstatic float took = 0.1f;",
        "quantize(a, q, scale, m, k);
         void* driver = dlopen(\"libcuda.so.1\", RTLD_NOW | RTLD_NOLOAD);
         if (driver) ((void (*)(float))dlsym(driver, \"null_driver_take\"))(took *= 1.1f);",
    );
    let samples = time(&mut court, Manner::cold(20)).expect("nothing is left behind");
    assert_eq!(samples.len(), 20);
}

/// The solution writes nothing for inputs whose like it has seen, at any address.
fn every_call_gets_inputs_of_its_own() {
    let mut court = gpu(
        "#include <set>\n#include <string>\nstatic std::set<std::string> seen;",
        "if (seen.insert(std::string((const char*)a, 4 * m * k)).second)
             quantize(a, q, scale, m, k);",
    );
    assert_eq!(time(&mut court, Manner::cold(200)).expect("no inputs twice").len(), 200);
}

fn a_broken_gpu_costs_one_worker() {
    let helpers = "#include <dlfcn.h>\n#include <unistd.h>\n";
    let mut court = gpu(
        helpers,
        "quantize(a, q, scale, m, k);
         if (access(\"broken\", F_OK) == 0) return;
         close(open(\"broken\", O_CREAT | O_WRONLY, 0600));
         void* driver = dlopen(\"libcuda.so.1\", RTLD_NOW | RTLD_NOLOAD);
         if (driver) ((void (*)(int))dlsym(driver, \"null_driver_break\"))(700);",
    );
    let broken = court.run_case().report;
    assert_eq!(broken.verdict, Verdict::RuntimeError, "{:?}", broken.explanation);
    assert_eq!(broken.reasons, ["illegal_address"]);
    assert!(broken.explanation.join("\n").contains("--device emulator"));
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
}

fn where_no_gpu_is_the_machine_is_at_fault() {
    let mut court = Court::on(Target::Cuda { ordinal: 3 }, "", "quantize(a, q, scale, m, k);");
    let error = court.judge.case(&case(), Duration::from_secs(30)).expect_err("no such GPU");
    assert!(error.to_string().contains("GPU 3"), "{error}");
}

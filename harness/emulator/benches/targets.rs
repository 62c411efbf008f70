//! How fast the emulator is, beside what it shall reach and beside scalar C++ on the same core: one
//! table, a minute. `just bench`, or `just bench NAME` for one of the parts: microbenchmarks, tensor_cores,
//! front_end.
//!
//! A *warp instruction* is one PTX instruction of the kernel executed by one warp, predicated-off ones
//! included; in these kernels all 32 lanes are always active, so it is thread instructions / 32. The C++
//! (`native.cpp`, compiled here and now) does the same elements with the same arithmetic; its rate is
//! the same number of instructions over its time, though it executes none of them.
//!
//! Times are medians of nine rounds after one that does not count, of processor time, which a busy
//! machine stretches less than the clock's. Only two threads against one need the clock, and therefore
//! a machine with two cores to spare.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

mod microbenchmark;

use std::collections::HashMap;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;

use emulator::{Config, Machine};
use microbenchmark::{MMA_STEPS, Microbenchmark, PTX, WGMMA_STEPS};

/// Million warp instructions a second, and the ratio to native, that the emulator shall reach.
const TARGETS: [(&str, f64, f64); 4] = [
    ("k1_thread", 100.0, 0.4),
    ("k2_warp", 100.0, 0.4),
    ("k3_fma", 300.0, 5.0),
    ("k4_sgemm", 100.0, 0.13),
];

/// Texts of nvcc, to be parsed and lowered.
const TEXTS: [&str; 5] = [
    PTX,
    include_str!("../tests/fixtures/microbenchmarks/sm_80.ptx"),
    include_str!("../tests/fixtures/control.100a.ptx"),
    include_str!("../tests/fixtures/quantize.90a.ptx"),
    include_str!("../tests/fixtures/tensor.120a.ptx"),
];

const ONE: fn() -> Config = || Config { threads: 1, counting: false, ..Config::default() };

/// Seconds of this process on processors.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and `time` is there to be written.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "a clock");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn clock_time() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// Seconds, of nine rounds the one in the middle.
fn median(now: fn() -> f64, mut run: impl FnMut()) -> f64 {
    run();
    let mut took: Vec<f64> = std::iter::repeat_with(|| {
        let begin = now();
        run();
        now() - begin
    })
    .take(9)
    .collect();
    took.sort_by(f64::total_cmp);
    took[4]
}

/// The C++ beside it, compiled where nobody looks.
struct Native {
    folder: std::path::PathBuf,
}

impl Native {
    fn compile() -> Self {
        let folder = std::env::temp_dir().join(format!("nibble-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/native.cpp");
        let status = Command::new("g++")
            .args(["-O3", "-march=native", "-fno-tree-vectorize", "-o"])
            .arg(folder.join("native"))
            .arg(source)
            .status();
        assert!(status.expect("g++").success(), "g++ compiles {source}");
        Self { folder }
    }

    /// Seconds by name.
    fn run(&self) -> HashMap<String, f64> {
        let output = Command::new(self.folder.join("native")).output().expect("it runs").stdout;
        let text = String::from_utf8(output).expect("text");
        let line = |line: &str| {
            let (name, nanoseconds) = line.split_once(' ')?;
            Some((name.to_owned(), nanoseconds.parse::<f64>().ok()? / 1e9))
        };
        text.lines().filter_map(line).collect()
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// `figure`, and whether it reaches `target`.
fn against(figure: f64, target: f64) -> String {
    let mark = if figure >= target { "reached" } else { "missed" };
    format!("{figure:9.2} {target:9.2}  {mark}")
}

fn microbenchmarks() {
    let native = Native::compile().run();
    println!("million warp instructions a second, one thread, bounds checked, counting off\n");
    println!(
        "{:10} {:>9} {:>9}           {:>9} {:>9}           {:>9} {:>9} {:>9} {:>9}",
        "",
        "figure",
        "target",
        "/ native",
        "target",
        "counting",
        "sanitized",
        "2 threads",
        "native"
    );
    for (name, target, ratio_target) in TARGETS {
        let counting = Microbenchmark::new(name, Config { threads: 1, ..Config::default() });
        let one = Microbenchmark::new(name, ONE());
        let sanitized = Microbenchmark::new(name, Config { sanitize: true, ..ONE() });
        let two = Microbenchmark::new(name, Config { threads: 2, ..ONE() });
        let count = counting.run().warp_instructions as f64;
        let time = |now: fn() -> f64, of: &Microbenchmark| median(now, || drop(of.run()));
        let seconds = time(processor_time, &one);
        let rate = |seconds: f64| count / seconds / 1e6;
        println!(
            "{name:10} {} {} {:9.2} {:9.3} {:9.2} {:9.0}",
            against(rate(seconds), target),
            against(native[name] / seconds, ratio_target),
            seconds / time(processor_time, &counting),
            seconds / time(processor_time, &sanitized),
            time(clock_time, &one) / time(clock_time, &two),
            rate(native[name]),
        );
    }
    println!("\nof the figure: counting at least 0.6, sanitized 0.25, two threads 1.8");
}

fn tensor_cores() {
    println!("\nmillion mma a second, one thread");
    for (name, form, target) in [
        ("mma_fp4", "m16n8k64 mxf4nvf4, block-scaled", Some(5.0)),
        ("mma_f16", "m16n8k16 f16", Some(8.0)),
        ("mma_f16_fresh", "… of other fragments each time", None),
    ] {
        let microbenchmark = Microbenchmark::new(name, ONE());
        let warps = microbenchmark.run().warps;
        let seconds = median(processor_time, || drop(microbenchmark.run()));
        let rate = (warps * MMA_STEPS) as f64 / seconds / 1e6;
        match target {
            Some(target) => println!("{form:32} {}", against(rate, target)),
            None => println!("{form:32} {rate:9.2}"),
        }
    }
    println!("\nthousand million multiply-adds a second, one thread");
    let microbenchmark = Microbenchmark::new("wgmma", ONE());
    let groups = microbenchmark.run().warps / 4;
    let seconds = median(processor_time, || drop(microbenchmark.run()));
    let rate = (groups * WGMMA_STEPS * 64 * 256 * 16) as f64 / seconds / 1e9;
    println!("{:32} {}", "wgmma m64n256k16 f16", against(rate, 16.0));
}

/// From text to programs ready to run, every kernel of every module.
fn front_end() {
    let bytes: usize = TEXTS.iter().map(|text| text.len()).sum();
    let machine = Machine::new(ONE());
    let seconds = median(processor_time, || {
        for text in TEXTS {
            let module = machine.load(text).expect("PTX");
            let kernels: Vec<_> = module.kernels().map(|name| module.kernel(name)).collect();
            assert!(kernels.iter().all(Option::is_some));
        }
    });
    let rate = |seconds: f64| bytes as f64 / seconds / 1e6;
    println!("\nPTX parsed and lowered, MB a second   {}", against(rate(seconds), 20.0));
    let seconds = median(processor_time, || {
        for text in TEXTS {
            drop(ptx::parse(text).expect("PTX"));
        }
    });
    println!("parsed only{:36.2}", rate(seconds));
}

fn main() {
    // Cargo adds `--bench`.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let parts: [(&str, fn()); 3] = [
        ("microbenchmarks", microbenchmarks),
        ("tensor_cores", tensor_cores),
        ("front_end", front_end),
    ];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            part();
        }
    }
}

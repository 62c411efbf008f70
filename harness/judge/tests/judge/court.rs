//! What every test here needs: a problem, a compiled solution, a judge.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use judge::Interrupt;
use judge::device::Target;
use judge::judge::{Judge, JudgeInput, Trial};
use judge::report::Verdict;
use problems::{CaseSpec, Family, Problem, Sizes};
use toolchain::trampoline;

/// A name and its test.
pub type Test = (&'static str, fn());

/// A right solution of `mxfp4_quantize` on the host, slow and plain: what hostile ones spoil.
pub const RIGHT: &str = r"
static void quantize(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    static const float midpoints[7] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    for (size_t block = 0; block < m * k / 32; ++block) {
        const float* x = a + block * 32;
        uint32_t amax = 0;
        for (int i = 0; i < 32; ++i) {
            uint32_t bits;
            memcpy(&bits, x + i, 4);
            bits &= 0x7fffffff;
            if (bits > amax) amax = bits;
        }
        int exponent = int(amax >> 23) - 2;
        if (exponent < 0) exponent = 0;
        scale[block] = uint8_t(exponent);
        for (int i = 0; i < 32; i += 2) {
            uint8_t byte = 0;
            for (int half = 0; half < 2; ++half) {
                float scaled = ldexpf(x[i + half], 127 - exponent);
                float magnitude = fabsf(scaled);
                uint8_t code = 0;
                for (int t = 0; t < 7; ++t)
                    code += t % 2 ? magnitude >= midpoints[t] : magnitude > midpoints[t];
                byte |= uint8_t((code | (std::signbit(scaled) ? 8 : 0)) << (4 * half));
            }
            q[block * 16 + i / 2] = byte;
        }
    }
}
";

/// A judge over one solution, and the folder that goes with it.
pub struct Court {
    pub judge: Judge,
    pub interrupt: Interrupt,
    problem: &'static Problem,
    _folder: tempfile::TempDir,
}

impl Court {
    /// Compiles C++ whose `solution` is `body`, behind [`RIGHT`] and `helpers`.
    pub fn new(helpers: &str, body: &str) -> Self {
        Self::on(Target::Host, helpers, body)
    }

    /// The same on another device.
    pub fn on(target: Target, helpers: &str, body: &str) -> Self {
        let problem = problems::find("mxfp4_quantize").expect("a problem of the catalogue");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let library = compile(folder.path(), problem, helpers, body);
        let interrupt = Interrupt::default();
        let judge = Judge::new(JudgeInput {
            path: PathBuf::new(),
            text: String::new(),
            problem,
            library,
            target,
            kernels: std::sync::Arc::new(problems::NoKernels),
            executable: std::env::current_exe().expect("this executable"),
            data_seed: None,
            log_bytes: 4096,
            interrupt: interrupt.clone(),
        });
        Self { judge: judge.expect("a judge"), interrupt, problem, _folder: folder }
    }

    /// One small case.
    pub fn run_case(&mut self) -> Trial {
        self.hear_for(Duration::from_secs(30))
    }

    pub fn hear_for(&mut self, limit: Duration) -> Trial {
        self.judge.case(&case(self.problem), limit).expect("a machine that can run a worker")
    }
}

/// The verdict on one small case of a solution, whose text must contain `says`.
pub fn verdict(helpers: &str, body: &str, says: &str) -> (Verdict, Vec<String>) {
    let report = Court::new(helpers, body).run_case().report;
    let text = report.explanation.join("\n");
    assert!(text.contains(says), "`{says}` is not in: {text}");
    (report.verdict, report.reasons)
}

pub fn case(problem: &Problem) -> CaseSpec {
    let names = problem.check_cases()[0].sizes.clone();
    let sizes = Sizes::new(names.iter().map(|(name, _)| (name, 64)));
    CaseSpec { sizes, family: Family::Uniform }
}

fn compile(folder: &Path, problem: &Problem, helpers: &str, body: &str) -> PathBuf {
    let source = folder.join("solution.cpp");
    let library = folder.join("solution.so");
    let manifest = problem.manifest();
    let headers = [
        "cmath",
        "csignal",
        "cstdint",
        "cstdio",
        "cstdlib",
        "cstring",
        "stdexcept",
        "thread",
        "fcntl.h",
        "sys/socket.h",
        "sys/stat.h",
        "unistd.h",
    ];
    let mut text: String = headers.iter().map(|name| format!("#include <{name}>\n")).collect();
    text += RIGHT;
    text += helpers;
    let types: Vec<String> = manifest.signature.iter().map(|p| p.c_type()).collect();
    // What nvcc would bring: the trampoline asks whether an exception was thrown for a CUDA error.
    text += "\nenum cudaError_t { cudaSuccess };\n\
             static cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }\n";
    text += &format!(
        "\nextern \"C\" void solution({}) {{\n{body}\n}}\n{}",
        manifest.c_signature(),
        trampoline::render(types.iter().map(String::as_str))
    );
    std::fs::write(&source, text).expect("a writable folder");
    let status = Command::new("g++")
        .args(["-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-pthread", "-o"])
        .args([&library, &source])
        .status();
    assert!(status.expect("g++").success());
    library
}

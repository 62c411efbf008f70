//! `nibble import FILE`

use std::fs;

use crate::support::{Nibble, Run};

const GEMV: &str = "extern \"C\" void solution(const uint8_t* a, const uint8_t* b, \
                    const uint8_t* sfa, const uint8_t* sfb, const uint8_t* sfa_blocked, \
                    const uint8_t* sfb_blocked, __half* c, size_t m, size_t k, size_t l) {}\n";

fn import(name: &str, text: &str) -> (Nibble, Run) {
    let nibble = Nibble::new(["import", name]).file(name, text);
    let run = nibble.run().fits();
    (nibble, run)
}

#[track_caller]
fn imported(nibble: &Nibble, file: &str) -> String {
    fs::read_to_string(nibble.path().join(file)).expect("imported")
}

/// Nothing says which problem it solves but its parameters.
#[test]
fn a_tensara_solution_is_known_by_its_parameters() {
    let source = "extern \"C\" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, \
                  size_t k) {}\n";
    let (nibble, run) = import("quant.cu", source);
    insta::assert_snapshot!(run.code(0).stderr_is_empty().screen());
    assert_eq!(imported(&nibble, "mxfp4_quantize/quant.cu"), source);
    nibble.run().code(2).stderr_contains("mxfp4_quantize/quant.cu exists, and nothing is over");
}

/// Somebody's own submission: the flags stand in it, and in the imported file afterwards.
#[test]
fn a_submission_by_hand_keeps_its_flags() {
    let text = format!(
        "#!POPCORN leaderboard nvfp4_gemv\nsource = \"\"\"{GEMV}\"\"\"\nmodule = load_inline(\n\
         \x20   name='gemv', cuda_sources=source,\n\
         \x20   extra_cuda_cflags=['-O3', '--use_fast_math', '-lcublas', '-std=c++17'])\n",
    );
    let (nibble, run) = import("submission.py", &text);
    let run = run.code(0).stderr_contains("nibble does not pass -lcublas to nvcc");
    insta::assert_snapshot!(run.screen());
    let source = imported(&nibble, "nvfp4_gemv/01_solution.cu");
    assert!(source.starts_with("//! nvcc = [\"--use_fast_math\"]\nextern \"C\""), "{source}");
}

#[test]
fn what_is_no_solution_is_refused() {
    let code = |name: &str, text: &str| import(name, text).1.code(2).stdout_is_empty();
    let torch = "SOURCE = '''torch::Tensor gemv(torch::Tensor a) { return a; }'''\n";
    insta::assert_snapshot!(code("submission.py", torch).screen());
    code("empty.py", "").stderr_contains("no string in it defines `solution`");
    code("other.cu", "int main() {}\n").stderr_contains("no problem has its parameters");
    code("bytes.cu", "//! problm = 1\n").stderr_contains("did you mean `problem`?");
    Nibble::new(["import", "gone.py"]).run().code(2).stderr_contains("there is no file gone.py");
}

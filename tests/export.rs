//! `nibble export ATTEMPT --to tensara|gpu-mode`

use std::{fs, path::Path, process::Command};

use crate::support::{Made, Nibble, Run, program};

const QUANTIZER: &str = "//! problem = \"mxfp4_quantize\"\n//! nvcc = [\"--use_fast_math\"]\n\
                         #include \"common.cuh\"\n#include <thrust/sort.h>\n";

#[test]
fn tensara_takes_the_source_as_it_is() {
    let run = Nibble::new(["export", "k.cu", "--to", "tensara"]).file("k.cu", QUANTIZER).run();
    assert_eq!(run.stdout, QUANTIZER);
    let run = run.code(0).fits();
    insta::assert_snapshot!(Run { stdout: String::new(), ..run }.screen());
}

#[test]
fn an_attempt_that_failed_is_exported_with_a_warning() {
    let nibble = Nibble::new(["export", "--to", "tensara", "-o", "out/k.cu"]);
    let attempt = Made::wrong("k.cu").source("// mine\n").record(&nibble.path());
    let nibble = nibble.args([attempt.id.as_str()]);
    let run = nibble.run().code(0).fits();
    insta::assert_snapshot!(run.screen());
    let written = fs::read_to_string(nibble.path().join("out/k.cu")).expect("written");
    assert_eq!(written, "// mine\n");
    nibble.run().code(2).stderr_contains("out/k.cu exists, and nothing is overwritten");
}

#[test]
fn gpu_mode_gets_a_submission_that_python_runs() {
    let source = program("reads_all_seven.cu");
    let nibble = Nibble::new(["export", "nvfp4_gemv/k.cu", "--to", "gpu-mode"])
        .args(["-o", "submission.py"])
        .file("nvfp4_gemv/k.cu", &source)
        // As much of NVIDIA's header as host code needs.
        .file("cuda_fp16.h", HALF);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
    let flags = python(&nibble.path(), "runs_gemv.py");
    assert!(flags.contains("-gencode=arch=compute_100a,code=sm_100a\n"), "{flags}");
    assert!(flags.ends_with("-maxrregcount=32\n-DROWS=4\n"), "{flags}");

    let nibble = nibble.again(["import", "submission.py", "back"]);
    nibble.run().code(0).stderr_is_empty();
    let back = fs::read_to_string(nibble.path().join("nvfp4_gemv/back.cu")).expect("imported");
    assert_eq!(back, source);
}

#[test]
fn gpu_mode_s_lists_become_arrays() {
    let nibble = Nibble::new(["export", "nvfp4_group_gemm/k.cu", "--to", "gpu-mode"])
        .args(["-o", "submission.py"])
        .file("nvfp4_group_gemm/k.cu", program("reads_all_groups.cu"))
        .file("cuda_fp16.h", HALF);
    nibble.run().code(0).stderr_is_empty();
    python(&nibble.path(), "runs_group_gemm.py");
}

const HALF: &str = "struct __half { unsigned short bits; };\n";

/// Runs one of the programs with stand-ins for PyTorch; gives what it prints.
fn python(folder: &Path, script: &str) -> String {
    for file in ["stand_ins.py", script] {
        fs::write(folder.join(file), program(file)).expect("a file");
    }
    let output = Command::new("python3")
        .args(["-W", "error", script])
        .current_dir(folder)
        .output()
        .expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn gpu_mode_s_tuple_has_the_problem_s_own_tensors() {
    let export = ["export", "nvfp4_dual_gemm/k.cu", "--to", "gpu-mode"];
    let run = Nibble::new(export).file("nvfp4_dual_gemm/k.cu", "// k\n").run().code(0);
    let tuple =
        "a, b1, b2, sfa, sfb1, sfb2, sfa_permuted, sfb1_permuted, sfb2_permuted, c = data\n";
    assert!(run.stdout.contains(tuple), "{}", run.stdout);
    let sizes =
        "c.data_ptr(),\n        a.shape[0],\n        b1.shape[0],\n        2 * a.shape[1],\n";
    assert!(run.stdout.contains(sizes), "{}", run.stdout);
}

#[test]
fn a_platform_without_such_a_problem() {
    let export = |file: &str, to: &str| {
        Nibble::new(["export", file, "--to", to]).file(file, "// k\n").run().code(2)
    };
    export("mxfp4_quantize/k.cu", "gpu-mode")
        .stderr_contains("GPU MODE has no problem like mxfp4_quantize");
    export("nvfp4_gemv/k.cu", "tensara").stderr_contains("Tensara has no problem like nvfp4_gemv");
    export("k.cu", "tensara").stderr_contains("which problem does k.cu solve?");
    export("mxfp4_quantize/k.cu", "kaggle").stderr_contains("[possible values: tensara, gpu-mode]");
}

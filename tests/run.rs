//! `nibble run FILE.cu [-- ARGS]`

use crate::support::Nibble;

const SAXPY: &str = include_str!("programs/whole/saxpy.cu");

#[test]
fn a_program_runs_as_it_would_on_a_gpu() {
    Nibble::new(["run", "saxpy.cu", "--", "777"])
        .file("saxpy.cu", SAXPY)
        .run()
        .code(0)
        .stdout_contains("the kernel says hello\n777 elements: no error, worst difference 0\n");
}

#[test]
fn a_fault_is_explained_and_the_exit_code_is_the_programs() {
    Nibble::new(["run", "saxpy.cu", "--", "1000", "careless"])
        .file("saxpy.cu", SAXPY)
        .run()
        .code(7)
        .stdout_contains("1000 elements: an illegal memory access was encountered")
        .stderr_contains("reads 4 bytes of global memory just past the end of")
        .stderr_contains("saxpy.cu:10")
        .stderr_contains("thread (232,0,0) of block (3,0,0)");
}

#[test]
fn a_launch_that_never_began_says_which_limit_it_exceeds() {
    const PROGRAM: &str = "__global__ void fill(int* p) { p[threadIdx.x] = 1; }\n\
        int main(int n, char**) {\n  fill<<<1, 2048>>>(nullptr);\n  fill<<<1, 32, 60000>>>(nullptr);\n  \
        return n > 1 && cudaGetLastError() != cudaErrorInvalidValue;\n}\n";
    let run = |arguments: &[&str]| {
        Nibble::new(["run"].iter().chain(arguments)).file("fill.cu", PROGRAM).run().code(0)
    };
    run(&["fill.cu"])
        .stderr_contains("fill was not launched: a block of [2048, 1, 1] threads; at most [1024,")
        .stderr_contains("60000 bytes of dynamic shared memory; 49152 until");
    // It has not asked, and must be told; it has, and knows.
    run(&["--quiet", "fill.cu"]).stderr_contains("fill was not launched");
    assert_eq!(run(&["--quiet", "fill.cu", "--", "ask"]).stderr, "");
}

#[test]
fn what_is_no_program_is_refused() {
    Nibble::new(["run", "f.cu"])
        .file("f.cu", "__global__ void f() {}\n")
        .run()
        .code(1)
        .stdout_is_empty()
        .stderr_contains("there is no `main` in it");
    Nibble::new(["run", "f.cu"]).run().code(2).stderr_contains("f.cu: no such file");
    Nibble::new(["run", "f.cu", "--device", "cuda"])
        .file("f.cu", "int main() { return 0; }\n")
        .run()
        .code(2)
        .stderr_contains("`run` is for the emulator");
}

#[test]
fn a_race_is_found_where_the_sanitizer_is_asked_for() {
    let shift = |flags: &[&str]| {
        let arguments = ["run"].iter().chain(flags).chain(&["shift.cu"]);
        Nibble::new(arguments).file("shift.cu", include_str!("programs/whole/shift.cu")).run()
    };
    shift(&[]).code(0).stdout_contains("no error");
    // Lanes of a warp, too, must be told to wait for each other.
    shift(&["--sanitize"])
        .code(1)
        .stderr_contains("shift reads 4 bytes of shared memory (byte 0 of `tile`) that another")
        .stderr_contains("shift.cu:8, thread (1,0,0) of block (0,0,0)")
        .stderr_contains(
            "    8 | out[threadIdx.x] = tile[(threadIdx.x + 255) % 256];\n      | ^\n",
        );
    shift(&["--schedule", "random"]).code(0).stderr_contains("random order: --seed ");
    shift(&["--schedule", "fixed", "--seed", "3"])
        .code(2)
        .stderr_contains("leave out --schedule fixed, or the seed");
}

#[test]
fn functions_call_themselves_and_are_called_through_pointers() {
    Nibble::new(["run", "calls.cu"])
        .file("calls.cu", include_str!("programs/whole/calls.cu"))
        .run()
        .code(0)
        .stdout_contains("no error 0 wrong");
}

#[test]
fn programs_may_call_the_driver_itself() {
    Nibble::new(["run", "driver.cu"])
        .file("driver.cu", include_str!("programs/whole/driver.cu"))
        .run()
        .code(0)
        .stdout_contains("1000 elements by the driver");
}

#[test]
fn what_the_driver_is_asked_wrongly_is_an_error_and_no_crash() {
    Nibble::new(["run", "mistakes.cu"])
        .file("mistakes.cu", include_str!("programs/whole/driver_mistakes.cu"))
        .run()
        .code(0)
        .stdout_contains("every mistake has its error");
}

#[test]
fn a_program_needs_no_flags_of_its_own() {
    // A `lerp` of one's own is ambiguous in C++20; the lambda needs a flag; the header is not the
    // compiler's.
    const PROGRAM: &str = "#include <cmath>\n#include <cstdio>\n#include <cuda_profiler_api.h>\n\
        inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }\n\
        template <class F> __global__ void run(float* p, F f) { p[0] = f(2.0f); }\n\
        int main() {\n  float* p;\n  cudaMallocManaged(&p, 4);\n  cudaProfilerStart();\n  \
        run<<<1, 1>>>(p, [] __device__(float x) { return lerp(1.0f, x, 0.5f); });\n  \
        cudaDeviceSynchronize();\n  cudaProfilerStop();\n  printf(\"%g\\n\", *p);\n}\n";
    Nibble::new(["run", "lerp.cu"]).file("lerp.cu", PROGRAM).run().code(0).stdout_contains("1.5\n");
}

#[test]
fn a_fault_is_explained_to_who_aborts() {
    const PROGRAM: &str = "#include <cstdlib>\n\
        __global__ void far(int* p) { p[1 << 20] = 1; }\n\
        int main() {\n  int* p;\n  cudaMalloc(&p, 4);\n  far<<<1, 1>>>(p);\n  \
        if (cudaDeviceSynchronize()) abort();\n}\n";
    let run = Nibble::new(["run", "far.cu"]).file("far.cu", PROGRAM).run();
    run.stderr_contains("far writes 4 bytes of global memory").stderr_contains("far.cu:2");
}

#[test]
fn an_exception_that_leaves_main_is_reported_as_by_any_program() {
    const PROGRAM: &str = "#include <stdexcept>\n#include <string>\n\
        __global__ void far(int* p) { p[1 << 20] = 1; }\n\
        int main(int n, char**) {\n  int* p;\n  cudaMalloc(&p, 4);\n  \
        if (n > 1) far<<<1, 1>>>(p);\n  \
        cudaError_t e = n > 1 ? cudaDeviceSynchronize() : cudaErrorNoDevice;\n  \
        throw std::runtime_error(std::string(\"CUDA: \") + cudaGetErrorName(e));\n}\n";
    let run = |arguments: &[&str]| {
        let run = Nibble::new(["run", "throws.cu"].iter().chain(arguments));
        let run = run.file("throws.cu", PROGRAM).run();
        assert_eq!(run.code, None, "aborted, by a signal");
        run.stderr_contains("terminate called after throwing an instance of 'std::runtime_error'")
    };
    run(&[]).stderr_contains("what():  CUDA: cudaErrorNoDevice");
    run(&["--", "far"])
        .stderr_contains("what():  CUDA: cudaErrorIllegalAddress")
        .stderr_contains("far writes 4 bytes of global memory")
        .stderr_contains("throws.cu:3");
}

#[test]
fn names_are_told_short_unless_they_are_asked_for() {
    const PROGRAM: &str = "template <int... I> struct List {};\n\
        template <class L> __global__ void far(int* p) { p[1 << 20] = 1; }\n\
        int main() {\n  int* p;\n  cudaMalloc(&p, 4);\n  \
        far<List<11, 22, 33, 44, 55, 66, 77, 88, 99, 111, 222, 333, 444, 555, 666, 777, 888>>\
        <<<1, 1>>>(p);\n  return cudaDeviceSynchronize() == cudaSuccess;\n}\n";
    let run =
        |flags: &[&str]| Nibble::new(flags.iter().chain(&["far.cu"])).file("far.cu", PROGRAM).run();
    let short = run(&["run"]).code(0).stderr_contains("far<List<…>> writes 4 bytes");
    assert!(!short.stderr.contains("11, 22"), "{}", short.stderr);
    run(&["run", "--verbose"]).code(0).stderr_contains("777, 888>> writes 4 bytes");
}

#[test]
fn a_function_that_is_nowhere_is_named() {
    let needs = |declaration: &str, call: &str| {
        let program = format!("{declaration}\nint main() {{ return {call}; }}\n");
        Nibble::new(["run", "f.cu"]).file("f.cu", &program).run().code(1)
    };
    needs("int gold(int*);", "gold(nullptr)")
        .stderr_contains("the program needs `gold`, defined nowhere: a program is one file");
    needs("extern \"C\" int cuLinkCreate_v9();", "cuLinkCreate_v9()")
        .stderr_contains("a function of the driver that the");
    needs("extern \"C\" int cublasCreate_v2(void*);", "cublasCreate_v2(nullptr)")
        .stderr_contains("of the library cublas:");
}

#[test]
fn a_build_line_of_nvcc_counts() {
    const PROGRAM: &str = "#include \"answer.h\"\n#include <cstdio>\n\
        constexpr int twice(int n) { return 2 * n; }\n\
        __global__ void store(int* p) { *p = twice(ANSWER) + MORE; }\n\
        int main() {\n  int* p;\n  cudaMallocManaged(&p, 4);\n  store<<<1, 1>>>(p);\n  \
        cudaDeviceSynchronize();\n  printf(\"%d of %ld\\n\", *p, __cplusplus);\n}\n";
    let run = |flags: &[&str]| {
        Nibble::new(["run"].iter().chain(flags).chain(&["answer.cu"]))
            .file("answer.cu", PROGRAM)
            .file("include/answer.h", "#define ANSWER 20\n")
            .run()
    };
    run(&["-std=c++17", "--expt-relaxed-constexpr", "-Iinclude", "-DMORE=2", "-lcuda"])
        .code(0)
        .stdout_contains("42 of 201703\n");
    run(&["-I", "include", "-D", "MORE=3", "--nvcc-flag", "-std=c++14"])
        .code(0)
        .stdout_contains("43 of 201402\n");
    run(&["-Iinclude"]).code(1).stderr_contains("MORE");
    run(&["-lcublas"]).code(2).stderr_contains("cublas");
    run(&["--nvcc-flag", "-rdc=true"]).code(1).stderr_contains("-rdc=true");
}

#[test]
fn what_the_program_cannot_know_is_a_failure() {
    // A race, of which the program says nothing.
    const RACE: &str = "__global__ void race(int* p) { p[0] = threadIdx.x; }\n\
        int main() {\n  int* p;\n  cudaMalloc(&p, 4);\n  race<<<1, 64>>>(p);\n  \
        cudaDeviceSynchronize();\n}\n";
    let run = |arguments: &[&str], program: &str| {
        Nibble::new(["run"].iter().chain(arguments)).file("k.cu", program).run()
    };
    run(&["k.cu"], RACE).code(0).stderr_is_empty();
    run(&["--sanitize", "k.cu"], RACE).code(1).stderr_contains("fault: race");
    // What the program finds out for itself is its own affair, as on a GPU.
    const FAR: &str = "__global__ void far(int* p) { p[1 << 20] = 1; }\n\
        int main() {\n  int* p;\n  cudaMalloc(&p, 4);\n  far<<<1, 1>>>(p);\n  \
        return cudaDeviceSynchronize() != cudaErrorIllegalAddress;\n}\n";
    run(&["k.cu"], FAR).code(0).stderr_contains("fault: far");
    run(&["--sanitize", "k.cu"], FAR).code(1);
    // Textures are not provided.
    const TEXTURE: &str = "__global__ void fetch(cudaTextureObject_t t, float* p) {\n  \
        p[0] = tex2D<float>(t, 0.5f, 0.5f);\n}\n\
        int main() {\n  float* p;\n  cudaMalloc(&p, 4);\n  fetch<<<1, 1>>>(0, p);\n  \
        cudaDeviceSynchronize();\n}\n";
    run(&["k.cu"], TEXTURE).code(1).stderr_contains("tex.2d");
}

#[test]
fn a_program_whose_output_nobody_reads_ends() {
    const PROGRAM: &str = "#include <cstdio>\nint main() {\n  for (;;) puts(\"and on\");\n}\n";
    let nibble = Nibble::new(["run", "k.cu"]).file("k.cu", PROGRAM);
    let run = nibble.through("head -n 1").run();
    assert_eq!(run.stdout, "and on\n");
}

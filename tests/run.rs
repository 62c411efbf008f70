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

//! Solutions that do not become a library.

use super::{check, screen_of};
use crate::support::Nibble;

#[test]
fn an_empty_file() {
    let nibble = Nibble::new(["check", "mxfp4_quantize/k.cu"]).file("mxfp4_quantize/k.cu", "");
    insta::assert_snapshot!(nibble.run().code(2).stdout_is_empty().fits().screen());
}

#[test]
fn binary_junk() {
    let junk: Vec<u8> = (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let nibble = Nibble::new(["check", "mxfp4_quantize/k.cu"]).file("mxfp4_quantize/k.cu", junk);
    insta::assert_snapshot!(nibble.run().code(2).stdout_is_empty().fits().screen());
}

#[test]
fn no_solution() {
    insta::assert_snapshot!(screen_of("no_solution.cu", 1));
}

#[test]
fn parameters_in_another_order() {
    insta::assert_snapshot!(screen_of("wrong_order.cu", 1));
}

#[test]
fn parameters_of_another_type() {
    insta::assert_snapshot!(screen_of("wrong_type.cu", 1));
}

#[test]
fn does_not_compile() {
    let screen = screen_of("does_not_compile.cu", 1);
    assert!(screen.contains("k.cu"), "the user's own file is not named:\n{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn unknown_directive() {
    insta::assert_snapshot!(screen_of("unknown_directive.cu", 2));
}

#[test]
fn forbidden_flag() {
    insta::assert_snapshot!(screen_of("forbidden_flag.cu", 2));
}

/// FP4 conversions are of sm_100a; sm_100 has none.
#[test]
fn an_architecture_without_its_letter() {
    const PROGRAM: &str = "//! arch = \"sm_100\"\n#include <cstddef>\n#include <cstdint>\n\
        __global__ void quantize(const float* a, uint8_t* q) {\n  unsigned short code;\n  \
        asm(\"{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, %1, %2; cvt.u16.u8 %0, t; }\"\n      \
        : \"=h\"(code) : \"f\"(a[0]), \"f\"(a[1]));\n  q[0] = code;\n}\n\
        extern \"C\" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {\n  \
        quantize<<<1, 1>>>(a, q);\n}\n";
    insta::assert_snapshot!(check(PROGRAM).run().code(1).fits().screen());
}

#[test]
fn a_directive_without_quotes() {
    insta::assert_snapshot!(check("//! arch = sm_100a\n").run().code(2).fits().screen());
}

#[test]
fn flags_that_are_directives_or_not_needed() {
    for flag in ["-arch=sm_90a", "-O3"] {
        let program = format!("//! nvcc = [\"{flag}\"]\n");
        let name = format!("the_flag{flag}");
        insta::assert_snapshot!(name, check(&program).run().code(2).fits().screen());
    }
}

//! `nibble show PROBLEM`

use crate::support::Nibble;

#[test]
fn every_problem_states_itself() {
    for problem in problems::catalog() {
        Nibble::new(["show", problem.name()])
            .run()
            .code(0)
            .stderr_is_empty()
            .stdout_contains(problem.name())
            .stdout_contains("check  ");
    }
}

#[test]
fn programs_get_the_signature() {
    let object = &Nibble::new(["show", "mxfp4_quantize", "--json"]).run().code(0).json()[0];
    assert_eq!(
        object["signature"],
        "extern \"C\" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k)"
    );
}

#[test]
fn a_problem_that_is_not_there() {
    Nibble::new(["show", "mxfp4"])
        .run()
        .code(2)
        .stdout_is_empty()
        .stderr_contains("error: no problem is called `mxfp4`\n next: did you mean")
        .stderr_contains("`mxfp4_quantize`");
}

use super::*;

fn problem() -> Vec<Parameter> {
    [
        ("const float*", "a"),
        ("uint8_t*", "q"),
        ("uint8_t*", "scale"),
        ("size_t", "m"),
        ("size_t", "k"),
    ]
    .map(|(ty, name)| Parameter::new(ty, name))
    .to_vec()
}

fn verdict(source: &str) -> Result<(), String> {
    check(source, &problem()).map(|_| ()).map_err(|error| error.to_string())
}

fn with(parameters: &str) -> Result<(), String> {
    verdict(&format!("extern \"C\" void solution({parameters}) {{\n}}\n"))
}

#[test]
fn equal_interfaces_pass_however_they_are_spelled() {
    for parameters in [
        "const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k",
        "float const *__restrict__ in, unsigned char * out, uint8_t *s, std::size_t rows, size_t",
        "float a[], std::uint8_t q[], uint8_t* const scale, unsigned long m, const uint64_t k",
        "const float* /* input */ a, // the matrix\nuint8_t* q, uint8_t* s, size_t m, size_t k = 4",
        // Known to the compiler only.
        "const float* a, Byte* q, Byte* scale, Size m, Size k",
    ] {
        assert_eq!(with(parameters), Ok(()), "{parameters}");
    }
    let block = "extern \"C\" {\nvoid solution(const float* a, uint8_t* q, uint8_t* s, size_t m, \
                 size_t k) { }\n}\n";
    assert_eq!(verdict(block), Ok(()));
    let declared = "extern \"C\" void solution(const float*, uint8_t*, uint8_t*, size_t, size_t);\n\
                    void solution(const float* a, uint8_t* q, uint8_t* s, size_t m, size_t k) {}\n";
    assert_eq!(verdict(declared), Ok(()));
    let macros =
        "EXPORT void solution(const float* a, uint8_t* q, uint8_t* s, size_t m, size_t k)\n{}";
    assert_eq!(verdict(macros), Ok(()));
}

#[test]
fn a_wrong_type_is_named_with_its_line_and_spelling() {
    let source = "#include <stdint.h>\n\nextern \"C\" void solution(const float* a,\n    \
                  float *  q, uint8_t* scale, size_t m, size_t k)\n{}\n";
    assert_eq!(
        verdict(source).unwrap_err(),
        "line 4: parameter 2 is `float * q`, the problem passes `uint8_t* q`"
    );
    assert_eq!(
        with("const float* a, uint8_t* q, uint8_t* scale, int m, int k").unwrap_err(),
        "line 1: parameter 4 is `int m`, the problem passes `size_t m`"
    );
    assert!(
        with("float a, uint8_t* q, uint8_t* s, size_t m, size_t k")
            .unwrap_err()
            .contains("`float a`")
    );
    assert!(with("float** a, uint8_t* q, uint8_t* s, size_t m, size_t k").is_err());
    assert!(with("const half* a, uint8_t* q, uint8_t* s, size_t m, size_t k").is_err());
}

#[test]
fn another_order_is_seen_even_where_the_types_agree() {
    assert_eq!(
        with("const float* a, uint8_t* scale, uint8_t* q, size_t m, size_t k").unwrap_err(),
        "line 1: parameter 2 is `uint8_t* scale`, the problem passes `uint8_t* q` there: the order \
         is another"
    );
    assert!(with("const float* a, uint8_t* q, uint8_t* scale, size_t k, size_t m").is_err());
    assert!(with("uint8_t* q, const float* a, uint8_t* scale, size_t m, size_t k").is_err());
}

#[test]
fn missing_parameters_are_counted() {
    assert_eq!(
        with("const float* a, uint8_t* q, size_t m, size_t k").unwrap_err(),
        "line 1: `solution` takes 4 parameters, the problem passes 5"
    );
    assert!(with("").unwrap_err().contains("takes 0"));
    assert!(with("void").unwrap_err().contains("takes 0"));
}

const RIGHT: &str = "solution(const float* a, uint8_t* q, uint8_t* s, size_t m, size_t k) {}\n";

#[test]
fn what_is_no_host_function_of_c_is_said() {
    let plain = verdict(&format!("\nvoid {RIGHT}")).unwrap_err();
    assert!(plain.starts_with("line 2: `solution` is not extern \"C\""), "{plain}");
    let kernel = verdict(&format!("extern \"C\" __global__ void {RIGHT}")).unwrap_err();
    assert!(kernel.contains("is a kernel"), "{kernel}");
    let returns = verdict(&format!("extern \"C\" int {RIGHT}")).unwrap_err();
    assert_eq!(returns, "line 1: `solution` returns `int`, it must return void");
    let hidden = verdict(&format!("static void {RIGHT}")).unwrap_err();
    assert!(hidden.contains("static"), "{hidden}");
}

#[test]
fn a_missing_solution_is_missing_wherever_its_name_appears() {
    for source in [
        "int x;",
        "// void solution(int a) {}\nint x;",
        "const char* s = \"void solution() {}\";",
        "int main() { solution(1, 2); return solution(3); }",
        "struct S { void solution(int) {} };",
        "#include <stdint.h>\nint solutions() { return 0; }",
    ] {
        assert_eq!(verdict(source).unwrap_err(), "there is no function `solution`", "{source}");
    }
    // It may stand in there.
    assert_eq!(verdict("#include \"mine.cuh\"\n"), Ok(()));
    assert_eq!(verdict("#define ENTRY solution\n"), Ok(()));
}

#[test]
fn one_fitting_branch_is_enough() {
    let source = format!(
        "#if OLD\nextern \"C\" void solution(int n) {{}}\n#else\nextern \"C\" void {RIGHT}#endif\n"
    );
    assert_eq!(verdict(&source), Ok(()));
}

#[test]
fn the_expected_prototype_is_at_hand() {
    let error = check("int x;", &problem()).unwrap_err();
    assert_eq!(
        error.expected,
        "extern \"C\" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k)"
    );
}

//! The one function that the wrapper adds to every solution: it takes the arguments as an array
//! and calls `solution` with them as its signature wants.
//!
//! Ten integers, or nine and a float, sit in registers or on the stack by rules of the platform's
//! C++ ABI. The compiler that compiles the solution knows them; nibble need not.

use problems::Parameter;

/// The function's name.
pub const SYMBOL: &[u8] = b"nibble_call_solution";

/// C++ that defines [`SYMBOL`], `void(void* const*)`: element `i` points to the value of parameter
/// `i`. `noexcept`, so that an exception ends in `std::terminate`, with its text in the log, and
/// never unwinds into Rust. It must stand behind the declaration of `solution`.
pub fn render(signature: &[Parameter]) -> String {
    let argument = |(index, parameter): (usize, &Parameter)| {
        format!("\n        *static_cast<{} const*>(arguments[{index}])", parameter.c_type())
    };
    let arguments: Vec<_> = signature.iter().enumerate().map(argument).collect();
    format!(
        "extern \"C\" __attribute__((visibility(\"default\")))\n\
         void {}(void* const* arguments) noexcept {{\n    solution({});\n}}\n",
        String::from_utf8_lossy(SYMBOL),
        arguments.join(",")
    )
}

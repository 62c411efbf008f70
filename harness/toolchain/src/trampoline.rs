//! The one function that the wrapper adds to every solution: it takes the arguments as an array
//! and calls `solution` with them as its signature wants.
//!
//! Ten integers, or nine and a float, sit in registers or on the stack by rules of the platform's
//! C++ ABI. The compiler that compiles the solution knows them; nibble need not.

/// The function's name.
pub const SYMBOL: &str = "nibble_call_solution";

/// The name of a second function, in libraries that bring their own CUDA runtime.
pub const LAST_ERROR: &str = "nibble_cuda_error";

/// C++ that defines [`LAST_ERROR`]: name and text of the runtime's last error, where there is one.
pub fn last_error() -> String {
    format!(
        "extern \"C\" __attribute__((visibility(\"default\")))\n\
         void {LAST_ERROR}(const char** name, const char** text) noexcept {{\n  \
         cudaError_t error = cudaGetLastError();\n  \
         if (error == cudaSuccess) return;\n  \
         *name = cudaGetErrorName(error);\n  \
         *text = cudaGetErrorString(error);\n}}\n"
    )
}

/// C++ that defines [`SYMBOL`], `void(void* const*)`: element `i` points to the value of parameter
/// `i`. `types` are the parameters' in C: `const float*`. The text must stand behind the definition
/// of `solution`.
///
/// The cast forgives what the signature's check does: a `const` more or less below a pointer.
/// `noexcept`, so that an exception ends in `std::terminate`, with its text in the log, and never
/// unwinds into Rust. But what is thrown for a CUDA error that stays, as solutions made for PyTorch do, is
/// let go: the device knows which kernel did what, which an aborted process could not tell.
pub fn render<'t>(types: impl Iterator<Item = &'t str>) -> String {
    let types: Vec<_> = types.collect();
    let argument = |(index, ty)| format!("\n    *static_cast<{ty} const*>(arguments[{index}])");
    let arguments: Vec<_> = types.iter().enumerate().map(argument).collect();
    format!(
        "static void nibble_throw_again() {{ throw; }}\n\
         extern \"C\" __attribute__((visibility(\"default\")))\n\
         void {SYMBOL}(void* const* arguments) noexcept {{\n  try {{\n  \
         reinterpret_cast<void (*)({})>(&::solution)({});\n  }} catch (...) {{\n    \
         if (cudaDeviceSynchronize() == cudaSuccess) nibble_throw_again();\n  }}\n}}\n",
        types.join(", "),
        arguments.join(",")
    )
}

//! The translation unit that nvcc compiles: the user's file, then a check of its signature, then
//! the function by which the worker calls it.
//!
//! ```cuda
//! #include "/home/me/kernel.cu"        // as it is: nothing stands before it, relative includes work
//! #include <stdint.h>                  // for the check only
//! … static_assert(… the type of ::solution's parameter 2 …, "nibble-signature:2");
//! ```
//!
//! The user's file comes first and sees nothing of ours, so that what compiles here also compiles
//! alone. The assertions compare types with every `const` below a pointer removed, because
//! `extern "C"` calls do not care. Which of them failed is read back from the compiler's output.

use std::fmt::Write as _;

use super::{Target, signature::Parameter};
use crate::trampoline;

/// The unit's file name; it shows in the names of kernels in anonymous namespaces.
pub const NAME: &str = "solution.cu";

/// What the assertions say: this, then the parameter's number from 1, or 0 for return type and
/// count.
pub const MARK: &str = "nibble-signature:";

/// Part of every cache key: change it when the text below or nvcc's flags change.
pub const REVISION: u32 = 4;

pub fn text(path: &str, parameters: &[Parameter], target: Target) -> String {
    let mut text = format!("#include \"{path}\"\n#include <stddef.h>\n#include <stdint.h>\n");
    let types = parameters.iter().map(|parameter| parameter.ty.as_str());
    for (ty, header) in [("__half", "cuda_fp16.h"), ("__nv_bfloat16", "cuda_bf16.h")] {
        if types.clone().any(|t| t.contains(ty)) {
            let _ = writeln!(text, "#include <{header}>");
        }
    }
    text.push_str(
        "namespace nibble_signature {\n\
         template <class T> struct plain { using type = T; };\n\
         template <class T> struct plain<const T> : plain<T> {};\n\
         template <class T> struct plain<T*> { using type = typename plain<T>::type*; };\n\
         template <> struct plain<unsigned long long> { using type = unsigned long; };\n\
         template <class, class> struct same { static constexpr bool value = false; };\n\
         template <class T> struct same<T, T> { static constexpr bool value = true; };\n\
         template <class...> struct list {};\n\
         template <class Returns, class Parameters> struct check {\n\
         \x20 static_assert(sizeof(Returns) == 0, \"nibble-signature:0\");\n\
         };\n",
    );
    let each = |write: &dyn Fn(usize, &Parameter) -> String| {
        let list: Vec<String> = parameters.iter().enumerate().map(|(i, p)| write(i, p)).collect();
        list.join(", ")
    };
    let classes = each(&|i, _| format!("class P{i}"));
    let names = each(&|i, _| format!("P{i}"));
    let _ = writeln!(text, "template <{classes}> struct check<void, list<{names}>> {{");
    for (i, Parameter { ty, .. }) in parameters.iter().enumerate() {
        let _ = writeln!(
            text,
            "  static_assert(same<typename plain<P{i}>::type, typename plain<{ty}>::type>::value, \
             \"{MARK}{}\");",
            i + 1
        );
    }
    text.push_str(
        "  static constexpr int done = 1;\n\
         };\n\
         template <class R, class... P> check<R, list<P...>> of(R (*)(P...));\n\
         static_assert(sizeof(of(&::solution)) != 0, \"\");\n\
         }\n",
    );
    text.push_str(&trampoline::render(types));
    if target == Target::Cuda {
        text.push_str(&trampoline::last_error());
    }
    text
}

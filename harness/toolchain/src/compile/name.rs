//! A kernel's name as its author wrote it.

use cpp_demangle::{DemangleOptions, Symbol};

/// `_Z8quantizeILi4EEvPKf` becomes `quantize<4>`; what is not mangled stays.
pub fn readable(mangled: &str) -> String {
    // Else it would be taken for a type, and an array `a` for a `signed char`.
    if !mangled.starts_with("_Z") {
        return mangled.to_owned();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let name =
        Symbol::new(mangled).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    // nvcc gives an anonymous namespace a name; its author gave it none.
    name.map_or_else(|| mangled.to_owned(), |name| name.replace("(anonymous namespace)::", ""))
}

/// As [`readable`], of a kernel, a function or a variable; of a variable inside a function its own name
/// only: `_ZZ5shiftPKfE4tile` becomes `tile`.
pub fn plain(mangled: &str) -> String {
    let name = readable(mangled).replace("> >", ">>");
    match name.rsplit_once("::") {
        Some((_, last)) if mangled.starts_with("_ZZ") => last.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_a_function_is_called_what_it_is_called_there() {
        assert_eq!(plain("_ZZ5shiftPKfPfiE4tile"), "tile");
        assert_eq!(plain("_ZN3foo3barEP6float4"), "foo::bar");
        assert_eq!(plain("allocation 1"), "allocation 1");
    }

    #[test]
    fn names_lose_what_the_compiler_added() {
        for (mangled, name) in [
            ("_Z2stPi", "st"),
            ("_ZN3foo3barEP6float4", "foo::bar"),
            ("_ZN39_GLOBAL__N__77936e7f_7_unit_cu_3fb8d5222kkILi3EEEvPKfPhm", "kk<3>"),
            ("_Z8quantizeIfLb1EEvPKT_Phm", "quantize<float, true>"),
            ("plain_c_name", "plain_c_name"),
            ("a", "a"),
            ("_Z", "_Z"),
            ("", ""),
        ] {
            assert_eq!(readable(mangled), name);
        }
    }
}

//! Which nvcc flags a solution may ask for.
//!
//! An allow-list, because nvcc has flags that run programs (`-ccbin`, `--run`), write files
//! (`-o`, `--keep-dir`), or change what is built so that it no longer loads (`-rdc=true`,
//! `-arch`). Values are held to characters that no shell takes for its own, since nvcc builds
//! command lines out of them.

use super::is_arch;

/// Every flag that is allowed: its name, the values it takes, what it does. `docs/` and the error
/// message are made from this table.
pub const ALLOWED_FLAGS: &[(&str, Value, &str)] = &[
    ("-maxrregcount", Value::Number, "registers for each thread, at most"),
    ("--use_fast_math", Value::None, "-ftz=true -prec-div=false -prec-sqrt=false, fast intrinsics"),
    ("-ftz", Value::Boolean, "flush subnormals to zero"),
    ("-prec-div", Value::Boolean, "IEEE division"),
    ("-prec-sqrt", Value::Boolean, "IEEE square root"),
    ("-fmad", Value::Boolean, "contract a multiplication and an addition into one"),
    ("-std", Value::OneOf(&["c++14", "c++17", "c++20"]), "language; c++20 unless told"),
    ("-Xptxas", Value::OneOf(PTXAS), "one flag for the assembler"),
    ("--expt-relaxed-constexpr", Value::None, "constexpr functions on host and device alike"),
    ("--extended-lambda", Value::None, "__device__ lambdas"),
    ("--extra-device-vectorization", Value::None, "more aggressive vectorisation"),
    ("-restrict", Value::None, "all pointer parameters are __restrict__"),
    ("-D", Value::Macro, "define a macro: -DNAME or -DNAME=VALUE"),
    ("-U", Value::Macro, "undefine a macro"),
    ("-I", Value::Folder, "a folder with headers, relative to the solution's"),
    ("-diag-suppress", Value::Number, "silence a warning"),
    ("-w", Value::None, "silence all warnings"),
];

const PTXAS: &[&str] = &[
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-dlcm=ca",
    "-dlcm=cg",
    "-dscm=wb",
    "-dscm=cg",
    "-allow-expensive-optimizations=true",
    "-allow-expensive-optimizations=false",
    "-disable-optimizer-consts",
    "-warn-spills",
    "-warn-lmem-usage",
];

/// What may follow a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    None,
    Number,
    Boolean,
    OneOf(&'static [&'static str]),
    /// `NAME` or `NAME=VALUE`, joined to the flag.
    Macro,
    /// A path, joined to the flag.
    Folder,
}

/// A flag that is not allowed, and what is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    #[error("nvcc flag `{flag}` is not allowed; allowed are {}", names())]
    Forbidden { flag: String },
    #[error(
        "nvcc flag `{flag}` is not allowed: the architecture is a directive; write //! arch = \"{arch}\""
    )]
    Architecture { flag: String, arch: String },
    #[error(
        "nvcc flag `{flag}` is not needed: all code is optimised; the assembler alone takes -Xptxas=-O0 to -O3"
    )]
    Optimisation { flag: String },
    #[error("nvcc flag `{flag}` needs {needs}")]
    Value { flag: String, needs: String },
}

fn names() -> String {
    ALLOWED_FLAGS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
}

/// Holds one flag to the list. One and two dashes are the same to nvcc, and here.
///
/// # Errors
///
/// [`FlagError`] naming the flag and what is allowed.
pub fn check_flag(flag: &str) -> Result<(), FlagError> {
    let forbidden = || forbidden(flag);
    let bare = flag.strip_prefix("--").or_else(|| flag.strip_prefix('-')).ok_or_else(forbidden)?;
    let joined = |name: &str| bare.strip_prefix(name.trim_start_matches('-'));
    let (value, given) = ALLOWED_FLAGS
        .iter()
        .find_map(|(name, value, _)| match value {
            Value::Macro | Value::Folder if !flag.starts_with("--") => {
                Some((value, Some(joined(name)?)))
            }
            Value::Macro | Value::Folder => None,
            _ => match joined(name)? {
                "" => Some((value, None)),
                rest => Some((value, Some(rest.strip_prefix('=')?))),
            },
        })
        .ok_or_else(forbidden)?;
    let needs =
        |needs: &str| Err(FlagError::Value { flag: flag.to_owned(), needs: needs.to_owned() });
    match (value, given) {
        (Value::None, None) => Ok(()),
        (Value::None, Some(_)) => needs("no value"),
        (Value::Number, Some(text)) if text.parse::<u32>().is_ok() => Ok(()),
        (Value::Number, _) => needs("a number: -flag=32"),
        (Value::Boolean, Some("true" | "false")) => Ok(()),
        (Value::Boolean, _) => needs("true or false: -flag=true"),
        (Value::OneOf(choices), Some(text)) if choices.contains(&text) => Ok(()),
        (Value::OneOf(choices), _) => needs(&format!("one of ={}", choices.join(", ="))),
        (Value::Macro, Some(text)) if is_macro(text) => Ok(()),
        (Value::Macro, _) => needs("a macro: -DNAME or -DNAME=VALUE, of letters, digits and _+-."),
        (Value::Folder, Some(text)) if !text.is_empty() && text.chars().all(in_path) => Ok(()),
        (Value::Folder, _) => needs("a folder: -Ipath, of letters, digits and _+-./"),
    }
}

/// The error for a flag that is not on the list, with what to write instead where there is something.
fn forbidden(flag: &str) -> FlagError {
    let (name, value) = flag.trim_start_matches('-').split_once('=').unwrap_or((flag, ""));
    let name = name.trim_start_matches('-');
    let flag = flag.to_owned();
    match name {
        "arch" | "gpu-architecture" | "gencode" | "generate-code" | "code" | "gpu-code" => {
            let number = value.rsplit('_').next().unwrap_or_default();
            let arch = format!("sm_{number}");
            let arch = if is_arch(&arch) { arch } else { "sm_100a".to_owned() };
            FlagError::Architecture { flag, arch }
        }
        "O" | "O0" | "O1" | "O2" | "O3" | "optimize" => FlagError::Optimisation { flag },
        _ => FlagError::Forbidden { flag },
    }
}

fn is_macro(text: &str) -> bool {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "_+-.".contains(c))
}

fn in_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_+-./".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_flags_pass_with_one_dash_or_two() {
        for flag in [
            "-maxrregcount=32",
            "--maxrregcount=32",
            "-use_fast_math",
            "--use_fast_math",
            "-fmad=false",
            "-std=c++17",
            "-Xptxas=-O2",
            "-Xptxas=-dlcm=cg",
            "-DBLOCK",
            "-DBLOCK=32",
            "-UNDEBUG",
            "-I../include",
        ] {
            assert_eq!(check_flag(flag), Ok(()), "{flag}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_the_reason() {
        for flag in [
            "-rdc=true",
            "-o",
            "-ccbin=/tmp/x",
            "kernel2.cu",
            "-Xcompiler=-fplugin=x.so",
            "--run",
            "-include=x",
            "-maxrregcount32",
            "--D=3",
            "",
            "-",
        ] {
            let error = check_flag(flag).unwrap_err();
            assert!(matches!(error, FlagError::Forbidden { .. }), "{flag}: {error}");
            assert!(error.to_string().contains("-maxrregcount, --use_fast_math"), "{error}");
        }
        for (flag, instead) in [
            ("-arch=sm_90", "//! arch = \"sm_90\""),
            ("--gpu-architecture=sm_100a", "//! arch = \"sm_100a\""),
            ("-gencode=arch=compute_120a,code=sm_120a", "//! arch = \"sm_120a\""),
            ("-arch", "//! arch = \"sm_100a\""),
            ("-O3", "-Xptxas=-O0 to -O3"),
        ] {
            let error = check_flag(flag).unwrap_err().to_string();
            assert!(error.contains(flag) && error.contains(instead), "{flag}: {error}");
        }
        for flag in [
            "-maxrregcount",
            "-maxrregcount=many",
            "-use_fast_math=true",
            "-ftz=1",
            "-std=c++03",
            "-Xptxas=-o/tmp/x",
            "-D",
            "-DX=$(id)",
            "-DX=`id`",
            "-I/a;b",
            "-I",
        ] {
            let error = check_flag(flag).unwrap_err();
            assert!(matches!(error, FlagError::Value { .. }), "{flag}: {error}");
        }
    }
}

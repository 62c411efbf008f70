//! Flags for nvcc, spelt as they are behind `nvcc`: an unedited program has no directive, and its build line
//! can be pasted.

use std::{ffi::OsString, io, path::PathBuf};

use clap::Args;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Compiler")]
pub struct Compiler {
    /// Look for headers in this folder
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// The language: -std=c++14, -std=c++17 or -std=c++20
    #[arg(short = 's', long = "std", value_name = "td=LANGUAGE")]
    language: Option<String>,
    /// Let kernels call constexpr functions of the host: they always may
    #[arg(long)]
    expt_relaxed_constexpr: bool,
    /// Allow __device__ lambdas: they always are
    #[arg(long)]
    extended_lambda: bool,
    /// Link a library: cuda and cudart, which are there without it
    #[arg(short = 'l', value_name = "LIBRARY", value_parser = ["cuda", "cudart"])]
    library: Vec<String>,
    /// Any other flag that a solution's directive may have
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    nvcc_flag: Vec<String>,
}

impl Compiler {
    /// The flags, folders in full.
    ///
    /// # Errors
    ///
    /// There is no current folder to count from.
    pub fn flags(&self) -> io::Result<Vec<String>> {
        let mut flags = Vec::new();
        for folder in &self.include {
            let folder = std::path::absolute(folder)?;
            let mut flag = OsString::from("-I");
            flag.push(folder);
            flags.push(flag.to_string_lossy().into_owned());
        }
        flags.extend(self.define.iter().map(|define| format!("-D{define}")));
        // `-std=c++17` reads as `-s td=c++17`.
        let language = self.language.as_deref();
        let language = language.map(|text| text.strip_prefix("td=").unwrap_or(text));
        flags.extend(language.map(|language| format!("-std={language}")));
        flags.extend(self.nvcc_flag.iter().cloned());
        Ok(flags)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        compiler: Compiler,
        file: PathBuf,
    }

    fn flags(line: &str) -> Vec<String> {
        let line = Line::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(line.file, PathBuf::from("a.cu"));
        line.compiler.flags().unwrap()
    }

    #[test]
    fn a_build_line_of_nvcc_is_understood() {
        let pasted = "nvcc -std=c++17 --expt-relaxed-constexpr -I/opt/include -I /opt/util -DA -DB=2 a.cu -lcuda";
        assert_eq!(flags(pasted), ["-I/opt/include", "-I/opt/util", "-DA", "-DB=2", "-std=c++17"]);
        assert_eq!(flags("nvcc --std c++20 a.cu"), ["-std=c++20"]);
        assert_eq!(flags("nvcc --nvcc-flag -Xptxas=-O1 a.cu"), ["-Xptxas=-O1"]);
        let here = std::env::current_dir().unwrap();
        assert_eq!(flags("nvcc -I. a.cu"), [format!("-I{}", here.display())]);
    }

    #[test]
    fn other_libraries_are_not_there() {
        assert!(Line::try_parse_from(["nvcc", "a.cu", "-lcublas"]).is_err());
    }
}

//! A program compiled: to PTX, and to the numbers that its twin writes.

use std::path::PathBuf;
use std::process::Command;

use toolchain::{Interrupt, Search, Toolchain, ToolchainError};

/// How NVIDIA's compiler is asked. Caps of registers are not among them: `ptxas` alone heeds those.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub arch: &'static str,
    /// Of the device that it is for.
    pub capability: (u32, u32),
    pub flags: &'static [&'static str],
}

const OPTIMIZED: &[&str] = &["-O3"];
/// Calls stay calls, variables stay in local memory.
const SLOW: &[&str] = &["-Xcicc=-O0"];
const DEBUG: &[&str] = &["-G"];

pub const VARIANTS: [Variant; 7] = [
    Variant { arch: "sm_80", capability: (8, 0), flags: OPTIMIZED },
    Variant { arch: "sm_90a", capability: (9, 0), flags: OPTIMIZED },
    Variant { arch: "sm_100a", capability: (10, 0), flags: OPTIMIZED },
    Variant { arch: "sm_120a", capability: (12, 0), flags: OPTIMIZED },
    Variant { arch: "sm_80", capability: (8, 0), flags: SLOW },
    Variant { arch: "sm_120a", capability: (12, 0), flags: SLOW },
    Variant { arch: "sm_100a", capability: (10, 0), flags: DEBUG },
];

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    #[error("{what}: {error}")]
    Start { what: &'static str, error: std::io::Error },
    #[error("{what} refuses the program:\n{said}")]
    Refused { what: &'static str, said: String },
}

/// What a program is compiled with.
pub struct Compiler {
    toolchain: Toolchain,
    folder: tempfile::TempDir,
}

/// A program's PTX, and what all its kernels shall store, one behind the other.
pub struct Build {
    pub ptx: String,
    pub expected: Vec<u64>,
}

impl Compiler {
    /// # Errors
    /// Where there is no compiler and none can be installed.
    pub fn find() -> Result<Self, BuildError> {
        let search = Search::from_environment(None)?;
        let toolchain = search.find_or_install(&Interrupt::default(), &mut |_| {})?;
        let folder = tempfile::tempdir()
            .map_err(|error| BuildError::Start { what: "a temporary folder", error })?;
        Ok(Self { toolchain, folder })
    }

    /// # Errors
    /// Where a compiler refuses the text, or the twin does what C++ leaves undefined.
    pub fn build(&self, source: &str, variant: &Variant) -> Result<Build, BuildError> {
        let sanitized = ["-std=c++17", "-fsanitize=undefined", "-fno-sanitize-recover=all"];
        let twin = self.host(source, &sanitized)?;
        let written = run(Command::new(twin), "the twin")?;
        let words = written.chunks_exact(8);
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |x, &byte| x << 8 | u64::from(byte));
        let ptx = self.ptx(source, variant, &["-fmad=false"])?;
        Ok(Build { ptx, expected: words.map(word).collect() })
    }

    /// # Errors
    /// Where nvcc refuses the text.
    pub fn ptx(
        &self,
        source: &str,
        variant: &Variant,
        flags: &[&str],
    ) -> Result<String, BuildError> {
        let file = self.write("program.cu", source)?;
        let to = self.folder.path().join("program.ptx");
        let mut nvcc = Command::new(&self.toolchain.nvcc);
        nvcc.args(["-ptx", "-std=c++17", "-w"]).arg(format!("-arch={}", variant.arch));
        nvcc.args(variant.flags).args(flags);
        nvcc.arg("-ccbin").arg(&self.toolchain.host_compiler).arg("-o").arg(&to).arg(file);
        run(nvcc, "nvcc")?;
        std::fs::read_to_string(to).map_err(|error| BuildError::Start { what: "its PTX", error })
    }

    /// The text as a program for the host.
    ///
    /// # Errors
    /// Where g++ refuses it.
    pub fn host(&self, source: &str, flags: &[&str]) -> Result<PathBuf, BuildError> {
        let file = self.write("host.cu", source)?;
        let program = self.folder.path().join("host");
        let mut compiler = Command::new(&self.toolchain.host_compiler);
        compiler.args(["-x", "c++", "-O1", "-w", "-ffp-contract=off"]);
        for folder in &self.toolchain.include_dirs {
            compiler.arg("-isystem").arg(folder);
        }
        compiler.arg(file).arg("-o").arg(&program).args(flags);
        run(compiler, "g++")?;
        Ok(program)
    }

    fn write(&self, name: &str, source: &str) -> Result<PathBuf, BuildError> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, source)
            .map_err(|error| BuildError::Start { what: "a temporary file", error })?;
        Ok(path)
    }
}

fn run(mut command: Command, what: &'static str) -> Result<Vec<u8>, BuildError> {
    let output = command.output().map_err(|error| BuildError::Start { what, error })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(BuildError::Refused { what, said: format!("{said}({})", output.status) })
}

//! One run of nvcc and one of ptxas, in a folder that is gone afterwards.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    CompileError, Request, Target, cage,
    declaration::Declaration,
    error::CompileError::{Changed, Rejected},
    failure::{explain, signature_error},
    headers,
    image::Image,
    includes,
    process::{self, Bounds, Ended},
    ptxas,
    signature::Difference,
    unit,
};
use ptx::KernelFacts;

use crate::{
    Interrupt, Toolchain, ToolchainError,
    diagnose::{self, Context, Diagnostic, Severity},
};

/// Address space of each process. cicc takes under 1 GiB for the largest CUTLASS kernels seen.
pub const MEMORY: u64 = 8 << 30;
/// Largest file that any of them may write.
const FILE: u64 = 1 << 30;
/// Kept of what the compiler prints: the first half of it from the start, the rest from the end.
const OUTPUT: usize = 256 << 10;

/// The folder in which one compilation works; removed when dropped.
pub struct Work(PathBuf);

impl Work {
    /// Empties what a killed compilation left.
    pub fn new(folder: PathBuf) -> io::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // A process that is just dying may still hold a file; `Cache::prune` takes what stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What one compilation made; the library lies in the work folder.
pub struct Made {
    pub library: PathBuf,
    pub ptx: String,
    pub kernels: Vec<KernelFacts>,
    pub flags: Vec<String>,
    pub warnings: Vec<Diagnostic>,
    /// Files read besides the source, without the compiler's own and the system's.
    pub includes: Vec<PathBuf>,
}

/// Compiles in `work`.
pub fn build(
    toolchain: &Toolchain,
    request: &Request<'_>,
    declaration: Option<&Declaration>,
    work: &Work,
    interrupt: &Interrupt,
) -> Result<Made, CompileError> {
    let source = request.source;
    let failed = |error: io::Error| CompileError::cache(&work.0, &error);
    let include = source.path.to_string_lossy();
    let text = match request.target {
        Target::Program => format!("#include \"{include}\"\n"),
        target => unit::text(&include, request.parameters, target),
    };
    fs::write(work.file(unit::NAME), text).map_err(failed)?;

    headers::write(&work.0).map_err(failed)?;

    let flags = flags(request);
    let mut nvcc = Command::new(&toolchain.nvcc);
    nvcc.args(&flags)
        .args(folders(request))
        .arg(format!("-Xcompiler=-idirafter,{}", headers::FOLDER))
        .args(["-MMD", "-MF", includes::FILE, "--keep", "--keep-dir", "."])
        .args(["-o", "solution.so", unit::NAME]);
    if let (Target::Cuda, Some(dir)) = (request.target, &toolchain.library_dir) {
        nvcc.arg("-L").arg(dir);
    }
    let (ended, raw) = run(&mut nvcc, "nvcc.log", toolchain, request, work, interrupt)?;
    // For line numbers of ptxas' complaints: it reads this file, the library does not exist then.
    let kept = fs::read_to_string(work.file("solution.ptx")).ok();
    let context =
        |ptx| Context { path: &source.path, typed: &source.typed, source: &source.text, ptx };
    let diagnostics = diagnose::parse(&raw, &context(kept.as_deref()));
    if !succeeded(ended) {
        return Err(explain(toolchain, request, declaration, diagnostics, raw));
    }
    if fs::read(&source.path).ok().as_deref() != Some(source.text.as_bytes()) {
        return Err(Changed);
    }

    let library = work.file("solution.so");
    let image = Image::read(&fs::read(&library).map_err(failed)?).map_err(|error| {
        CompileError::Machine(ToolchainError::Unusable {
            path: toolchain.nvcc.clone(),
            origin: toolchain.origin,
            why: error.to_string(),
        })
    })?;
    if request.target == Target::Program {
        if !image.exports_main {
            return Err(CompileError::NoMain);
        }
    } else if !image.exports_solution {
        let difference = Difference::NotC;
        return Err(signature_error(request, declaration.map(|d| d.line), difference).into());
    }
    fs::write(work.file("image.ptx"), &image.ptx).map_err(failed)?;
    let mut assembler = Command::new(&toolchain.ptxas);
    assembler.args(["-v", "-O3", "-arch", request.arch, "-o", "image.cubin", "image.ptx"]);
    assembler.args(request.flags.iter().flat_map(|flag| assembler_flags(flag)));
    let (ended, said) = run(&mut assembler, "ptxas.log", toolchain, request, work, interrupt)?;
    if !succeeded(ended) {
        let diagnostics = diagnose::parse(&said, &context(Some(&image.ptx)));
        return Err(Rejected { diagnostics, raw: said });
    }
    Ok(Made {
        library,
        kernels: ptxas::facts(&said),
        ptx: image.ptx,
        flags,
        warnings: diagnostics.into_iter().filter(|d| d.severity == Severity::Warning).collect(),
        includes: includes::read(toolchain, &source.path, &work.0),
    })
}

fn succeeded(ended: Ended) -> bool {
    matches!(ended, Ended::Exited(status) if status.success())
}

/// What nvcc is told besides files and folders; recorded with the attempt.
fn flags(request: &Request<'_>) -> Vec<String> {
    let number = request.arch.trim_start_matches("sm_");
    let (runtime, code) = match request.target {
        Target::Emulator | Target::Program => ("none", format!("compute_{number}")),
        Target::Cuda => ("static", format!("[compute_{number},sm_{number}]")),
    };
    let mut flags: Vec<String> =
        ["-O3", "-lineinfo", "-shared", "-Xcompiler=-fPIC", "-no-compress"]
            .map(str::to_owned)
            .to_vec();
    flags.push(format!("-cudart={runtime}"));
    flags.push(format!("-gencode=arch=compute_{number},code={code}"));
    // Tensara's choice; nvcc takes one -std only.
    if !request.flags.iter().any(|flag| flag.trim_start_matches('-').starts_with("std")) {
        flags.push("-std=c++20".to_owned());
    }
    flags.extend(request.flags.iter().filter(|flag| !flag.starts_with("-I")).cloned());
    flags
}

/// `-I`, from the solution's folder.
fn folders(request: &Request<'_>) -> Vec<String> {
    let home = request.source.path.parent().unwrap_or(Path::new("/"));
    let folders = request.flags.iter().filter_map(|flag| flag.strip_prefix("-I"));
    folders.map(|folder| format!("-I{}", home.join(folder).display())).collect()
}

/// What of nvcc's flags the assembler must be told too, so that its facts are those of the kernel.
fn assembler_flags(flag: &str) -> Option<String> {
    let bare = flag.trim_start_matches('-');
    if let Some(flag) = bare.strip_prefix("Xptxas=") {
        return Some(flag.to_owned());
    }
    bare.starts_with("maxrregcount").then(|| format!("--{bare}"))
}

/// Runs with its output in `log`, and gives that, capped.
fn run(
    command: &mut Command,
    log: &str,
    toolchain: &Toolchain,
    request: &Request<'_>,
    work: &Work,
    interrupt: &Interrupt,
) -> Result<(Ended, String), CompileError> {
    let failed = |error: io::Error| CompileError::cache(&work.0, &error);
    let mut output = File::options()
        .create(true)
        .append(true)
        .read(true)
        .open(work.file(log))
        .map_err(failed)?;
    cage::enclose(command, toolchain, request, &work.0);
    command
        .current_dir(&work.0)
        .stdout(output.try_clone().map_err(failed)?)
        .stderr(output.try_clone().map_err(failed)?)
        .env("TMPDIR", ".")
        .env("LC_ALL", "C");
    let bounds = Bounds { wall: request.limit, memory: Some(MEMORY), file: Some(FILE) };
    let ended = process::run(command, &bounds, interrupt, &mut || ())
        .map_err(|error| CompileError::cache(Path::new(command.get_program()), &error))?;
    match CompileError::killed(ended, request.limit.as_secs()) {
        Some(error) => Err(error),
        None => Ok((ended, capped(&mut output).map_err(failed)?)),
    }
}

fn capped(file: &mut File) -> io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut bytes = Vec::new();
    if length <= OUTPUT as u64 {
        file.read_to_end(&mut bytes)?;
    } else {
        let half = OUTPUT as u64 / 2;
        file.take(half).read_to_end(&mut bytes)?;
        bytes.extend(format!("\n… {} bytes left out …\n", length - 2 * half).as_bytes());
        file.seek(SeekFrom::End(-(half as i64)))?;
        file.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembler_is_told_what_changes_its_facts() {
        assert_eq!(assembler_flags("-maxrregcount=32").as_deref(), Some("--maxrregcount=32"));
        assert_eq!(assembler_flags("-Xptxas=-O1").as_deref(), Some("-O1"));
        assert_eq!(assembler_flags("--use_fast_math"), None);
    }

    #[test]
    fn long_output_keeps_its_start_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, format!("start{}end", "x".repeat(OUTPUT))).unwrap();
        let text = capped(&mut File::open(&path).unwrap()).unwrap();
        assert!(text.starts_with("startxx") && text.ends_with("xxend"));
        assert!(text.contains("\n… 8 bytes left out …\n"), "{}", text.len());
        fs::write(&path, "short").unwrap();
        assert_eq!(capped(&mut File::open(&path).unwrap()).unwrap(), "short");
    }
}

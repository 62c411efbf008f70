//! One run of nvcc and one of ptxas, in a folder that is gone afterwards.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    CompileError, Request, Target,
    error::CompileError::{Arch, Changed, OutOfMemory, Rejected},
    image::Image,
    process::{self, Bounds, Ended},
    ptxas,
    signature::{Declaration, Difference, SignatureError, prototype},
    unit,
};
use crate::{
    Interrupt,
    diagnose::{self, Context, Diagnostic, Severity},
    report::KernelFacts,
    toolchain::{Toolchain, ToolchainError},
};

/// Address space of each process. cicc takes under 1 GiB for the largest CUTLASS kernels seen.
const MEMORY: u64 = 8 << 30;
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
    fs::write(work.file(unit::NAME), unit::text(&include, request.parameters)).map_err(failed)?;

    let flags = flags(request);
    let mut nvcc = Command::new(&toolchain.nvcc);
    nvcc.args(&flags)
        .args(folders(request))
        .args(["-MMD", "-MF", "includes.d", "--keep", "--keep-dir", "."])
        .args(["-o", "solution.so", unit::NAME]);
    if let (Target::Cuda, Some(dir)) = (request.target, &toolchain.library_dir) {
        nvcc.arg("-L").arg(dir);
    }
    let (ended, raw) = run(&mut nvcc, "nvcc.log", request, work, interrupt)?;
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
    if !image.exports_solution {
        let difference = Difference::NotC;
        return Err(signature_error(request, declaration.map(|d| d.line), difference).into());
    }
    fs::write(work.file("image.ptx"), &image.ptx).map_err(failed)?;
    let mut assembler = Command::new(&toolchain.ptxas);
    assembler.args(["-v", "-O3", "-arch", request.arch, "-o", "image.cubin", "image.ptx"]);
    assembler.args(request.flags.iter().flat_map(|flag| assembler_flags(flag)));
    let (ended, said) = run(&mut assembler, "ptxas.log", request, work, interrupt)?;
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
        includes: includes(toolchain, source.path.as_path(), work),
    })
}

fn succeeded(ended: Ended) -> bool {
    matches!(ended, Ended::Exited(status) if status.success())
}

/// What nvcc is told besides files and folders; recorded with the attempt.
fn flags(request: &Request<'_>) -> Vec<String> {
    let number = request.arch.trim_start_matches("sm_");
    let (runtime, code) = match request.target {
        Target::Emulator => ("none", format!("compute_{number}")),
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
    command
        .current_dir(&work.0)
        .stdout(output.try_clone().map_err(failed)?)
        .stderr(output.try_clone().map_err(failed)?)
        .env("TMPDIR", ".")
        .env("LC_ALL", "C")
        // They would change what is compiled without changing the key.
        .env_remove("NVCC_PREPEND_FLAGS")
        .env_remove("NVCC_APPEND_FLAGS");
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

fn signature_error(
    request: &Request<'_>,
    line: Option<usize>,
    difference: Difference,
) -> SignatureError {
    SignatureError { line, difference, expected: prototype(request.parameters) }
}

/// Which kind of failure it was.
fn explain(
    toolchain: &Toolchain,
    request: &Request<'_>,
    declaration: Option<&Declaration>,
    mut diagnostics: Vec<Diagnostic>,
    raw: String,
) -> CompileError {
    let says = |patterns: &[&str]| patterns.iter().any(|pattern| raw.contains(pattern));
    if says(&["Unsupported gpu architecture", "is not defined for option 'gpu-architecture'"]) {
        let version = toolchain.version.to_string();
        return Arch { arch: request.arch.to_owned(), version };
    }
    if says(&["No space left on device", "Disk quota exceeded"]) {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        return CompileError::cache(&toolchain.cache, &full);
    }
    if says(&["bad_alloc", "out of memory", "virtual memory exhausted", "Cannot allocate memory"]) {
        return OutOfMemory { bytes: MEMORY };
    }
    // Complaints about the unit itself: either an assertion of ours, or the user's file ends in the
    // middle of something, or has no `solution`.
    let in_unit = |d: &Diagnostic| d.file.as_deref().is_some_and(|file| file.ends_with(unit::NAME));
    let own = |d: &&Diagnostic| in_unit(d) && d.severity == Severity::Error;
    let foreign = diagnostics.iter().any(|d| !in_unit(d) && d.severity == Severity::Error);
    if let Some(error) = diagnostics.iter().find(own).filter(|_| !foreign)
        && let Some(difference) = difference(error, request, declaration)
    {
        let line = match difference {
            Difference::Type { index, .. } => {
                declaration.and_then(|d| Some(d.parameters.get(index - 1)?.line))
            }
            _ => declaration.map(|d| d.line),
        };
        return signature_error(request, line, difference).into();
    }
    let last = u32::try_from(request.source.text.lines().count()).ok();
    for diagnostic in diagnostics.iter_mut().filter(|d| in_unit(d)) {
        diagnostic.file = Some(request.source.typed.display().to_string());
        diagnostic.line = last;
        diagnostic.column = None;
    }
    Rejected { diagnostics, raw }
}

/// What a failed assertion of the unit means.
fn difference(
    error: &Diagnostic,
    request: &Request<'_>,
    declaration: Option<&Declaration>,
) -> Option<Difference> {
    let message = &error.message;
    if message.contains("has no \"solution\"") {
        return Some(Difference::Missing);
    }
    let rest = message.split_once(unit::MARK)?.1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let number: usize = digits.parse().ok()?;
    let Some(index) = number.checked_sub(1) else {
        let found = declaration.map(|d| d.parameters.len());
        let expected = request.parameters.len();
        return Some(match found.filter(|&found| found != expected) {
            Some(found) => Difference::Arity { found, expected },
            None => Difference::Returns { found: "another type".to_owned() },
        });
    };
    let expected = request.parameters.get(index)?.to_string();
    Some(match declaration.and_then(|d| d.parameters.get(index)) {
        Some(found) => Difference::Type { index: number, found: found.text.clone(), expected },
        None => Difference::Hidden { index: number, expected },
    })
}

/// What was read besides the source. Headers of the compiler and the system are left out: the
/// compiler's identity is part of the key, and hashing hundreds of files would cost more than the
/// look-up may.
fn includes(toolchain: &Toolchain, source: &Path, work: &Work) -> Vec<PathBuf> {
    let text = fs::read_to_string(work.file("includes.d")).unwrap_or_default();
    let root = toolchain.root();
    let mut paths: Vec<PathBuf> = dependencies(&text)
        .into_iter()
        .map(|path| work.0.join(path))
        .filter(|path| path != source && path.file_name() != Some(unit::NAME.as_ref()))
        .filter(|path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            root.as_ref().is_none_or(|root| !real.starts_with(root))
        })
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The prerequisites of a makefile's rule: names with `\ ` for a space, `$$` for a dollar, lines
/// continued by a backslash.
fn dependencies(rule: &str) -> Vec<String> {
    let Some((_, list)) = rule.split_once(" :").or_else(|| rule.split_once(": ")) else {
        return Vec::new();
    };
    let mut names = vec![String::new()];
    let mut characters = list.chars().peekable();
    while let Some(c) = characters.next() {
        let Some(name) = names.last_mut() else { break };
        match (c, characters.peek()) {
            ('\\', Some('\n')) | ('$', Some('$')) => {
                if characters.next() == Some('$') {
                    name.push('$');
                } else {
                    names.push(String::new());
                }
            }
            ('\\', Some(&escaped @ (' ' | '#'))) => {
                characters.next();
                name.push(escaped);
            }
            (c, _) if c.is_whitespace() => names.push(String::new()),
            (c, _) => name.push(c),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_names_of_a_makefile() {
        let rule = "solution.so : solution.cu \\\n    /a/b\\ c.h \\\n  /d$$e.h ../f\\#.cuh\n";
        assert_eq!(dependencies(rule), ["solution.cu", "/a/b c.h", "/d$e.h", "../f#.cuh"]);
        assert_eq!(dependencies(""), [""; 0]);
    }

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

//! Why nvcc failed, from what it printed.

use std::io;

use super::{
    CompileError, Request,
    declaration::Declaration,
    error::CompileError::{Arch, OutOfMemory, Rejected},
    nvcc::MEMORY,
    signature::{Difference, SignatureError, prototype},
    unit,
};
use crate::{
    Toolchain,
    diagnose::{Diagnostic, Severity},
};

pub fn signature_error(
    request: &Request<'_>,
    line: Option<usize>,
    difference: Difference,
) -> SignatureError {
    SignatureError { line, difference, expected: prototype(request.parameters) }
}

/// Headers of libraries that come with a whole toolkit only.
const LIBRARIES: [&str; 10] = [
    "cublas", "cudnn", "cufft", "cupti", "curand", "cusolver", "cusparse", "nvml", "nvrtc", "nvtx3",
];

/// What the compiler cannot know about this one.
fn hint(message: &str, arch: &str) -> Option<String> {
    if message.contains("requires separate compilation mode") {
        return Some("nibble does not do that: no kernel can launch another".to_owned());
    }
    // Wgmma, tcgen05 and FP4 conversions are of one architecture, not of its successors: sm_90a, not sm_90.
    if message.contains("not supported on .target")
        && arch.ends_with(|last: char| last.is_ascii_digit())
        && ["sm_90", "sm_10", "sm_11", "sm_12"].iter().any(|family| arch.starts_with(family))
    {
        return Some(format!(
            "{arch} lacks what only {arch}a has: write //! arch = \"{arch}a\", or --arch {arch}a"
        ));
    }
    let header = message.strip_suffix(": No such file or directory")?;
    let library = LIBRARIES.iter().any(|library| header.starts_with(library));
    library.then(|| "it comes with NVIDIA's whole toolkit, whose nvcc `--nvcc` names".to_owned())
}

/// Which kind of failure it was.
pub fn explain(
    toolchain: &Toolchain,
    request: &Request<'_>,
    declaration: Option<&Declaration>,
    mut diagnostics: Vec<Diagnostic>,
    raw: String,
) -> CompileError {
    // Indented lines quote the source, which may contain anything.
    let said = || raw.lines().filter(|line| !line.starts_with(' '));
    let says =
        |patterns: &[&str]| said().any(|l| patterns.iter().any(|pattern| l.contains(pattern)));
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
    for diagnostic in &mut diagnostics {
        diagnostic.notes.extend(hint(&diagnostic.message, request.arch));
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

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use super::*;
    use crate::{
        Origin, Version,
        compile::{Parameter, Source, Target},
    };

    fn explained(raw: &str) -> CompileError {
        let toolchain = Toolchain {
            nvcc: PathBuf::from("nvcc"),
            version: Version { major: 13, minor: 0, build: 88 },
            ptxas: PathBuf::from("ptxas"),
            include_dirs: Vec::new(),
            library_dir: None,
            host_compiler: PathBuf::from("g++"),
            origin: Origin::Path,
            cache: PathBuf::from("/cache"),
        };
        let source = Source {
            typed: PathBuf::from("k.cu"),
            path: PathBuf::from("/home/me/k.cu"),
            text: "one\ntwo\n".to_owned(),
            hash: String::new(),
        };
        let request = Request {
            source: &source,
            arch: "sm_77",
            parameters: &[Parameter::new("float*", "a")],
            flags: &[],
            target: Target::Emulator,
            limit: Duration::from_secs(1),
        };
        explain(&toolchain, &request, None, Vec::new(), raw.to_owned())
    }

    #[test]
    fn the_machine_and_its_limits_are_told_from_the_source() {
        let memory = "/usr/include/x.h(191): catastrophic error: out of memory\n";
        assert!(matches!(explained(memory), OutOfMemory { .. }));
        let disk = "/tmp/cc.s: fatal error: error writing: No space left on device\n";
        assert!(explained(disk).to_string().starts_with("the disk of /cache is full"));
        let arch = "nvcc fatal   : Unsupported gpu architecture 'compute_77'\n";
        assert_eq!(explained(arch).to_string(), "nvcc 13.0.88 does not know sm_77");
        let quoted = "k.cu(1): error: expected a \";\"\n  printf(\"out of memory\")\n";
        assert!(matches!(explained(quoted), Rejected { .. }));
    }
}

//! GPU MODE: one Python file that defines `custom_kernel` on tensors, CUDA in it as text.
//!
//! The exported file keeps the solution whole in one string, `SOLUTION`, and calls it through a
//! second one, `BINDING`, with addresses and sizes. So the solution comes out again as it went in,
//! and nothing of PyTorch is compiled into it.
//!
//! ```text
//! task's tuple    a  b  sfa  sfb  sfa_permuted  sfb_permuted  c        a.shape = (m, k / 2, l)
//!                 │  │   │    │        │             │         │
//! solution(       a, b, sfa, sfb, sfa_blocked,  sfb_blocked,   c,      m, k, l)
//! ```
//!
//! The tensors' shapes begin with the row and end with the batch, but their memory is that of the
//! problem's page: batch outermost, k innermost. So addresses are all that must be passed.

use problems::{Parameter, Problem};
use toolchain::directive::{Directives, check_flag};

use super::{Exported, Imported, Outgoing, python};
use crate::exit::{Failure, Result};

/// PyTorch switches off the operators of half types; solutions are written with them on.
const UNDO: [&str; 4] = [
    "-U__CUDA_NO_HALF_OPERATORS__",
    "-U__CUDA_NO_HALF_CONVERSIONS__",
    "-U__CUDA_NO_HALF2_OPERATORS__",
    "-U__CUDA_NO_BFLOAT16_CONVERSIONS__",
];
const FLAGS: &str = "extra_cuda_cflags";

/// Whether the problem is one of GPU MODE's; its leaderboard is called like it.
fn has(problem: &Problem) -> bool {
    problem.manifest().origin.starts_with("GPU MODE")
}

pub fn export(solution: &Outgoing<'_>) -> Result<Exported> {
    let problem = solution.problem;
    if !has(problem) {
        return Err(Failure::usage(format!("GPU MODE has no problem like {}", problem.name()))
            .next("export it with --to tensara"));
    }
    let directives = solution.directives()?;
    let mut lost = solution.local_includes();
    let (flags, folders): (Vec<_>, Vec<_>) =
        directives.nvcc.iter().cloned().partition(|flag| !flag.starts_with("-I"));
    lost.extend(folders.into_iter().map(|flag| format!("{flag} names a folder of this machine")));
    let arch = directives.arch.as_deref().unwrap_or(&problem.manifest().arch);
    let text = TEMPLATE
        .replace("{problem}", problem.name())
        .replace("{name}", &solution.name.replace(char::is_control, " "))
        .replace("{flags}", &listed(&flags, arch))
        .replace("{declaration}", &declaration(problem))
        .replace("{binding}", &binding(problem))
        .replace("{call}", &call(problem))
        .replace("{module}", &format!("nibble_{}", &hash(solution.source)[..12]))
        // Last, so that nothing in it is taken for a place to fill.
        .replace("{solution}", &python::literal(solution.source));
    Ok(Exported { text, lost })
}

fn hash(source: &str) -> String {
    leaderboard::attempt::source_hash(source.as_bytes())
}

/// Ours, then the solution's: of two that contradict each other nvcc takes the last.
fn listed(flags: &[String], arch: &str) -> String {
    let number = arch.trim_start_matches("sm_");
    let mut all =
        vec!["-O3".to_owned(), format!("-gencode=arch=compute_{number},code=sm_{number}")];
    // nvcc takes one -std only.
    if !flags.iter().any(|flag| flag.trim_start_matches('-').starts_with("std")) {
        all.push("-std=c++20".to_owned());
    }
    all.extend(UNDO.map(str::to_owned));
    all.extend_from_slice(flags);
    let lines: Vec<String> =
        all.iter().map(|flag| format!("        {},\n", python::literal(flag))).collect();
    lines.concat()
}

/// "void launch(int64_t a, …, int64_t l)"
fn declaration(problem: &Problem) -> String {
    let names = problem.manifest().signature.iter().map(|p| format!("int64_t {}", p.name));
    format!("void launch({})", names.collect::<Vec<_>>().join(", "))
}

fn binding(problem: &Problem) -> String {
    let casts = problem.manifest().signature.iter().map(|parameter| {
        let (ty, name) = (parameter.c_type(), &parameter.name);
        match ty.ends_with('*') {
            true => format!("        reinterpret_cast<{ty}>({name})"),
            false => format!("        static_cast<{ty}>({name})"),
        }
    });
    let casts = casts.collect::<Vec<_>>().join(",\n");
    format!("\n{} {{\n    solution(\n{casts});\n}}\n", declaration(problem))
}

/// What `custom_kernel` does with the task's data.
fn call(problem: &Problem) -> String {
    let signature = &problem.manifest().signature;
    match signature.iter().any(|parameter| parameter.each.is_some()) {
        true => call_with_groups(signature),
        false => call_with_tensors(signature),
    }
}

/// The task's tuple is the signature's buffers; the tensors' shapes tell the sizes.
fn call_with_tensors(signature: &[Parameter]) -> String {
    let buffers = signature.iter().filter(|parameter| parameter.is_buffer());
    let tensors: Vec<String> = buffers.map(task_name).collect();
    // b, or the first of several.
    let b = tensors.iter().find(|name| name.starts_with('b')).map_or("", String::as_str);
    let argument = |parameter: &Parameter| match parameter.name.as_str() {
        "m" => "a.shape[0]".to_owned(),
        "n" => format!("{b}.shape[0]"),
        "k" => "2 * a.shape[1]".to_owned(),
        "l" => "a.shape[2]".to_owned(),
        _ => format!("{}.data_ptr()", task_name(parameter)),
    };
    let arguments: Vec<String> = signature.iter().map(argument).collect();
    format!(
        "    {} = data\n    module.launch(\n        {},\n    )\n    return c\n",
        tensors.join(", "),
        arguments.join(",\n        ")
    )
}

/// The task's data are lists with an entry for each group. `solution` takes arrays on the host, which
/// live until it returns.
fn call_with_groups(signature: &[Parameter]) -> String {
    let mut lists = Vec::new();
    let argument = |parameter: &Parameter| {
        if parameter.each.is_none() {
            return "len(tensors)".to_owned();
        }
        lists.push(match parameter.is_buffer() {
            true => format!("[one.data_ptr() for one in {}]", task_name(parameter)),
            false => parameter.name.clone(),
        });
        format!("arrays[{}].buffer_info()[0]", lists.len() - 1)
    };
    let arguments: Vec<String> = signature.iter().map(argument).collect();
    GROUPS
        .replace("{lists}", &lists.join(",\n        "))
        .replace("{arguments}", &arguments.join(",\n        "))
}

const GROUPS: &str = "    from array import array

    tensors, _, permuted, sizes = data
    a, b, c = zip(*tensors)
    sfa_permuted, sfb_permuted = zip(*permuted)
    m, n, k, _ = zip(*sizes)
    lists = [
        {lists},
    ]
    arrays = [array(\"q\", one) for one in lists]
    module.launch(
        {arguments},
    )
    return list(c)
";

/// What the task calls a buffer.
fn task_name(parameter: &Parameter) -> String {
    parameter.name.replace("_blocked", "_permuted")
}

const TEMPLATE: &str = r#"#!POPCORN leaderboard {problem}
#!POPCORN gpu NVIDIA

# {name}, exported by nibble. SOLUTION is the .cu file; `nibble import` takes it out again.

from torch.utils.cpp_extension import load_inline

from task import input_t, output_t

SOLUTION = {solution}

BINDING = r'''{binding}'''

module = load_inline(
    name="{module}",
    cpp_sources=["{declaration};"],
    cuda_sources=[SOLUTION, BINDING],
    functions=["launch"],
    extra_cuda_cflags=[
{flags}    ],
)


def custom_kernel(data: input_t) -> output_t:
{call}"#;

/// Takes the solution out of a `submission.py`: of the strings in it, the one that defines
/// `solution`; and of the flags, those that nibble allows.
pub fn import(text: &str) -> Result<Imported> {
    let strings = python::strings(text);
    let defines = |value: &str| value.contains("void solution(") && value.contains('{');
    let source = strings.iter().find(|string| defines(&string.value));
    let Some(source) = source.map(|string| string.value.clone()) else {
        let tensors = strings.iter().any(|string| string.value.contains("torch::Tensor"));
        let why = match tensors {
            true => "its CUDA source takes tensors and defines no `solution`",
            false => "no string in it defines `solution`",
        };
        return Err(Failure::usage(why).next(
            "call the kernel from extern \"C\" void solution(…): `nibble show` has the parameters",
        ));
    };
    let leaderboard = text
        .lines()
        .find_map(|line| line.strip_prefix("#!POPCORN leaderboard "))
        .map(|name| name.trim().to_owned());
    let directives = Directives::parse(&source).map_err(Failure::usage)?;
    if !directives.nvcc.is_empty() {
        return Ok(Imported { source, leaderboard, lost: Vec::new() });
    }
    let (kept, lost) = flags(text);
    let lost = lost.iter().map(|flag| format!("nibble does not pass {flag} to nvcc")).collect();
    let directive = match kept.is_empty() {
        true => String::new(),
        false => format!("//! nvcc = {kept:?}\n"),
    };
    Ok(Imported { source: directive + &source, leaderboard, lost })
}

/// The flags of the file that nibble can keep, and those it cannot; without its own.
fn flags(text: &str) -> (Vec<String>, Vec<String>) {
    let own = |flag: &str| {
        let bare = flag.trim_start_matches('-');
        UNDO.contains(&flag)
            || ["gencode", "arch", "std=c++", "O3"].iter().any(|start| bare.starts_with(start))
    };
    python::list(text, FLAGS)
        .into_iter()
        .filter(|flag| !own(flag))
        .partition(|flag| check_flag(flag).is_ok())
}

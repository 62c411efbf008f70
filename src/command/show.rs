//! `nibble show PROBLEM`: what to compute, before anything is written.

use serde::Serialize;

use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{self, json, style, words},
};

#[derive(Serialize)]
struct Shown<'a> {
    problem: &'a str,
    title: &'a str,
    origin: &'a str,
    revision: u32,
    arch: &'a str,
    signature: String,
    check: Vec<String>,
    bench: Vec<String>,
    tolerance: f64,
    tolerance_unit: &'a str,
    spec: &'a str,
}

pub fn run(name: &str, config: &Config) -> Result<Exit> {
    let problem = problems::find(name)?;
    let manifest = problem.manifest();
    let sizes = |cases: Vec<problems::CaseSpec>| -> Vec<String> {
        cases.iter().map(problems::CaseSpec::name).collect()
    };
    if config.json {
        config.terminal.print(&json::line(&Shown {
            problem: problem.name(),
            title: &manifest.title,
            origin: &manifest.origin,
            revision: manifest.revision,
            arch: &manifest.arch,
            signature: format!("extern \"C\" void solution({})", manifest.c_signature()),
            check: sizes(problem.check_cases()),
            bench: sizes(problem.bench_cases()),
            tolerance: manifest.tolerance.bound,
            tolerance_unit: &manifest.tolerance.unit,
            spec: problem.spec(),
        }))?;
        return Ok(Exit::Accepted);
    }
    let mut text = format!(
        "{}  {}\n\n",
        style::paint(style::BOLD, problem.name()),
        style::paint(style::DIM, format!("revision {}, {}", manifest.revision, manifest.arch))
    );
    text.push_str(&render::markdown::screen(problem.spec()));
    let bench: Vec<String> = manifest.bench.sizes.iter().map(ToString::to_string).collect();
    let facts = [
        ("check", words::count(problem.check_cases().len() as u64, "case")),
        ("bench", bench.join(", ")),
        ("start", format!("nibble new {}", problem.name())),
    ];
    text.push('\n');
    for (name, fact) in facts {
        let name = style::paint(style::DIM, name);
        text.push_str(&format!("{}\n", words::hanging(&format!("{name}  {fact}"), 7)));
    }
    config.terminal.print(&text)?;
    Ok(Exit::Accepted)
}

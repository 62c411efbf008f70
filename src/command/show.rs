//! `nibble show PROBLEM`: what to compute, before anything is written, and the least time it takes.

use judge::check;
use problems::{CaseSpec, Problem};
use serde::Serialize;
use timing::{
    gpus::{self, Gpu},
    roofline,
};

use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    render::{
        self, json, style,
        table::{Align, Table},
        words,
    },
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
    /// The GPU that `speed_of_light` is of.
    gpu: Option<&'a str>,
    speed_of_light: Vec<Light>,
}

/// The least that one size of the bench costs.
#[derive(Serialize)]
struct Light {
    size: String,
    bytes: f64,
    flops: f64,
    /// Microseconds.
    us: Option<f64>,
}

impl Light {
    fn of(problem: &Problem, case: &CaseSpec, gpu: Option<&Gpu>) -> Result<Self> {
        let formula = |value: std::result::Result<f64, problems::ManifestError>| {
            value.map_err(|error| Failure::usage(format!("{}: {error}", problem.name())))
        };
        let bytes = formula(problem.bytes(&case.sizes))?;
        let flops = formula(problem.flops(&case.sizes))?;
        let us = gpu.map(|gpu| roofline::speed_of_light(gpu, bytes, flops) * 1e6);
        Ok(Self { size: case.sizes.to_string(), bytes, flops, us })
    }
}

pub fn run(name: &str, config: &Config) -> Result<Exit> {
    let problem = problems::find(name)?;
    let manifest = problem.manifest();
    let bench = problem.bench_cases();
    let (cases, _) = check::cases(problem, &bench);
    let gpu = gpus::for_arch(config.arch.as_ref().unwrap_or(&manifest.arch));
    let light: Vec<Light> =
        bench.iter().map(|case| Light::of(problem, case, gpu)).collect::<Result<_>>()?;
    if config.json {
        let names = |cases: &[CaseSpec]| cases.iter().map(CaseSpec::name).collect();
        config.terminal.print(&json::line(&Shown {
            problem: problem.name(),
            title: &manifest.title,
            origin: &manifest.origin,
            revision: manifest.revision,
            arch: &manifest.arch,
            signature: format!("extern \"C\" void solution({})", manifest.c_signature()),
            check: names(&cases),
            bench: names(&bench),
            tolerance: manifest.tolerance.bound,
            tolerance_unit: &manifest.tolerance.unit,
            spec: problem.spec(),
            gpu: gpu.map(|gpu| gpu.name.as_str()),
            speed_of_light: light,
        }))?;
        return Ok(Exit::Accepted);
    }
    let mut text = format!(
        "{}  {}\n\n",
        style::paint(style::BOLD, problem.name()),
        style::paint(style::DIM, format!("revision {}, {}", manifest.revision, manifest.arch))
    );
    text.push_str(&render::markdown::screen(problem.spec()));
    text.push_str(&format!("\n{}", table(&light, gpu)));
    let facts = [
        ("check", words::count(cases.len() as u64, "case")),
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

/// What each size of the bench moves and computes, and how long that takes at the speed of light.
fn table(light: &[Light], gpu: Option<&Gpu>) -> Table {
    let works = light.iter().any(|light| light.flops > 0.0);
    let mut columns = vec![("bench".to_owned(), Align::Left), ("bytes".to_owned(), Align::Right)];
    if works {
        columns.push(("GFLOP".to_owned(), Align::Right));
    }
    if let Some(gpu) = gpu {
        columns.push((format!("SOL on {}", gpu.name), Align::Right));
    }
    let mut table = Table::new(columns);
    for light in light {
        let mut cells = vec![light.size.clone(), words::bytes(light.bytes as u64)];
        if works {
            cells.push(format!("{:.2}", light.flops / 1e9));
        }
        cells.extend(light.us.map(words::micros));
        table.row(cells.into_iter().map(|cell| (style::PLAIN, cell)).collect());
    }
    table
}

//! `nibble reference PROBLEM --input a=a.npy … -o DIR`: the expected outputs for one's own data.

use std::{fs, path::Path};

use judge::Stage;
use problems::{EvaluateError, OwnData, Sizes, npy};
use serde::Serialize;

use super::solve;
use crate::{
    args::Reference,
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::{json, style},
};

#[derive(Serialize)]
struct Evaluated<'a> {
    problem: &'a str,
    sizes: &'a Sizes,
    outputs: Vec<Written>,
}

#[derive(Serialize)]
struct Written {
    name: String,
    file: String,
    element: &'static str,
    shape: Vec<u64>,
}

pub fn run(reference: &Reference, config: &Config) -> Result<Exit> {
    let problem = problems::find(&reference.problem)?;
    let mut data = OwnData::default();
    for typed in &reference.inputs {
        let (name, file) = named(typed, "--input", "a=a.npy")?;
        data.inputs.push((name.to_owned(), read(Path::new(file))?));
    }
    for typed in &reference.scalars {
        let (name, number) = named(typed, "--scalar", "sf_g=2688")?;
        let value = number.parse().map_err(|_| {
            Failure::usage(format!("`{number}` is not a number"))
                .next(format!("write --scalar {name}=2688"))
        })?;
        data.scalars.push((name.to_owned(), value));
    }
    let run = solve::configured(Path::new(""), Stage::Check, &interrupt::install(), config);
    let kernels = judge::reference(&run, problem, &mut |_| ())?;
    let evaluation = problem.evaluate(&data, &*kernels).map_err(|error| match &error {
        EvaluateError::Missing { name, scalar, .. } => {
            let flag = if *scalar { "scalar" } else { "input" };
            let value = if *scalar { "NUMBER" } else { "FILE.npy" };
            Failure::usage(&error).next(format!("add --{flag} {name}={value}"))
        }
        _ => Failure::from_library(Exit::Usage, error),
    })?;

    let folder = &reference.output;
    let failed = |path: &Path, error| {
        Failure::usage(format!("cannot write {}: {error}", path.display()))
            .next("choose another folder with -o")
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut outputs = Vec::new();
    for (name, array) in evaluation.outputs {
        let path = folder.join(&name).with_extension("npy");
        fs::write(&path, npy::write(&array)).map_err(|error| failed(&path, error))?;
        outputs.push(Written {
            name,
            file: path.display().to_string(),
            element: array.element.numpy_name(),
            shape: array.shape,
        });
    }
    config.terminal.print(&match config.json {
        true => {
            json::line(&Evaluated { problem: problem.name(), sizes: &evaluation.sizes, outputs })
        }
        false => screen(problem.name(), &evaluation.sizes, &outputs),
    })?;
    Ok(Exit::Accepted)
}

fn screen(problem: &str, sizes: &Sizes, outputs: &[Written]) -> String {
    let sizes: Vec<String> = sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    let mut text = format!("{problem} with {}\n", sizes.join(", "));
    for Written { file, element, shape, .. } in outputs {
        let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let what = style::paint(style::DIM, format!("{element}, {}", shape.join(" x ")));
        text.push_str(&format!("{} {file}  {what}\n", style::paint(style::GOOD, "✓ wrote")));
    }
    text
}

fn named<'a>(typed: &'a str, flag: &str, example: &str) -> Result<(&'a str, &'a str)> {
    typed.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty()).ok_or_else(
        || {
            Failure::usage(format!("{flag} `{typed}` does not say what is what"))
                .next(format!("write {flag} {example}"))
        },
    )
}

fn read(file: &Path) -> Result<npy::Array> {
    let shown = file.display();
    let bytes =
        fs::read(file).map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    npy::read(&bytes)
        .map_err(|error| Failure::from_library(Exit::Usage, format!("{shown}: {error}")))
}

//! `nibble new PROBLEM [NAME]`: a first solution to change. Never overwrites.

use std::{
    env, fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    args::New,
    config::Config,
    exit::{Exit, Failure, Result},
    render::{json, style},
};

#[derive(Serialize)]
struct Written<'a> {
    problem: &'a str,
    file: String,
}

pub fn run(new: &New, config: &Config) -> Result<Exit> {
    let problem = problems::find(&new.problem)?;
    let file = place(&env::current_dir()?, problem.name(), new.name.as_deref());
    let folder_names_it = file.parent().and_then(Path::file_name).map_or_else(
        || env::current_dir().is_ok_and(|here| here.ends_with(problem.name())),
        |folder| folder == problem.name(),
    );
    let mut text = String::new();
    if !folder_names_it {
        text.push_str(&format!("//! problem = \"{}\"\n", problem.name()));
    }
    text.push_str(problem.starter());
    write(&file, &text)?;

    let shown = file.display();
    config.terminal.print(&match config.json {
        true => json::line(&Written { problem: problem.name(), file: shown.to_string() }),
        false => format!(
            "{} {shown}, right and slow\n{} {}\n",
            style::paint(style::GOOD, "✓ wrote"),
            style::paint(style::DIM, "next:"),
            style::paint(style::ACCENT, format!("nibble check {shown}"))
        ),
    })?;
    Ok(Exit::Accepted)
}

/// A path is taken as it is. A name goes into the folder whose name tells the problem: this one,
/// or the one under `solutions/`, or a new one here.
fn place(here: &Path, problem: &str, name: Option<&str>) -> PathBuf {
    if let Some(path) = name.filter(|name| name.contains('/')) {
        return PathBuf::from(path).with_extension("cu");
    }
    let folder = if here.ends_with(problem) {
        PathBuf::new()
    } else if here.join("solutions").is_dir() {
        Path::new("solutions").join(problem)
    } else {
        PathBuf::from(problem)
    };
    let name = match name {
        Some(name) => name.trim_end_matches(".cu").to_owned(),
        None => format!("{:02}_solution", next_number(&here.join(&folder))),
    };
    folder.join(format!("{name}.cu"))
}

/// One more than the largest `NN_…` in the folder.
fn next_number(folder: &Path) -> u32 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries
        .filter_map(|entry| entry.file_name().to_str()?.split_once('_')?.0.parse::<u32>().ok());
    numbers.max().unwrap_or(0) + 1
}

fn write(file: &Path, text: &str) -> Result<()> {
    let shown = file.display();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{shown} exists, and nothing is overwritten"))
                .next("give another name: nibble new PROBLEM NAME")
        }
        _ => Failure::usage(format!("cannot write {shown}: {error}")),
    };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = fs::File::create_new(file).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

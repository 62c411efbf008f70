//! `nibble problem new NAME`: a problem that works, to change.

use std::{env, path::Path};

use serde::Serialize;

use crate::{
    command::new::write_new,
    config::Config,
    exit::{Exit, Failure, Result},
    render::{json, style},
};

/// The files of a problem; `{name}` stands for the name.
const FILES: [(&str, &str); 4] = [
    ("problem.toml", include_str!("template/problem.toml")),
    ("spec.md", include_str!("template/spec.md")),
    ("reference.cu", include_str!("template/reference.cu")),
    ("starter.cu", include_str!("template/starter.cu")),
];

#[derive(Serialize)]
struct Written {
    problem: String,
    folder: String,
    files: Vec<&'static str>,
}

/// Writes into `problems/NAME`, which later commands find from here.
pub fn write(name: &str, config: &Config) -> Result<Exit> {
    if !problems::is_name(name) {
        return Err(Failure::usage(format!("`{name}` cannot be a problem's name"))
            .next("use small letters, digits and _, and begin with a letter"));
    }
    if problems::find(name).is_ok() {
        return Err(
            Failure::usage(format!("there is a problem {name}")).next("choose another name")
        );
    }
    let parent = match env::current_dir()?.ends_with("problems") {
        true => Path::new(""),
        false => Path::new("problems"),
    };
    let folder = parent.join(name);
    for (file, text) in FILES {
        write_new(&folder.join(file), &text.replace("{name}", name))?;
    }
    let shown = folder.display().to_string();
    config.terminal.print(&match config.json {
        true => json::line(&Written {
            problem: name.to_owned(),
            folder: shown,
            files: FILES.map(|(file, _)| file).to_vec(),
        }),
        false => format!(
            "{} {shown}: {}\n{} {}\n",
            style::paint(style::GOOD, "✓ wrote"),
            FILES.map(|(file, _)| file).join(", "),
            style::paint(style::DIM, "next:"),
            style::paint(style::ACCENT, format!("nibble problem check {shown}"))
        ),
    })?;
    Ok(Exit::Accepted)
}

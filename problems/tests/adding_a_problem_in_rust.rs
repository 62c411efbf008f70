//! `docs/adding-a-problem-in-rust.md`, followed literally: every file it shows is written, every command
//! it names is run, in a copy of the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block of the page, under a line that names its file.
struct Step {
    file: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the project's folder").to_owned()
}

/// The files and the commands of the page.
fn steps() -> (Vec<Step>, Vec<String>) {
    let page =
        fs::read_to_string(root().join("docs/adding-a-problem-in-rust.md")).expect("the page");
    let (mut steps, mut commands) = (Vec::new(), Vec::new());
    let mut label: Option<String> = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if let Some(file) = label.take() {
                steps.push(Step { file, text: text.join("\n") + "\n" });
            } else if language == "sh" {
                commands.extend(text.into_iter().map(str::to_owned));
            }
        } else if let Some(rest) = line.strip_prefix("`problems/") {
            label = rest.strip_suffix('`').map(|file| format!("problems/{file}"));
        }
    }
    (steps, commands)
}

impl Step {
    fn apply(&self, project: &Path) {
        let path = project.join(&self.file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("making the folder");
        fs::write(&path, &self.text).expect("writing the file");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("making a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if !["target", ".git"].iter().any(|skipped| name == *skipped) {
                copy(&path, &to.join(name));
            }
        } else {
            fs::copy(&path, to.join(name)).expect("copying a file");
        }
    }
}

#[test]
fn the_page_names_every_required_file_and_some_commands() {
    let (steps, commands) = steps();
    for file in ["problem.toml", "spec.md", "reference.rs", "starter.cu"] {
        let file = format!("problems/block_amax/{file}");
        assert!(steps.iter().any(|step| step.file == file), "{file}");
    }
    assert!(commands.iter().any(|command| command.contains("submit")));
}

#[test]
#[ignore = "builds a copy of the project: minutes"]
fn the_page_leads_to_a_rung_on_the_board() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let project = scratch.join(format!("adding-a-problem-{}", std::process::id()));
    copy(&root(), &project);
    let (steps, commands) = steps();
    steps.iter().for_each(|step| step.apply(&project));
    let mut said = String::new();
    for command in commands {
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(&project)
            .env("CARGO_NET_OFFLINE", "true")
            // Kept between runs, so that only the first one builds the dependencies.
            .env("CARGO_TARGET_DIR", scratch.join("adding-a-problem-target"))
            .output()
            .expect("a shell");
        said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{said}\n{complaint}");
    }
    assert!(said.contains("01_thread_per_block"), "{said}");
    fs::remove_dir_all(&project).expect("removing the copy");
}

//! The README, the tutorial and the page for groups are true: their commands run, and print what they show.
//!
//! A block of ```` ```console ```` holds commands behind `$ ` and what they print. They run in
//! order, in a folder of their own that holds the repository's solutions and the data that a command
//! names. What differs from run to run (ids, ages, how long it took) is not compared.
//! `NIBBLE_BLESS=1` writes the output anew.

#[path = "support/redact.rs"]
mod redact;

use std::{env, fs, path::Path, process::Command};

use leaderboard::Store;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A command and what the README says that it prints.
struct Example {
    command: String,
    shown: String,
}

#[test]
fn the_tutorials_commands_print_what_it_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    copy_solutions(folder.path());
    commands_print_what_is_shown("docs/tutorial.md", folder.path(), 5);
}

/// On the scripted device that the page speaks of.
#[test]
fn the_commands_for_groups_print_what_the_page_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    let mut device = "name = \"Scripted GPU\"\narch = \"sm_100a\"\nseed = 7\n".to_owned();
    for (fits, time) in [
        ("file = \"a.cu\"", 80.0),
        ("file = \"b.cu\"", 60.0),
        ("file = \"c.cu\"", 70.0),
        ("values = { TILE = \"64\", STAGES = \"2\" }", 80.0),
        ("values = { TILE = \"64\", STAGES = \"3\" }", 70.0),
        ("values = { TILE = \"128\", STAGES = \"2\" }", 60.0),
    ] {
        device.push_str(&format!("[[solution]]\n{fits}\ntime_us = {time:?}\n"));
    }
    device.push_str("[[solution]]\nverdict = \"compile_error\"\ntime_us = 1.0\n");
    device.push_str("message = \"ptxas error: k uses too much shared data\"\n");
    write("gpu.toml", &device);
    for name in ["a.cu", "b.cu", "c.cu"] {
        write(name, &format!("// {name}\n"));
    }
    write("k.cu", "int tile = TILE, stages = STAGES;\n");
    commands_print_what_is_shown("docs/groups.md", folder.path(), 5);
}

fn commands_print_what_is_shown(page: &str, folder: &Path, least: usize) {
    let path = Path::new(ROOT).join(page);
    let text = fs::read_to_string(&path).expect("a page");
    let examples = examples(&text);
    assert!(examples.len() >= least, "{page} lost its examples");

    let mut blessed = text.clone();
    let mut wrong = String::new();
    for Example { command, shown } in examples {
        let printed = run(&command, folder);
        if !same(&shown, &printed, folder) {
            wrong.push_str(&format!("$ {command}\n--- shown\n{shown}--- printed\n{printed}\n"));
            let block = |output: &str| format!("$ {command}\n{output}");
            blessed = blessed.replacen(&block(&shown), &block(&printed), 1);
        }
    }
    if env::var_os("NIBBLE_BLESS").is_some() {
        fs::write(path, blessed).expect("a page");
        return;
    }
    assert!(wrong.is_empty(), "{wrong}NIBBLE_BLESS=1 cargo test --test readme writes it anew");
}

/// The quick start, with what each command must end with; installing would change the machine.
#[test]
fn the_readmes_commands_work() {
    let page = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("README.md");
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    let commands: Vec<&str> = block
        .expect("a block of commands")
        .lines()
        .map(|line| line.split('#').next().unwrap_or(line).trim())
        .collect();
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    copy_solutions(folders[0].path());
    let leaves =
        commands.iter().position(|line| line.contains("cd ")).expect("a folder of one's own");
    let ends = [
        ("cargo run --release -- submit ", "✓ accepted"),
        ("nibble new ", "✓ wrote"),
        ("nibble profile ", "-bound  "),
    ];
    for (command, end) in ends {
        let at = commands.iter().position(|line| line.starts_with(command)).expect(command);
        let line = commands[at];
        let printed = run(line, folders[usize::from(at > leaves)].path());
        assert!(printed.contains(end), "$ {line}\n{printed}");
    }
    assert!(page.contains("`cargo test --release --workspace`"), "the one command that tests");
}

#[test]
fn the_files_they_name_are_there() {
    let docs = fs::read_dir(Path::new(ROOT).join("docs")).expect("docs").flatten();
    let pages = docs.map(|entry| entry.path()).filter(|path| path.extension().is_some());
    for page in pages.chain([Path::new(ROOT).join("README.md")]) {
        let text = fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") {
                let named = folder.join(path);
                assert!(named.exists(), "{} links to {path}, which is not there", page.display());
            }
        }
    }
}

fn examples(readme: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match (inside, line.strip_prefix("$ ")) {
            (_, _) if line.starts_with("```") => inside = line == "```console",
            (true, Some(command)) => {
                examples.push(Example { command: command.into(), shown: String::new() });
            }
            (true, None) => {
                let example = examples.last_mut().expect("a command before its output");
                example.shown.push_str(line);
                example.shown.push('\n');
            }
            (false, _) => {}
        }
    }
    examples
}

/// Both streams, as a terminal would show them. What a command does wrong shows in its output.
fn run(command: &str, folder: &Path) -> String {
    let nibble = format!("'{}' ", env!("CARGO_BIN_EXE_nibble"));
    let line = command.replace("cargo run --release -- ", &nibble);
    let line = line.strip_prefix("nibble ").map_or(line.clone(), |rest| format!("{nibble}{rest}"));
    let output = Command::new("bash")
        .args(["-c", &format!("{line} 2>&1")])
        .current_dir(folder)
        .env("NIBBLE_LEADERBOARD", folder.join("leaderboard"))
        .env("NIBBLE_AUTHOR", "ana")
        .output()
        .expect("bash");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Equal, where a short id of this run's attempts fits any other of its length.
fn same(shown: &str, printed: &str, folder: &Path) -> bool {
    let attempts = Store::at(folder.join("leaderboard")).ids().unwrap_or_default();
    let short: Vec<&str> = attempts.iter().map(|id| &id.tail()[..4]).collect();
    let shown = ages(&redact::redacted(shown, folder, &[]));
    let printed = ages(&redact::redacted(printed, folder, &[]));
    let (shown, printed): (Vec<&str>, Vec<&str>) =
        (shown.lines().collect(), printed.lines().collect());
    shown.len() == printed.len()
        && shown.iter().zip(printed).all(|(shown, printed)| {
            let mut shown = (*shown).to_owned();
            for id in &short {
                for (at, _) in printed.match_indices(id) {
                    let fits = shown.get(at..at + id.len()).is_some_and(|other| {
                        other.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                    });
                    if fits {
                        shown.replace_range(at..at + id.len(), id);
                    }
                }
            }
            shown == printed
        })
}

/// An age ends its line; how old an attempt is depends on how long the one after it took.
fn ages(text: &str) -> String {
    text.lines()
        .map(|line| {
            let ageless = line.strip_suffix("now").or_else(|| line.strip_suffix("age"));
            let minutes = line.strip_suffix(" min");
            let ageless =
                ageless.or_else(|| Some(minutes?.trim_end_matches(|c: char| c.is_ascii_digit())));
            ageless.map_or(line.to_owned(), |rest| format!("{}  AGE", rest.trim_end())) + "\n"
        })
        .collect()
}

/// What the commands read.
const DATA: &str = "problems/mxfp4_quantize/golden/normal_x.npy";

fn copy_solutions(to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(to.join(DATA).parent().expect("a folder")).expect("a folder");
    fs::copy(root.join(DATA), to.join(DATA)).expect("a copy");
    let root = root.join("solutions");
    for problem in fs::read_dir(root).expect("solutions").flatten() {
        let folder = to.join("solutions").join(problem.file_name());
        fs::create_dir_all(&folder).expect("a folder");
        for file in fs::read_dir(problem.path()).expect("solutions").flatten() {
            if file.path().is_file() {
                fs::copy(file.path(), folder.join(file.file_name())).expect("a copy");
            }
        }
    }
}

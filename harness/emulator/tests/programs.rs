//! Small programs: those in `ptx/fail` must stop with the screen beside them, and those in
//! `ptx/sanitize` where the sanitizer looks on, and only there; those in `ptx/pass` must finish and
//! leave what their first lines say, sanitized or not, in any order of warps and blocks. `BLESS=1`
//! rewrites the screens.
//!
//! Every program gets one array of 64 words, `a`, zeroed. Its first lines may say:
//!
//! ```text
//! // threads: 96          of a block; 32 otherwise
//! // blocks: 8
//! // order: fixed           shows what only this order of things shows: not shuffled, not sanitized
//! // blank: true           nobody has written `a`
//! // out[3]: 9            a word afterwards
//! // out[t]: t * 2        every word of the first `threads`, a formula over t
//! ```

use std::path::{Path, PathBuf};

use emulator::{Config, Fault, LaunchConfig, Level, Machine};

const WORDS: usize = 64;

struct Program {
    path: PathBuf,
    text: String,
}

impl Program {
    fn all(folder: &str) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx").join(folder);
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .expect("the folder of programs")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
            .collect();
        paths.sort();
        let read =
            |path: PathBuf| Self { text: std::fs::read_to_string(&path).expect("text"), path };
        paths.into_iter().map(read).collect()
    }

    fn name(&self) -> String {
        self.path.file_stem().expect("a name").to_string_lossy().into_owned()
    }

    fn said(&self, key: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix(&format!("// {key}: ")))
    }

    fn number(&self, key: &str, otherwise: u32) -> u32 {
        self.said(key).map_or(otherwise, |value| value.parse().expect("a number"))
    }

    fn run(&self, config: Config) -> (Result<(), Box<Fault>>, Vec<u32>) {
        let machine = Machine::new(config);
        let a = machine.memory().allocate(4 * WORDS as u64, "a").expect("room");
        if self.said("blank").is_none() {
            machine.memory().define(a, 4 * WORDS as u64);
        }
        let module = machine.load(&self.text).unwrap_or_else(|e| panic!("{}: {e}", self.name()));
        let launch = LaunchConfig {
            kernel: module.kernel("kernel").expect("kernel"),
            grid: [self.number("blocks", 1), 1, 1],
            block: [self.number("threads", 32), 1, 1],
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        let result = machine.launch(&launch, &a.to_le_bytes()).map(|_| ());
        // SAFETY: the allocation above, which nothing writes any more.
        let words = unsafe { std::slice::from_raw_parts(a as *const u32, WORDS) }.to_vec();
        (result, words)
    }
}

/// Every compilation that this machine runs on one host thread, and the best on several.
fn plainly() -> Vec<Config> {
    let alone = Level::all().iter().map(|&level| (level, 1));
    alone
        .chain([(Level::detect(), 4)])
        .map(|(level, threads)| Config { level, threads, ..Config::default() })
        .collect()
}

fn sanitized() -> Config {
    Config { sanitize: true, ..Config::default() }
}

#[test]
fn failing_programs_show_their_screens() {
    screens("fail", &plainly());
}

#[test]
fn the_sanitizer_finds_what_else_would_pass() {
    screens("sanitize", &[sanitized()]);
    for program in Program::all("sanitize") {
        let result = program.run(Config::default()).0;
        assert!(result.is_ok(), "{} fails without the sanitizer, too", program.name());
    }
}

fn screens(folder: &str, configs: &[Config]) {
    let mut wrong = Vec::new();
    for program in Program::all(folder) {
        for config in configs {
            let fault = match program.run(config.clone()).0 {
                Err(fault) => fault,
                Ok(()) => panic!("{} must fail", program.name()),
            };
            let screen = format!(
                "{} ({:?})\n{}\n  {}\n",
                fault.kind.name(),
                fault.kind.blame(),
                fault.headline(),
                fault.details(&mut |_, _| None).join("\n  ")
            );
            let beside = program.path.with_extension("screen");
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&beside, &screen).expect("a screen written");
            }
            let expected = std::fs::read_to_string(&beside).unwrap_or_default();
            if screen != expected {
                wrong.push(format!("{}:\n{screen}\nexpected:\n{expected}", program.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn legal_programs_finish_with_the_right_words() {
    let seeds = (0..20).map(|seed| Config { seed: Some(seed), ..sanitized() });
    let configs: Vec<_> = plainly().into_iter().chain([sanitized()]).chain(seeds).collect();
    for program in Program::all("pass") {
        let fixed = program.said("order").is_some();
        for config in configs.iter().filter(|config| !(fixed && config.sanitize)) {
            let (result, words) = program.run(config.clone());
            if let Err(fault) = result {
                let (name, seed) = (program.name(), config.seed);
                let details = fault.details(&mut |_, _| None).join("\n");
                panic!("{name} (seed {seed:?}): {}\n{details}", fault.headline());
            }
            let mut checked = 0;
            for line in program.text.lines() {
                let Some(rest) = line.strip_prefix("// out[") else { continue };
                let (index, value) = rest.split_once("]: ").expect("out[index]: value");
                let indices = match index.parse::<u32>() {
                    Ok(index) => index..index + 1,
                    Err(_) => 0..program.number("threads", 32),
                };
                for t in indices {
                    let expected = Formula { text: value, at: 0, t }.value();
                    assert_eq!(words[t as usize], expected, "{} word {t}", program.name());
                    checked += 1;
                }
            }
            assert!(checked > 0, "{} says nothing of its words", program.name());
        }
    }
}

/// `if t % 2 == 0 { 11 } else { 20 }`, sums, literals: just what the first lines need.
struct Formula<'a> {
    text: &'a str,
    at: usize,
    t: u32,
}

impl Formula<'_> {
    fn value(&mut self) -> u32 {
        let mut sum = self.term();
        loop {
            if self.eat("+") {
                sum = sum.wrapping_add(self.term());
            } else if self.eat("^") {
                sum ^= self.term();
            } else if self.eat("%") {
                sum %= self.term();
            } else {
                return sum;
            }
        }
    }

    fn term(&mut self) -> u32 {
        if self.eat("(") {
            let value = self.value();
            assert!(self.eat(")"));
            return value;
        }
        if self.eat("if ") {
            let left = self.value();
            let holds = if self.eat("==") {
                left == self.value()
            } else if self.eat("<") {
                left < self.value()
            } else {
                assert!(self.eat(">"), "a comparison in {}", self.text);
                left > self.value()
            };
            assert!(self.eat("{"));
            let yes = self.value();
            assert!(self.eat("}") && self.eat("else") && self.eat("{"));
            let no = self.value();
            assert!(self.eat("}"));
            return if holds { yes } else { no };
        }
        if self.eat("0x") {
            let digits = self.digits(|c| c.is_ascii_hexdigit());
            return u32::from_str_radix(digits, 16).expect("hex");
        }
        if self.eat("t") {
            return self.t;
        }
        self.digits(|c| c.is_ascii_digit()).parse().expect("a number")
    }

    fn eat(&mut self, word: &str) -> bool {
        let rest = &self.text[self.at..];
        let skip = rest.len() - rest.trim_start().len();
        let found = rest[skip..].starts_with(word);
        if found {
            self.at += skip + word.len();
        }
        found
    }

    fn digits(&mut self, of: impl Fn(char) -> bool) -> &str {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let len = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at = start + len;
        &self.text[start..start + len]
    }
}

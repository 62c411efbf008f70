//! `nibble doctor`: what works on this machine; each missing thing with what mends it.

use std::{env, fs, thread};

use judge::{DeviceChoice, card::Card, ncu};
use leaderboard::Store;
use serde::Serialize;
use toolchain::{Search, ToolchainError};

use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{json, style, words},
};

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    name: &'static str,
    state: State,
    text: String,
    /// The command that mends it.
    mend: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Works,
    /// Not there, and nobody needs it to.
    Absent,
    /// Needed and missing.
    Missing,
}

pub fn run(config: &Config) -> Result<Exit> {
    let mut findings = vec![compiler(config), emulator(), gpu(), isolation(), leaderboard(config)];
    if let DeviceChoice::Auto | DeviceChoice::Cuda(_) = config.device
        && let Ok(card) = Card::find(ordinal(config))
    {
        findings.extend([profiler(), noise_floor(&card)]);
    }
    let missing = findings.iter().any(|finding| finding.state == State::Missing);
    let text: String = findings
        .iter()
        .map(|finding| if config.json { json::line(finding) } else { line(finding) })
        .collect();
    config.terminal.print(&text)?;
    Ok(if missing { Exit::Machine } else { Exit::Accepted })
}

fn line(finding: &Finding) -> String {
    let (colour, symbol) = match finding.state {
        State::Works => (style::GOOD, "✓"),
        State::Absent => (style::DIM, "–"),
        State::Missing => (style::BAD, "✗"),
    };
    let head = format!("{} {:<12}", style::paint(colour, symbol), finding.name);
    let mut text = format!("{}\n", words::hanging(&format!("{head}{}", finding.text), 14));
    if let Some(mend) = &finding.mend {
        let mend = style::paint(style::ACCENT, mend);
        text.push_str(&format!("{:14}mend it with  {mend}\n", ""));
    }
    text
}

fn works(name: &'static str, text: String) -> Finding {
    Finding { name, state: State::Works, text, mend: None }
}

fn compiler(config: &Config) -> Finding {
    let name = "compiler";
    let missing = |error: ToolchainError| Finding {
        name,
        state: State::Missing,
        text: error.to_string(),
        mend: Some(error.mend()),
    };
    let mut passed_over = String::new();
    let found = Search::from_environment(config.nvcc.clone()).and_then(|search| {
        let found = search.find(&mut |event| {
            if let toolchain::Event::Warning(warning) = event {
                passed_over.push_str(&format!("\n{warning}"));
            }
        })?;
        search.verify(found.as_ref())?;
        Ok(found)
    });
    match found {
        Ok(Some(found)) => works(
            name,
            format!(
                "nvcc {} from {}, with {}{passed_over}",
                found.version,
                found.origin,
                found.host_compiler.display()
            ),
        ),
        Ok(None) => Finding {
            name,
            state: State::Absent,
            text: format!("not here yet: the first check installs nvcc by itself{passed_over}"),
            mend: Some("nibble toolchain install".into()),
        },
        Err(error) => missing(error),
    }
}

fn emulator() -> Finding {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    #[cfg(target_arch = "x86_64")]
    let vectors = match is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        true => "AVX2",
        false => "no AVX2, so slower",
    };
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = "no AVX2, so slower";
    works("emulator", format!("{}, {vectors}", words::count(cores, "core")))
}

/// What NVIDIA's kernel module says; its library is asked only when a kernel is to run.
fn gpu() -> Finding {
    let name = "GPU";
    let gpus = fs::read_dir("/proc/driver/nvidia/gpus").into_iter().flatten().flatten();
    let models: Vec<String> = gpus
        .filter_map(|gpu| fs::read_to_string(gpu.path().join("information")).ok())
        .filter_map(|text| {
            let model = text.lines().find_map(|line| line.strip_prefix("Model:"))?;
            Some(model.trim().to_owned())
        })
        .collect();
    match models.is_empty() {
        false => works(name, words::list(&models, "and")),
        true => Finding {
            name,
            state: State::Absent,
            text: "none: kernels run on the emulator, and times are modelled".into(),
            mend: None,
        },
    }
}

fn ordinal(config: &Config) -> usize {
    match config.device {
        DeviceChoice::Cuda(ordinal) => ordinal,
        _ => 0,
    }
}

fn profiler() -> Finding {
    let name = "profiler";
    match ncu::find() {
        Some(ncu) => works(name, ncu.display().to_string()),
        None => Finding {
            name,
            state: State::Absent,
            text: "no ncu: `nibble profile` shows what time and bytes tell".into(),
            mend: Some("install NVIDIA Nsight Compute, or put ncu in PATH".into()),
        },
    }
}

/// An A/A run: whatever two timings of one kernel differ by is noise.
fn noise_floor(card: &Card) -> Finding {
    let name = "noise";
    let found =
        problems::find("mxfp4_quantize").map_err(|error| error.to_string()).and_then(|problem| {
            let device = DeviceChoice::Cuda(card.ordinal);
            judge::noise(problem, device, &mut |_| ()).map_err(|error| error.to_string())
        });
    match found {
        Ok(noise) => works(
            name,
            format!(
                "{} timed against itself: {} pairs of blocks differ by {:.2} % in the median, \
                 nineteen of twenty by less than {:.2} %",
                words::micros(noise.median_us),
                noise.pairs,
                100.0 * noise.bias.abs(),
                100.0 * noise.spread
            ),
        ),
        Err(text) => Finding { name, state: State::Missing, text, mend: None },
    }
}

/// What a solution is kept from, found out by starting a worker that tries.
fn isolation() -> Finding {
    let name = "isolation";
    let found = env::current_exe()
        .map_err(|error| error.to_string())
        .and_then(|nibble| judge::judge::isolation(&nibble).map_err(|error| error.to_string()));
    match found {
        Ok(found) if found.is_whole() => works(name, found.describe()),
        Ok(found) => Finding {
            name,
            state: State::Absent,
            text: format!("{}: run only solutions you trust", found.describe()),
            mend: None,
        },
        Err(text) => Finding { name, state: State::Missing, text, mend: None },
    }
}

fn leaderboard(config: &Config) -> Finding {
    let name = "leaderboard";
    let missing = |text: String| Finding {
        name,
        state: State::Missing,
        text,
        mend: Some("nibble --leaderboard DIR …".into()),
    };
    let folder = match config.leaderboard() {
        Ok(folder) => folder,
        Err(failure) => return missing(failure.message),
    };
    match Store::at(&folder).read(None) {
        Err(error) => missing(error.to_string()),
        Ok(collection) => {
            let count = words::count(collection.attempts.len() as u64, "attempt");
            let unreadable = match collection.unreadable.len() {
                0 => String::new(),
                n => format!(", {n} unreadable"),
            };
            works(name, format!("{count}{unreadable} in {}", folder.display()))
        }
    }
}

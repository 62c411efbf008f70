//! NVIDIA's profiler: one call of a solution under `ncu`, reduced to what is looked at first.
//!
//! `ncu` must start the program that it looks into. A worker is no such program, in its sandbox and
//! behind its warden; so this executable runs itself once more, as a hidden verb that opens the
//! library, calls `solution` and ends ([`once`]). What it prints is nobody's claim: profiles explain,
//! they rank nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use problems::CaseSpec;
use serde::Serialize;

use crate::device::cuda::{Context, Cuda};
use crate::device::{Argument, Buffer, Call, Lent};
use crate::judge::Judge;
use crate::run::{Placed, executable, judges};
use crate::shared::{Map, Shared};
use crate::{Config, Error, Event, Interrupt, bench};
use ptx::KernelFacts;
use toolchain::compile::process::{self, Bounds, Ended};

/// The hidden verb's name.
pub const VERB: &str = "__once";

/// What one kernel launch did, as the hardware counted it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelProfile {
    pub kernel: String,
    pub grid: String,
    pub block: String,
    /// With the clock as it is, caches flushed before.
    pub duration_us: f64,
    pub dram_read_bytes: f64,
    pub dram_write_bytes: f64,
    /// Of what the memory, and the SMs, can do.
    pub dram_percent: f64,
    pub sm_percent: f64,
    /// Resident warps over those an SM can hold, 0 to 1, on average.
    pub occupancy: f64,
    pub registers: f64,
    pub warp_instructions: f64,
    /// Of 32, in a warp instruction.
    pub active_lanes: f64,
    /// 32-byte sectors for each request to global memory.
    pub load_sectors_per_request: f64,
    pub store_sectors_per_request: f64,
    pub shared_bank_conflicts: f64,
}

/// Takes a metric's value into a profile.
type Put = fn(&mut KernelProfile, f64);

/// The metrics that are asked for, and where they go.
const METRICS: [(&str, Put); 15] = [
    ("gpu__time_duration.sum", |p, v| p.duration_us = v * 1e-3),
    ("dram__bytes_read.sum", |p, v| p.dram_read_bytes = v),
    ("dram__bytes_write.sum", |p, v| p.dram_write_bytes = v),
    ("dram__throughput.avg.pct_of_peak_sustained_elapsed", |p, v| p.dram_percent = v),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", |p, v| p.sm_percent = v),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", |p, v| p.occupancy = v / 100.0),
    ("launch__registers_per_thread", |p, v| p.registers = v),
    ("smsp__inst_executed.sum", |p, v| p.warp_instructions = v),
    ("smsp__thread_inst_executed_per_inst_executed.ratio", |p, v| p.active_lanes = v),
    (LOAD_SECTORS, |p, v| p.load_sectors_per_request = v),
    (LOAD_REQUESTS, |p, v| p.load_sectors_per_request /= v.max(1.0)),
    (STORE_SECTORS, |p, v| p.store_sectors_per_request = v),
    (STORE_REQUESTS, |p, v| p.store_sectors_per_request /= v.max(1.0)),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", |p, v| {
        p.shared_bank_conflicts += v;
    }),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", |p, v| {
        p.shared_bank_conflicts += v;
    }),
];

const LOAD_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const LOAD_REQUESTS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
const STORE_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
const STORE_REQUESTS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";

/// `ncu` in PATH or in CUDA's folder.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cuda = std::env::var_os("CUDA_HOME").unwrap_or_else(|| "/usr/local/cuda".into());
    let folders = std::env::split_paths(&path).chain([PathBuf::from(cuda).join("bin")]);
    folders.map(|folder| folder.join("ncu")).find(|file| file.is_file())
}

/// A solution at the largest size of its problem's bench (or of those asked for), with each launch of
/// its kernels. The size's name comes first.
///
/// # Errors
///
/// [`Error::Machine`] where there is no GPU, no `ncu`, or one that may not count;
/// [`Error::Usage`] where the solution does not compile.
pub fn solution(
    config: &Config,
    emit: &mut dyn FnMut(Event),
) -> Result<(String, Vec<KernelProfile>), Error> {
    let Placed { problem, judge, report, .. } = judges(config, emit)?;
    let judge = judge.ok_or_else(|| Error::Usage("it does not compile".to_owned()))?;
    let cases = bench::cases(problem, &config.sizes)?;
    let case = bench::largest(problem, &cases)?;
    Ok((case.sizes.to_string(), call(config, &judge, &report.kernels, case)?))
}

/// One call with inputs of this case, with each launch of the solution's kernels.
///
/// # Errors
///
/// [`Error::Machine`] where there is no `ncu`, or one that may not count.
pub(crate) fn call(
    config: &Config,
    judge: &Judge,
    kernels: &[KernelFacts],
    case: &CaseSpec,
) -> Result<Vec<KernelProfile>, Error> {
    let ncu = find().ok_or_else(|| {
        Error::machine("there is no ncu", "install NVIDIA Nsight Compute, or put ncu in PATH")
    })?;
    let folder = tempfile::tempdir().map_err(|error| {
        Error::machine(format!("no temporary folder: {error}"), "free some space, or set TMPDIR")
    })?;
    let request = judge.ncu_request(case, folder.path().join("contents"))?;
    let names: Vec<String> = kernels.iter().map(|kernel| kernel.mangled.clone()).collect();
    let Config { limits, interrupt, .. } = config;
    profile(&ncu, &executable(config)?, &request, &names, limits.bench, interrupt)
}

/// What is to be called once, as the hidden verb's argument.
#[derive(Debug, serde::Deserialize, Serialize)]
pub struct NcuRequest {
    pub library: PathBuf,
    pub ordinal: usize,
    /// Each buffer's name and bytes; what they hold stands in the file of the same number.
    pub buffers: Vec<(String, usize)>,
    pub arguments: Vec<Argument>,
    /// The bytes of all buffers, one after the other.
    pub contents: PathBuf,
}

/// Runs one call under `ncu` and returns a profile of each launch of the named kernels.
///
/// # Errors
///
/// [`Error::Machine`] where `ncu` is not there or may not count.
pub fn profile(
    ncu: &Path,
    executable: &Path,
    request: &NcuRequest,
    kernels: &[String],
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<KernelProfile>, Error> {
    let failed = |what: String| {
        Error::machine(what, "see NVIDIA's page on ERR_NVGPUCTRPERM, or run as root")
    };
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let order = folder.path().join("order.json");
    let text = serde_json::to_vec(request).map_err(|error| failed(error.to_string()))?;
    std::fs::write(&order, text).map_err(|error| failed(error.to_string()))?;
    let (csv, said) = (folder.path().join("profile.csv"), folder.path().join("said"));
    let output = std::fs::File::create(&said).map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(ncu);
    command
        .args(arguments(kernels))
        .arg("--log-file")
        .arg(&csv)
        .arg(executable)
        .arg(VERB)
        .arg(&order)
        .current_dir(folder.path())
        .stdout(output.try_clone().map_err(|error| failed(error.to_string()))?)
        .stderr(output);
    let bounds = Bounds { wall: limit, memory: None, file: None };
    let ended = process::run(&mut command, &bounds, interrupt, &mut || ())
        .map_err(|error| failed(format!("{}: {error}", ncu.display())))?;
    let text = std::fs::read_to_string(&csv).unwrap_or_default();
    match parse(&text) {
        Ok(profiles) if !profiles.is_empty() => Ok(profiles),
        _ => Err(failed(complaint(&text).unwrap_or_else(|| {
            let said = std::fs::read_to_string(&said).unwrap_or_default();
            let last = said.lines().rev().find(|line| !line.trim().is_empty());
            format!(
                "ncu counted nothing ({})",
                last.unwrap_or(match ended {
                    Ended::Exited(_) => "it said nothing",
                    _ => "it was stopped",
                })
            )
        }))),
    }
}

/// What `ncu` is told before the program. The clocks stay as they are: other people's jobs may run
/// on the card.
fn arguments(kernels: &[String]) -> Vec<OsString> {
    let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
    let mut arguments: Vec<OsString> =
        ["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
            .map(OsString::from)
            .to_vec();
    arguments.extend(["--metrics".into(), names.join(",").into()]);
    if !kernels.is_empty() {
        let any = format!("regex:^({})$", kernels.join("|"));
        arguments.extend(["--kernel-name-base", "mangled", "--kernel-name"].map(OsString::from));
        arguments.push(any.into());
    }
    arguments
}

/// `ncu`'s own error.
fn complaint(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("==ERROR== "))?;
    Some(format!("ncu: {line}"))
}

/// Reads what `ncu --csv --page raw --print-units base` prints: its remarks, a row of names, a row
/// of units, and a row for each launch.
///
/// # Errors
///
/// What is not there.
pub fn parse(text: &str) -> Result<Vec<KernelProfile>, String> {
    let mut rows = text.lines().filter(|line| line.starts_with('"')).map(cells);
    let names = rows.next().ok_or("no table")?;
    let place = |name: &str| names.iter().position(|known| known == name);
    let needed = |name: &str| place(name).ok_or_else(|| format!("no column `{name}`"));
    let (kernel, grid, block) =
        (needed("Kernel Name")?, needed("Grid Size")?, needed("Block Size")?);
    rows.next().ok_or("no row of units")?;
    let profile = |row: Vec<String>| {
        let cell = |place: usize| row.get(place).cloned().unwrap_or_default();
        let mut profile = KernelProfile {
            kernel: cell(kernel),
            grid: cell(grid),
            block: cell(block),
            ..KernelProfile::default()
        };
        for (name, put) in METRICS {
            // A metric that this GPU does not have is no reason to lose the others.
            let value = place(name).and_then(|place| row.get(place));
            let number = value.and_then(|value| value.replace(',', "").parse::<f64>().ok());
            if let Some(number) = number {
                put(&mut profile, number);
            }
        }
        profile
    };
    Ok(rows.map(profile).collect())
}

/// The cells of a line of CSV; quotes within a cell are doubled (RFC 4180).
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cells.last_mut().into_iter().for_each(|cell| cell.push('"'));
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => cells.last_mut().into_iter().for_each(|cell| cell.push(letter)),
        }
    }
    cells
}

/// The hidden verb: calls a solution twice and ends. The first call loads what is loaded lazily.
///
/// # Errors
///
/// What went wrong, for `ncu`'s log.
pub fn once(order: &Path) -> Result<(), String> {
    let text = std::fs::read(order).map_err(|error| error.to_string())?;
    let request: NcuRequest = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let context = Context::open(request.ordinal)?;
    let sizes = request.buffers.iter().map(|(name, bytes)| (name.as_str(), *bytes));
    let shared = Shared::new(sizes).map_err(|error| error.to_string())?;
    let contents = std::fs::read(&request.contents).map_err(|error| error.to_string())?;
    let mut rest = contents.as_slice();
    for (index, (_, bytes)) in request.buffers.iter().enumerate() {
        let (own, behind) = rest.split_at_checked(*bytes).ok_or("too few bytes")?;
        shared.upload(index, own).map_err(|error| error.to_string())?;
        rest = behind;
    }
    let map = Map::new(shared.fd(), shared.len()).map_err(|error| error.to_string())?;
    let buffers: Vec<Buffer> = shared.buffers().to_vec();
    let mut device = Cuda::open(&request.library, &context)?;
    match device.call(Lent::Shared(&map), &buffers, &request.arguments, Duration::MAX) {
        Call::Failed(error) => Err(error.text),
        Call::Returned { .. } | Call::Faulted(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_may_hold_commas_and_quotes() {
        assert_eq!(cells(r#""a","b, c","say ""d""","""#), ["a", "b, c", "say \"d\"", ""]);
    }

    /// `ncu` 2025.3.1 on an H200, driver 580.159.04, of the third rung of mxfp4_quantize.
    #[test]
    fn a_recorded_profile_is_read() {
        let profiles = parse(include_str!("ncu/recorded.csv")).unwrap();
        let [profile] = profiles.as_slice() else { panic!("{profiles:?}") };
        assert!(profile.kernel.contains("quantize"), "{}", profile.kernel);
        assert_eq!(profile.registers, 28.0);
        // 4096 x 8192 floats in; each block of 32 to 17 bytes.
        assert!((profile.dram_read_bytes / (4096.0 * 8192.0 * 4.0) - 1.0).abs() < 0.05);
        // Two 16-byte loads a lane, 32 bytes apart from lane to lane: each touches all 32 sectors.
        assert_eq!(profile.load_sectors_per_request, 32.0);
        assert!((0.1..=1.0).contains(&profile.occupancy));
        assert!((30.0..70.0).contains(&profile.duration_us), "{}", profile.duration_us);
        assert!((31.0..=32.0).contains(&profile.active_lanes));
    }

    #[test]
    fn what_is_no_table_is_said() {
        assert!(parse("==ERROR== no").is_err());
        assert_eq!(complaint("==PROF== x\n==ERROR== no").as_deref(), Some("ncu: no"));
        let short = "\"ID\",\"Kernel Name\"\n\"\",\"\"\n\"0\",\"k\"\n";
        assert_eq!(parse(short), Err("no column `Grid Size`".to_owned()));
    }
}

//! A program's PTX on the emulator, in every way that it can be run.

use std::fmt;

use emulator::{Config, LaunchConfig, Level, Machine};

use crate::{BLOCKS, THREADS};

const TABLE: usize = 256;
const EACH: usize = (BLOCKS * THREADS) as usize;
const SCRATCH: usize = EACH * 8;

/// What differs from the twin.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Number of the function.
    pub function: usize,
    pub way: String,
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {}, {}: {}", self.function, self.way, self.what)
    }
}

/// Run all kernels of a program. `expected` is what they shall store, one behind the other.
///
/// # Errors
/// The first mistake.
pub fn try_ptx(
    ptx: &str,
    expected: &[u64],
    capability: (u32, u32),
    seed: u64,
) -> Result<(), Mistake> {
    for (way, config) in ways(capability, seed) {
        run(ptx, expected, config).map_err(|(function, what)| Mistake { function, way, what })?;
    }
    Ok(())
}

fn ways(capability: (u32, u32), seed: u64) -> Vec<(String, Config)> {
    let usual = Config { threads: 1, memory: 1 << 30, capability, ..Config::default() };
    let level = |&level: &Level| (format!("{level:?}"), Config { level, ..usual.clone() });
    let others = [
        ("eight threads", Config { threads: 8, ..usual.clone() }),
        ("in a random order", Config { seed: Some(seed), ..usual.clone() }),
        ("sanitized", Config { sanitize: true, ..usual.clone() }),
    ];
    let others = others.map(|(name, config)| (name.to_owned(), config));
    Level::all().iter().map(level).chain(others).collect()
}

fn run(ptx: &str, expected: &[u64], config: Config) -> Result<(), (usize, String)> {
    let machine = Machine::new(config);
    let module = machine.load(ptx).map_err(|error| (0, error.to_string()))?;
    let memory = machine.memory();
    let allocate = |bytes: usize, name| {
        memory.allocate(bytes as u64, name).map_err(|error| (0, error.to_string()))
    };
    let (out, table) = (allocate(8 * EACH, "out")?, allocate(4 * TABLE, "table")?);
    let scratch = allocate(4 * SCRATCH, "scratch")?;
    for n in 0..TABLE {
        // SAFETY: the table was allocated with `TABLE` words, and no launch is under way.
        unsafe { (table as *mut u32).add(n).write((n as u32).wrapping_mul(0x9e37_79b9)) };
    }
    memory.define(table, 4 * TABLE as u64);
    let params: Vec<u8> = [out, table, scratch].iter().flat_map(|at| at.to_le_bytes()).collect();
    for (function, expected) in expected.chunks_exact(EACH).enumerate() {
        let kernel = module.kernel(&format!("k{function}"));
        let launch = LaunchConfig {
            kernel: kernel.ok_or_else(|| (function, "its kernel is not there".to_owned()))?,
            grid: [BLOCKS, 1, 1],
            block: [THREADS, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        machine.launch(&launch, &params).map_err(|fault| {
            let details = fault.details(&mut |_, _| None).join("\n");
            (function, format!("{}\n{details}", fault.headline()))
        })?;
        for (thread, &expected) in expected.iter().enumerate() {
            // SAFETY: the allocation above has `EACH` words, and the launch is over.
            let found = unsafe { (out as *const u64).add(thread).read() };
            if found != expected {
                let what = format!("thread {thread} stores {found:#x}, its twin {expected:#x}");
                return Err((function, what));
            }
        }
    }
    Ok(())
}

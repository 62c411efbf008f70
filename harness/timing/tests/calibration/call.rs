//! A timed call of the calibration set.

use emulator::Counters;
use ptx::KernelFacts;
use serde::Deserialize;
use serde_json::Value;
use timing::gpus::Gpu;
use timing::{Launch, model};

/// A line of `calibration/h200.jsonl`, as `collect.py` writes it.
#[derive(Deserialize)]
struct Line {
    /// "nvfp4_gemv/warp, halves 7168x2048x4"
    name: String,
    us: f64,
    launches: Vec<Counted>,
}

#[derive(Deserialize)]
struct Counted {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    registers: u32,
    spills: [u32; 2],
    stack: u32,
    /// Those that are not zero.
    counters: serde_json::Map<String, Value>,
}

pub struct Call {
    /// The whole name.
    pub name: String,
    /// What varies in one way, or a problem: "local_array", "nvfp4_gemv".
    pub family: String,
    /// Without the size.
    pub kernel: String,
    /// Microseconds.
    pub measured: f64,
    launches: Vec<Launch>,
    facts: Vec<KernelFacts>,
}

impl Call {
    /// Microseconds.
    pub fn modelled(&self, gpu: &Gpu) -> f64 {
        model::call(gpu, &self.launches, &self.facts).seconds * 1e6
    }
}

pub fn all() -> Vec<Call> {
    let Value::Object(zeros) = serde_json::to_value(Counters::default()).unwrap() else {
        panic!("counters are an object");
    };
    let lines = include_str!("../../calibration/h200.jsonl").lines();
    lines.map(|line| call(serde_json::from_str(line).unwrap(), &zeros)).collect()
}

fn call(line: Line, zeros: &serde_json::Map<String, Value>) -> Call {
    let mut facts = Vec::new();
    let mut launches = Vec::new();
    for counted in line.launches {
        let mut counters = zeros.clone();
        counters.extend(counted.counters);
        let Counted { kernel, grid, block, dynamic_shared, .. } = counted;
        facts.push(KernelFacts {
            name: kernel.clone(),
            mangled: kernel.clone(),
            registers: counted.registers,
            spill_store_bytes: counted.spills[0],
            spill_load_bytes: counted.spills[1],
            shared_bytes: 0,
            stack_bytes: counted.stack,
        });
        let counters = serde_json::from_value(Value::Object(counters)).unwrap();
        launches.push(Launch { kernel, grid, block, dynamic_shared, counters });
    }
    let (family, rest) = line.name.split_once('/').unwrap();
    // Of a problem's call, the last word is the size.
    let kernel = rest.rsplit_once(' ').map_or(rest, |(kernel, _)| kernel);
    let (family, kernel) = (family.to_owned(), kernel.to_owned());
    Call { name: line.name, family, kernel, measured: line.us, launches, facts }
}

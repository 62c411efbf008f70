//! Two attempts side by side, as data.

use serde::Serialize;

use crate::attempt::{Attempt, Counters, Kernel, Size};
use crate::summary::{Facts, Summary};

/// What can be said of an attempt, its kernels and its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    Verdict,
    Time,
    SpeedOfLight,
    Registers,
    Spills,
    SharedMemory,
    DramBytes,
    WarpInstructions,
    SectorsPerRequest,
    ActiveLanes,
    Occupancy,
    Flags,
    Compiler,
    Revision,
    Device,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Microseconds,
    Bytes,
    Count,
    /// Of a hundred.
    Percent,
    /// Of one.
    Share,
    Text,
}

impl Fact {
    pub fn label(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Time => "time",
            Self::SpeedOfLight => "speed of light",
            Self::Registers => "registers",
            Self::Spills => "spills",
            Self::SharedMemory => "shared memory",
            Self::DramBytes => "DRAM traffic",
            Self::WarpInstructions => "warp instructions",
            Self::SectorsPerRequest => "sectors per request",
            Self::ActiveLanes => "active lanes",
            Self::Occupancy => "occupancy",
            Self::Flags => "flags",
            Self::Compiler => "nvcc",
            Self::Revision => "revision",
            Self::Device => "device",
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Time => Unit::Microseconds,
            Self::Spills | Self::SharedMemory | Self::DramBytes => Unit::Bytes,
            Self::SpeedOfLight => Unit::Percent,
            Self::Occupancy => Unit::Share,
            Self::Registers
            | Self::WarpInstructions
            | Self::SectorsPerRequest
            | Self::ActiveLanes
            | Self::Revision => Unit::Count,
            Self::Verdict | Self::Flags | Self::Compiler | Self::Device => Unit::Text,
        }
    }

    /// Whether less of it is better; absent where it is neither good nor bad by itself. More
    /// registers may be the price of fewer instructions, and occupancy is a means, not an end.
    pub fn less_is_better(self) -> Option<bool> {
        match self {
            Self::Time
            | Self::Spills
            | Self::DramBytes
            | Self::WarpInstructions
            | Self::SectorsPerRequest => Some(true),
            Self::SpeedOfLight | Self::ActiveLanes => Some(false),
            _ => None,
        }
    }
}

/// Of what a fact is said.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "of", content = "name")]
pub enum Subject {
    Attempt,
    Kernel(String),
    Size(String),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Number(f64),
    Text(String),
}

/// One fact of A beside the same of B. Absent where one of them does not have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub subject: Subject,
    pub fact: Fact,
    pub a: Option<Value>,
    pub b: Option<Value>,
}

impl Difference {
    pub fn changed(&self) -> bool {
        self.a != self.b
    }

    /// B relative to A, less one: -0.25 is a quarter less.
    pub fn relative(&self) -> Option<f64> {
        match (&self.a, &self.b) {
            (Some(Value::Number(a)), Some(Value::Number(b))) if *a != 0.0 => Some(b / a - 1.0),
            _ => None,
        }
    }

    /// Whether B is better in this; absent where it is the same, or neither good nor bad.
    pub fn improved(&self) -> Option<bool> {
        match (&self.a, &self.b) {
            (Some(Value::Number(a)), Some(Value::Number(b))) if a != b => {
                self.fact.less_is_better().map(|less| (b < a) == less)
            }
            _ => None,
        }
    }
}

/// Why the times of two attempts say little about their sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Caveat {
    #[error("they solve different problems")]
    Problem,
    #[error("the problem changed between them")]
    Revision,
    #[error("one time is modelled and the other measured")]
    Modelled,
    #[error("they ran on different devices")]
    Device,
    #[error("the times are modelled by different versions of nibble")]
    Model,
    #[error("different compilers built them")]
    Compiler,
    #[error("they ran on two different GPUs of one kind")]
    Gpu,
    #[error("the GPU's driver changed between them")]
    Driver,
    #[error("the GPU's clocks differed")]
    Clocks,
}

/// Everything that stands against comparing the times of `a` and `b`.
pub fn caveats(a: &Attempt, b: &Attempt) -> Vec<Caveat> {
    fn differ<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
        matches!((a, b), (Some(a), Some(b)) if a != b)
    }
    let (one, two) = (&a.outcome, &b.outcome);
    let (here, there) = (&one.environment, &two.environment);
    let clocks = differ(&here.sm_clock_mhz, &there.sm_clock_mhz)
        || differ(&here.memory_clock_mhz, &there.memory_clock_mhz);
    [
        (a.problem != b.problem, Caveat::Problem),
        (a.problem == b.problem && a.revision != b.revision, Caveat::Revision),
        (one.modelled != two.modelled, Caveat::Modelled),
        (one.device != two.device, Caveat::Device),
        (
            one.modelled && two.modelled && one.toolchain.nibble != two.toolchain.nibble,
            Caveat::Model,
        ),
        (differ(&one.toolchain.nvcc, &two.toolchain.nvcc), Caveat::Compiler),
        (one.device == two.device && differ(&here.gpu_uuid, &there.gpu_uuid), Caveat::Gpu),
        (differ(&here.driver, &there.driver), Caveat::Driver),
        (clocks, Caveat::Clocks),
    ]
    .into_iter()
    .filter_map(|(holds, caveat)| holds.then_some(caveat))
    .collect()
}

/// Every fact of two attempts, changed or not: of the whole first, then of each kernel, then of
/// each size, in A's order and then what only B has.
pub fn side_by_side(a: &Attempt, b: &Attempt) -> Vec<Difference> {
    let mut rows = whole(&Summary::from(a), &Summary::from(b));
    for (name, a, b) in paired(&a.outcome.kernels, &b.outcome.kernels, |kernel| &kernel.name) {
        let number = |of: fn(&Kernel) -> u32| {
            (a.map(|one| Value::Number(of(one).into())), b.map(|one| Value::Number(of(one).into())))
        };
        let subject = Subject::Kernel(name.to_owned());
        push(&mut rows, &subject, Fact::Registers, number(|kernel| kernel.registers));
        push(&mut rows, &subject, Fact::Spills, number(|kernel| kernel.spill_bytes));
        push(&mut rows, &subject, Fact::SharedMemory, number(|kernel| kernel.shared_bytes));
    }
    for (name, a, b) in paired(&a.outcome.sizes, &b.outcome.sizes, |size| &size.name) {
        let number = |of: fn(&Size) -> Option<f64>| {
            (a.and_then(of).map(Value::Number), b.and_then(of).map(Value::Number))
        };
        let subject = Subject::Size(name.to_owned());
        for (fact, of) in SIZE_FACTS {
            push(&mut rows, &subject, fact, number(of));
        }
    }
    rows
}

type OfSize = fn(&Size) -> Option<f64>;
const SIZE_FACTS: [(Fact, OfSize); 7] = [
    (Fact::Time, |size| Some(size.median.us)),
    (Fact::SpeedOfLight, |size| Some(size.sol_percent)),
    (Fact::DramBytes, |size| counter(size, |counters| Some(counters.dram_bytes as f64))),
    (Fact::WarpInstructions, |size| counter(size, |one| Some(one.warp_instructions as f64))),
    (Fact::SectorsPerRequest, |size| counter(size, |counters| counters.sectors_per_request)),
    (Fact::ActiveLanes, |size| counter(size, |counters| counters.active_lanes)),
    (Fact::Occupancy, |size| counter(size, |counters| counters.occupancy)),
];

fn counter(size: &Size, of: fn(&Counters) -> Option<f64>) -> Option<f64> {
    size.counters.as_ref().and_then(of)
}

/// What changed from `a` to `b`, in a handful of facts.
pub fn changes(a: &Summary, b: &Summary) -> Vec<Difference> {
    let mut rows = whole(a, b);
    rows.retain(Difference::changed);
    rows
}

fn whole(a: &Summary, b: &Summary) -> Vec<Difference> {
    let mut rows = Vec::new();
    let mut row = |fact, of: &dyn Fn(&Summary) -> Option<Value>| {
        push(&mut rows, &Subject::Attempt, fact, (of(a), of(b)));
    };
    let number = |value: Option<f64>| value.map(Value::Number);
    row(Fact::Verdict, &|one| Some(Value::Text(one.verdict.word().to_owned())));
    row(Fact::Time, &|one| number(one.geomean.map(|time| time.us)));
    row(Fact::SpeedOfLight, &|one| number(one.sol_percent));
    let mut fact = |fact, of: fn(&Facts) -> Option<f64>| {
        row(fact, &|one| number(of(&one.facts)));
    };
    fact(Fact::Registers, |facts| facts.registers.map(f64::from));
    fact(Fact::Spills, |facts| facts.spill_bytes.map(f64::from));
    fact(Fact::SharedMemory, |facts| facts.shared_bytes.map(f64::from));
    fact(Fact::DramBytes, |facts| facts.dram_bytes.map(|bytes| bytes as f64));
    fact(Fact::WarpInstructions, |facts| facts.warp_instructions.map(|count| count as f64));
    fact(Fact::SectorsPerRequest, |facts| facts.sectors_per_request);
    fact(Fact::ActiveLanes, |facts| facts.active_lanes);
    fact(Fact::Occupancy, |facts| facts.occupancy);
    row(Fact::Flags, &|one| Some(Value::Text(one.facts.flags.join(" "))));
    row(Fact::Compiler, &|one| one.facts.nvcc.clone().map(Value::Text));
    row(Fact::Revision, &|one| number(Some(one.revision.into())));
    row(Fact::Device, &|one| Some(Value::Text(format!("{} {}", one.device.name, one.device.arch))));
    rows
}

/// A fact that neither has is not said.
fn push(
    rows: &mut Vec<Difference>,
    subject: &Subject,
    fact: Fact,
    (a, b): (Option<Value>, Option<Value>),
) {
    if a.is_some() || b.is_some() {
        rows.push(Difference { subject: subject.clone(), fact, a, b });
    }
}

/// Elements of the same name, in A's order, then B's own.
fn paired<'a, T>(
    a: &'a [T],
    b: &'a [T],
    name: fn(&T) -> &String,
) -> Vec<(&'a str, Option<&'a T>, Option<&'a T>)> {
    let find = |all: &'a [T], wanted: &str| all.iter().find(|one| name(one) == wanted);
    let both = a.iter().map(|one| (name(one).as_str(), Some(one), find(b, name(one))));
    let only_b = b
        .iter()
        .filter(|one| find(a, name(one)).is_none())
        .map(|one| (name(one).as_str(), None, Some(one)));
    both.chain(only_b).collect()
}

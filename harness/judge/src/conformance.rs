//! Holds the emulator to a GPU of this machine: the same program on both, bit for bit.
//!
//! Three kinds of programs: a list of single instructions ([`Instruction`]), PTX files with one
//! array of 64 words as the emulator's own tests have them, and solutions, on the small cases of
//! their problem's check.

mod instruction;
mod solution;

use std::path::Path;

use emulator::{LaunchConfig, Machine};
use serde::Serialize;

use self::instruction::{Instruction, THREADS};
pub use self::solution::solution;
use crate::Error;
use crate::card::Card;
use crate::device::cuda::driver::{Context, Memory, Module, Value, synchronize, words};

/// How one program came out.
#[derive(Clone, Debug, Serialize)]
pub struct Conformance {
    pub name: String,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The same bits.
    Equal {
        values: usize,
    },
    /// Other bits, within the bound that the manual gives.
    Close {
        values: usize,
        differing: usize,
        units: u64,
    },
    Different {
        values: usize,
        differing: usize,
        first: String,
    },
    /// The emulator does not know it.
    Unsupported {
        why: String,
    },
    /// The GPU's driver does not take it.
    Refused {
        why: String,
    },
}

/// The list of instructions that is part of nibble.
///
/// # Errors
///
/// [`Error::Machine`] where there is no such GPU.
pub fn instructions(ordinal: usize) -> Result<Vec<Conformance>, Error> {
    let both = Both::open(ordinal)?;
    let list = Instruction::list(include_str!("conformance/instructions.txt"));
    let list = list.map_err(|line| Error::Usage(format!("no instruction: {line}")))?;
    Ok(list.iter().map(|one| both.instruction(one)).collect())
}

/// A PTX file with one array of 64 words; its first lines may say `// threads: 96`, `// blocks: 8`.
///
/// # Errors
///
/// [`Error::Machine`] where there is no such GPU, [`Error::Usage`] where the file cannot be read.
pub fn program(ordinal: usize, path: &Path) -> Result<Conformance, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::Usage(format!("{}: {error}", path.display())))?;
    let number = |key: &str, otherwise: u32| {
        let said = text.lines().find_map(|line| line.strip_prefix(&format!("// {key}: ")));
        said.and_then(|value| value.trim().parse().ok()).unwrap_or(otherwise)
    };
    let launch = (number("blocks", 1), number("threads", 32));
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let both = Both::open(ordinal)?;
    let outcome = both.compare(&text, launch, None, 64 * 4, |emulated, real| {
        judge(
            emulated.as_chunks::<4>().0,
            real.as_chunks::<4>().0,
            |a, b| (u64::from(a != b), format!("{} on the card {}", hex(a), hex(b))),
            0,
        )
    });
    Ok(Conformance { name, outcome })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

/// The emulator and a GPU.
struct Both {
    card: Card,
    _context: Context,
}

impl Both {
    fn open(ordinal: usize) -> Result<Self, Error> {
        let missing = |why| Error::machine(why, "run it where a GPU is");
        let card = Card::find(ordinal).map_err(missing)?;
        Ok(Self { card, _context: Context::open(ordinal).map_err(missing)? })
    }

    fn instruction(&self, one: &Instruction) -> Conformance {
        let inputs = one.inputs();
        let bytes: Vec<u8> = inputs.iter().flat_map(|word| word.to_le_bytes()).collect();
        let launch = (THREADS as u32 / 256, 256);
        let text = one.module(&self.card.arch());
        let outcome = self.compare(&text, launch, Some(&bytes), 8 * THREADS, |emulated, real| {
            let (emulated, real) = (emulated.as_chunks::<8>().0, real.as_chunks::<8>().0);
            let mut thread = 0;
            judge(
                emulated,
                real,
                |a, b| {
                    let [a, b] = [a, b].map(|bytes| u64::from_le_bytes(*bytes));
                    let given = &inputs[3 * thread..3 * thread + 3];
                    thread += 1;
                    let text = || format!("{given:x?}: {a:x}, on the card {b:x}");
                    let distance = one.distance(a, b);
                    (distance, if distance > one.units { text() } else { String::new() })
                },
                one.units,
            )
        });
        Conformance { name: one.text.clone(), outcome }
    }

    /// The module's `kernel` on both, with an input (or none) and an output of so many bytes.
    fn compare(
        &self,
        text: &str,
        (blocks, threads): (u32, u32),
        input: Option<&[u8]>,
        output: usize,
        judge: impl FnOnce(&[u8], &[u8]) -> Outcome,
    ) -> Outcome {
        let real = match on_card(text, (blocks, threads), input, output) {
            Ok(real) => real,
            Err(why) => return Outcome::Refused { why },
        };
        match self.emulated(text, (blocks, threads), input, output) {
            Ok(emulated) => judge(&emulated, &real),
            Err(why) => Outcome::Unsupported { why },
        }
    }

    fn emulated(
        &self,
        text: &str,
        (blocks, threads): (u32, u32),
        input: Option<&[u8]>,
        output: usize,
    ) -> Result<Vec<u8>, String> {
        let config = emulator::Config {
            sms: self.card.sms,
            capability: self.card.capability,
            memory: 1 << 28,
            ..emulator::Config::default()
        };
        let machine = Machine::new(config);
        let room = |bytes: usize, name: &str| {
            machine.memory().allocate(bytes as u64, name).map_err(|error| error.to_string())
        };
        let mut parameters = Vec::new();
        if let Some(input) = input {
            let address = room(input.len(), "in")?;
            // SAFETY: allocated just now, and that long.
            unsafe { (address as *mut u8).copy_from(input.as_ptr(), input.len()) };
            parameters.extend(address.to_le_bytes());
        }
        let address = room(output, "out")?;
        // SAFETY: allocated just now, and that long.
        unsafe { (address as *mut u8).write_bytes(0, output) };
        parameters.extend(address.to_le_bytes());
        let module = machine.load(text).map_err(|error| error.to_string())?;
        let launch = LaunchConfig {
            kernel: module.kernel("kernel").ok_or("there is no `kernel`")?,
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        machine.launch(&launch, &parameters).map_err(|fault| fault.headline())?;
        // SAFETY: as above, and the launch is over.
        Ok(unsafe { std::slice::from_raw_parts(address as *const u8, output) }.to_vec())
    }
}

fn on_card(
    text: &str,
    (blocks, threads): (u32, u32),
    input: Option<&[u8]>,
    output: usize,
) -> Result<Vec<u8>, String> {
    let run = || {
        let module = Module::load(text)?;
        let kernel = module.function("kernel")?;
        let from = Memory::new(input.map_or(0, <[u8]>::len))?;
        let to = Memory::new(output)?;
        let mut values = Vec::new();
        if let Some(input) = input {
            // SAFETY: the slice.
            unsafe { from.upload(0, input.as_ptr(), input.len()) }?;
            values.push(Value::Word(from.address));
        }
        values.push(Value::Word(to.address));
        to.clear()?;
        kernel.launch((blocks, threads), &values)?;
        synchronize()?;
        let mut bytes = vec![0; output];
        // SAFETY: the vector.
        unsafe { to.download(0, bytes.as_mut_ptr(), output) }?;
        Ok(bytes)
    };
    run().map_err(words)
}

/// Compares value by value; `distance` gives units and a text for the first that is too far.
fn judge<T>(
    emulated: &[T],
    real: &[T],
    mut distance: impl FnMut(&T, &T) -> (u64, String),
    bound: u64,
) -> Outcome {
    let values = emulated.len();
    let (mut differing, mut units, mut first) = (0, 0, None);
    for (a, b) in emulated.iter().zip(real) {
        let (distance, text) = distance(a, b);
        differing += usize::from(distance > 0);
        units = units.max(distance);
        if distance > bound && first.is_none() {
            first = Some(text);
        }
    }
    match first {
        Some(first) => Outcome::Different { values, differing, first },
        None if differing > 0 => Outcome::Close { values, differing, units },
        None => Outcome::Equal { values },
    }
}

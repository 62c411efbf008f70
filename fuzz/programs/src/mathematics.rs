//! The functions of CUDA's mathematics appendix on the emulator, held to quadruple precision on the host.

use std::io::{Error, Write};
use std::process::{Command, Stdio};

use emulator::{Config, LaunchConfig, Machine};

use crate::build::{BuildError, Compiler, Variant};

const SOURCE: &str = include_str!("mathematics.cu");
/// Arguments of each function, as the source says.
const COUNT: usize = 16384;
const THREADS: u32 = 128;

/// Each function's worst error beside its bound, and whether all are within.
///
/// # Errors
/// Where a compiler is missing or refuses the source, or a kernel is stopped.
pub fn mathematics(compiler: &Compiler, variant: &Variant) -> Result<(String, bool), BuildError> {
    let ptx = compiler.ptx(SOURCE, variant, &[])?;
    let config = Config { capability: variant.capability, memory: 1 << 30, ..Config::default() };
    let stopped = |said: String| BuildError::Refused { what: "the emulator", said };
    let machine = Machine::new(config);
    let module = machine.load(&ptx).map_err(|error| stopped(error.to_string()))?;
    let memory = machine.memory();
    let bytes = 8 * COUNT;
    let mut places = [0; 3];
    for place in &mut places {
        *place = memory.allocate(bytes as u64, "numbers").map_err(|e| stopped(e.to_string()))?;
        memory.define(*place, bytes as u64);
    }
    let params: Vec<u8> = places.iter().flat_map(|at| at.to_le_bytes()).collect();
    let singles = [1, 2].map(|seed| arguments(seed, 4));
    let doubles = [1, 2].map(|seed| arguments(seed, 8));
    let mut all: Vec<u8> = [&singles, &doubles].into_iter().flatten().flatten().copied().collect();
    let names = SOURCE.lines().filter_map(|line| line.trim().strip_prefix("F(")?.split(',').next());
    for name in names {
        for (suffix, inputs) in [("f32", &singles), ("f64", &doubles)] {
            for (input, &place) in inputs.iter().zip(&places[1..]) {
                // SAFETY: each place has room for `COUNT` doubles, and no launch is under way.
                unsafe { std::slice::from_raw_parts_mut(place as *mut u8, input.len()) }
                    .copy_from_slice(input);
            }
            let kernel = format!("{name}_{suffix}");
            let launch = LaunchConfig {
                kernel: module.kernel(&kernel).ok_or_else(|| stopped(format!("no {kernel}")))?,
                grid: [COUNT as u32 / THREADS, 1, 1],
                block: [THREADS, 1, 1],
                dynamic_shared: 0,
                cluster: None,
                cooperative: false,
            };
            machine.launch(&launch, &params).map_err(|fault| stopped(fault.headline()))?;
            // SAFETY: as above, and the launch is over.
            all.extend(unsafe {
                std::slice::from_raw_parts(places[0] as *const u8, inputs[0].len())
            });
        }
    }
    let judge = compiler.host(SOURCE, &["-std=gnu++17", "-lquadmath"])?;
    let start = |error: Error| BuildError::Start { what: "the host's program", error };
    let mut child =
        Command::new(judge).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(start)?;
    let input = child.stdin.take();
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(move || input.map_or(Ok(()), |mut input| input.write_all(&all)));
        let output = child.wait_with_output();
        writer.join().map_or_else(|_| Err(Error::other("the writer")), |_| output)
    });
    let output = written.map_err(start)?;
    let within = output.status.success();
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), within))
}

/// `COUNT` numbers of `bytes` bytes: all special ones, then those of every magnitude, then such as
/// functions are mostly called with.
fn arguments(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let special = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        8.0,
        10.0,
        20.0,
        88.7,
        104.0,
        709.7,
        745.2,
        f64::INFINITY,
        f64::NAN,
        f64::from(f32::MIN_POSITIVE),
        f64::from(f32::MAX),
        1e-45,
        4e-39,
        1e-310,
        5e-324,
        f64::MAX,
        170.6,
        35.0,
    ];
    let mut numbers = Vec::new();
    for n in 0..COUNT {
        let bits = random();
        let share = random() as f64 / u64::MAX as f64;
        // The second argument meets each special first one in other company.
        let value = match n {
            n if n < 4 * special.len() * special.len() => {
                let at = if seed == 1 { n / 4 % special.len() } else { n / 4 / special.len() };
                let sign = if n >> (seed & 1) & 1 == 0 { 1.0 } else { -1.0 };
                sign * special[at]
            }
            n if n % 4 == 0 && bytes == 4 => f64::from(f32::from_bits(bits as u32)),
            n if n % 4 == 0 => f64::from_bits(bits),
            n if n % 4 == 1 => share * 2.0 - 1.0,
            n if n % 4 == 2 => share * 200.0 - 100.0,
            _ => (share * 2.0 - 1.0) * 2f64.powi((bits % 40) as i32 - 20),
        };
        if bytes == 4 {
            numbers.extend((value as f32).to_le_bytes());
        } else {
            numbers.extend(value.to_le_bytes());
        }
    }
    numbers
}

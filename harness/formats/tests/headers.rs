//! Every conversion against NVIDIA's headers, bit for bit.
//!
//! `golden/headers.txt` holds what the headers gave: the codes at every midpoint and its two
//! neighbours for the formats up to eight bits, and a checksum over a sweep of 2^20 inputs for every
//! conversion. So the tests fail without the headers too. With them
//! (`NIBBLE_CUDA_INCLUDE=…/include`, the folder that holds `cuda_fp4.h`) every input of the sweeps is
//! compared, and the file itself is held to the headers; `NIBBLE_BLESS=1` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use formats::{Round, bf16, e2m1, e2m3, e3m2, e4m3, e5m2, e8m0, f16, f64_to_f32_odd};

type Ours = fn(u64) -> u32;

fn f32(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The conversions by the names that `header_truth.cpp` knows.
const CONVERSIONS: [(&str, Ours); 27] = [
    ("e2m1", |x| u32::from(e2m1::encode(f32(x)))),
    ("e2m3", |x| u32::from(e2m3::encode(f32(x)))),
    ("e3m2", |x| u32::from(e3m2::encode(f32(x)))),
    ("e4m3", |x| u32::from(e4m3::encode(f32(x)))),
    ("e5m2", |x| u32::from(e5m2::encode(f32(x)))),
    ("e8m0.rz", |x| u32::from(e8m0::encode_toward_zero(f32(x)))),
    ("e8m0.rp", |x| u32::from(e8m0::encode_up(f32(x)))),
    ("e8m0.rz.unsaturated", |x| u32::from(e8m0::encode_toward_zero_unsaturated(f32(x)))),
    ("e8m0.rp.unsaturated", |x| u32::from(e8m0::encode_up_unsaturated(f32(x)))),
    ("f16.rn", |x| u32::from(f16::encode(f32(x)))),
    ("f16.rz", |x| u32::from(f16::encode_with(f32(x), Round::TowardZero))),
    ("f16.rm", |x| u32::from(f16::encode_with(f32(x), Round::Down))),
    ("f16.rp", |x| u32::from(f16::encode_with(f32(x), Round::Up))),
    ("bf16.rn", |x| u32::from(bf16::encode(f32(x)))),
    ("bf16.rz", |x| u32::from(bf16::encode_with(f32(x), Round::TowardZero))),
    ("bf16.rm", |x| u32::from(bf16::encode_with(f32(x), Round::Down))),
    ("bf16.rp", |x| u32::from(bf16::encode_with(f32(x), Round::Up))),
    ("f16.rn.f64", |x| u32::from(f16::encode(f64_to_f32_odd(f64::from_bits(x))))),
    ("bf16.rn.f64", |x| u32::from(bf16::encode(f64_to_f32_odd(f64::from_bits(x))))),
    ("e2m1.decode", |x| e2m1::decode(x as u8).to_bits()),
    ("e2m3.decode", |x| e2m3::decode(x as u8).to_bits()),
    ("e3m2.decode", |x| e3m2::decode(x as u8).to_bits()),
    ("e4m3.decode", |x| e4m3::decode(x as u8).to_bits()),
    ("e5m2.decode", |x| e5m2::decode(x as u8).to_bits()),
    ("e8m0.decode.bf16", |x| u32::from(e8m0::decode_bf16(x as u8))),
    ("f16.decode", |x| f16::decode(x as u16).to_bits()),
    ("bf16.decode", |x| bf16::decode(x as u16).to_bits()),
];

fn mix(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Every upper 20 bits of an f32 once, with lower bits that matter to a rounding: none, one, a half
/// and its neighbours, all, or arbitrary ones.
fn sweep_f32() -> Vec<u64> {
    (0..1u32 << 20)
        .map(|i| {
            let hash = mix(i);
            let low = [0, 1, 0x7ff, 0x800, 0x801, 0xfff, hash >> 20, hash >> 20][hash as usize & 7];
            u64::from(i << 12 | low)
        })
        .collect()
}

/// Doubles around the values of f16 and bf16: each lies a hair beside, or on, a midpoint of the
/// target, where rounding through f32 would go wrong.
fn sweep_f64() -> Vec<u64> {
    (0..1u32 << 20)
        .map(|i| {
            let hash = mix(i);
            let exponent = 1023 - 30 + u64::from(i >> 12) % 64 + u64::from(i & 1) * 100;
            let sign = u64::from(hash & 1) << 63;
            let cut = if hash & 2 == 0 { 42 } else { 45 };
            let upper = u64::from(mix(hash)) << 20 >> cut << cut;
            let middle = [0, 1u64 << (cut - 1)][hash as usize >> 2 & 1];
            let low = [0, 1, 1 << 20, (1 << 20) + 1][hash as usize >> 3 & 3];
            sign | exponent << 52 | (upper & ((1 << 52) - 1)) | middle | low
        })
        .collect()
}

fn sweep(name: &str) -> Vec<u64> {
    match name {
        "e2m1.decode" => (0..16).collect(),
        "e2m3.decode" | "e3m2.decode" => (0..64).collect(),
        "f16.decode" | "bf16.decode" => (0..1 << 16).collect(),
        _ if name.contains("decode") => (0..256).collect(),
        _ if name.ends_with(".f64") => sweep_f64(),
        _ => sweep_f32(),
    }
}

/// For the formats up to eight bits: zero, every value, every midpoint, and their f32 neighbours.
fn literals(name: &str) -> Vec<u64> {
    let values: Vec<f32> = match name {
        "e2m1" => (0..8).map(e2m1::decode).collect(),
        "e2m3" => (0..32).map(e2m3::decode).collect(),
        "e3m2" => (0..32).map(e3m2::decode).collect(),
        "e4m3" => (0..0x7f).map(e4m3::decode).collect(),
        "e5m2" => (0..0x7c).map(e5m2::decode).collect(),
        _ => return Vec::new(),
    };
    let midpoints = values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    let beyond = [values[values.len() - 1] * 1.03125, f32::MAX, f32::INFINITY, f32::NAN];
    values
        .iter()
        .copied()
        .chain(midpoints)
        .chain(beyond)
        .flat_map(|x| {
            let bits = x.to_bits();
            [bits.saturating_sub(1), bits, bits + 1]
        })
        .flat_map(|bits| [u64::from(bits), u64::from(bits | 1 << 31)])
        .collect()
}

fn fnv(codes: &[u32]) -> u64 {
    codes.iter().flat_map(|code| code.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The golden file's text, from codes given by `convert(name, inputs)`.
fn describe(convert: &dyn Fn(&str, &[u64]) -> Vec<u32>) -> BTreeMap<String, String> {
    CONVERSIONS
        .iter()
        .map(|&(name, _)| {
            let mut text = format!("sweep {:016x}", fnv(&convert(name, &sweep(name))));
            for code in convert(name, &literals(name)) {
                write!(text, " {code:x}").expect("writing to a string");
            }
            (name.to_owned(), text)
        })
        .collect()
}

fn ours(name: &str, inputs: &[u64]) -> Vec<u32> {
    let (_, convert) = CONVERSIONS.iter().find(|(known, _)| *known == name).expect("a known name");
    inputs.iter().map(|&x| convert(x)).collect()
}

fn golden_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/headers.txt")
}

fn golden() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(golden_path()).expect("tests/golden/headers.txt is there");
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(name, codes)| (name.to_owned(), codes.to_owned()))
        .collect()
}

#[test]
fn conversions_equal_what_the_headers_gave() {
    let golden = golden();
    assert_eq!(golden.len(), CONVERSIONS.len());
    for (name, codes) in describe(&ours) {
        assert_eq!(Some(&codes), golden.get(&name), "{name}");
    }
}

#[test]
fn conversions_equal_the_headers_themselves() {
    let Some(truth) = HeaderTruth::build() else { return };
    for (name, convert) in CONVERSIONS {
        let inputs = sweep(name);
        for (&x, given) in inputs.iter().zip(truth.convert(name, &inputs)) {
            assert_eq!(convert(x), given, "{name} of {x:#x}");
        }
    }
    let from_headers = describe(&|name, inputs| truth.convert(name, inputs));
    if std::env::var_os("NIBBLE_BLESS").is_some() {
        let mut text = String::from("# Written from NVIDIA's headers: see tests/headers.rs\n");
        for (name, codes) in &from_headers {
            writeln!(text, "{name} {codes}").expect("writing to a string");
        }
        std::fs::create_dir_all(golden_path().parent().expect("a folder")).expect("folder");
        std::fs::write(golden_path(), text).expect("writing the golden file");
    }
    assert_eq!(golden(), from_headers);
}

/// All 2^32 floats. Minutes; run it by name after touching an encoder.
#[test]
#[ignore = "minutes"]
fn every_float_equals_the_headers() {
    let Some(truth) = HeaderTruth::build() else { return };
    for (name, convert) in CONVERSIONS {
        if name.contains("decode") || name.ends_with(".f64") {
            continue;
        }
        for chunk in 0..1u64 << 8 {
            let inputs: Vec<u64> = (chunk << 24..(chunk + 1) << 24).collect();
            for (&x, given) in inputs.iter().zip(truth.convert(name, &inputs)) {
                assert_eq!(convert(x), given, "{name} of {x:#x}");
            }
        }
    }
}

/// The compiled `header_truth.cpp`.
struct HeaderTruth {
    program: PathBuf,
}

impl HeaderTruth {
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn build() -> Option<HeaderTruth> {
        let Some(include) = std::env::var_os("NIBBLE_CUDA_INCLUDE") else {
            eprintln!("skipped: NIBBLE_CUDA_INCLUDE does not name a folder with cuda_fp4.h");
            return None;
        };
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "header_truth_{}_{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let status = Command::new("g++")
            .args(["-std=c++17", "-O2", "-w", "-o"])
            .arg(&program)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/header_truth.cpp"))
            .arg("-I")
            .arg(include)
            .status()
            .expect("g++ runs");
        assert!(status.success(), "g++ compiles header_truth.cpp");
        Some(HeaderTruth { program })
    }

    fn convert(&self, name: &str, inputs: &[u64]) -> Vec<u32> {
        let width = if name.ends_with(".f64") { 8 } else { 4 };
        let bytes: Vec<u8> =
            inputs.iter().flat_map(|x| x.to_le_bytes().into_iter().take(width)).collect();
        let mut child = Command::new(&self.program)
            .arg(name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("header_truth starts");
        let mut stdin = child.stdin.take().expect("piped");
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let mut out = Vec::new();
        child.stdout.take().expect("piped").read_to_end(&mut out).expect("its output");
        writer.join().expect("no panic").expect("its input");
        assert!(child.wait().expect("it ends").success(), "header_truth knows {name}");
        out.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }
}

impl Drop for HeaderTruth {
    fn drop(&mut self) {
        // Left in the target folder otherwise; harmless.
        drop(std::fs::remove_file(&self.program));
    }
}

//! The tables in `tests/instructions/`: every form, on the plain path and the vector path, must give
//! the bits that stand there. `tests/instructions/README.md` describes the lines; a person with a GPU
//! runs the same ones.
//!
//! Where `ptxas` is installed it must accept each form for the architecture named, so that the tables
//! hold no instruction that only the emulator takes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use emulator::{Config, LaunchConfig, Level, Machine};

const LANES: usize = 32;

/// A name, its class (`b32`, `pred`) and what it holds in each lane.
struct Operand {
    name: String,
    class: String,
    lanes: Vec<u64>,
}

struct Case {
    arch: String,
    text: String,
    outputs: Vec<Operand>,
    /// Units in the last place that an output may be off, and the bits of each number in it.
    ulps: (u64, u32),
    /// Index of the group whose inputs it takes.
    group: usize,
}

#[derive(Default)]
struct Table {
    name: String,
    groups: Vec<Vec<Operand>>,
    cases: Vec<Case>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions")
}

fn tables() -> Vec<Table> {
    let entries = std::fs::read_dir(folder()).expect("the folder of tables");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    paths.iter().map(|path| table(path)).collect()
}

fn table(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).expect("a table");
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut table = Table { name, ..Table::default() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(inputs) = line.strip_prefix("in ") {
            table.groups.push(inputs.split(' ').map(operand).collect());
        } else if let Some((head, text)) = line.split_once(" | ") {
            let mut words = head.split(' ');
            let arch = words.next().expect("an architecture").to_owned();
            let words: Vec<_> = words.collect();
            let ulps = words.iter().find_map(|word| word.strip_prefix('~'));
            table.cases.push(Case {
                arch,
                text: text.to_owned(),
                outputs: words.iter().filter(|w| !w.starts_with('~')).map(|w| operand(w)).collect(),
                ulps: ulps.map_or((0, 64), tolerance),
                group: table.groups.len() - 1,
            });
        } else if let Some((name, words)) = line.split_once(" = ") {
            let group = table.groups.last_mut().expect("a group").iter_mut();
            let outputs = table.cases.last_mut().map(|case| case.outputs.iter_mut());
            let of = |operand: &&mut Operand| operand.name == name && operand.lanes.is_empty();
            let mut open = group.chain(outputs.into_iter().flatten());
            let operand = open.find(of).unwrap_or_else(|| panic!("nothing wants `{line}`"));
            let number = |word| u64::from_str_radix(word, 16).expect("hexadecimal");
            operand.lanes = words.split(' ').map(number).collect();
            assert_eq!(operand.lanes.len(), LANES, "{line}");
        }
    }
    table
}

/// `2`, or `2x16` for pairs of 16 bits.
fn tolerance(word: &str) -> (u64, u32) {
    let (ulps, bits) = word.split_once('x').unwrap_or((word, "64"));
    (ulps.parse().expect("a number of ulps"), bits.parse().expect("a number of bits"))
}

/// `d:b32`
fn operand(word: &str) -> Operand {
    let (name, class) = word.split_once(':').expect("name:class");
    Operand { name: name.to_owned(), class: class.to_owned(), lanes: Vec::new() }
}

/// A kernel that reads each input from eight bytes of its lane, and writes each output so.
fn kernel(index: usize, case: &Case, inputs: &[Operand]) -> String {
    let mut text = format!(
        ".visible .entry k{index}(.param .u64 in, .param .u64 out)\n{{\n\t.reg .b64 %i, %o, %t;\n\
         \t.reg .b32 %l, %n;\n\t.reg .b16 %h, %u;\n\
         \tld.param.u64 %i, [in];\n\tld.param.u64 %o, [out];\n\
         \tmov.u32 %l, %tid.x;\n\tmul.wide.u32 %t, %l, 8;\n\
         \tadd.s64 %i, %i, %t;\n\tadd.s64 %o, %o, %t;\n"
    );
    let mut declared = Vec::new();
    for operand in inputs.iter().chain(&case.outputs) {
        if !declared.contains(&&operand.name) {
            writeln!(text, "\t.reg .{} {};", operand.class, operand.name).expect("text");
            declared.push(&operand.name);
        }
    }
    for (k, Operand { name, class, .. }) in inputs.iter().enumerate() {
        let at = format!("[%i+{}]", 8 * LANES * k);
        let read = match class.as_str() {
            "pred" => format!("ld.global.u32 %n, {at};\n\tsetp.ne.u32 {name}, %n, 0;"),
            "b8" => format!("ld.global.b16 %h, {at};\n\tmov.b16 {{{name}, _}}, %h;"),
            _ => format!("ld.global.{class} {name}, {at};"),
        };
        writeln!(text, "\t{read}").expect("text");
    }
    writeln!(text, "\t{{ {} }}", case.text).expect("text");
    for (k, Operand { name, class, .. }) in case.outputs.iter().enumerate() {
        let at = format!("[%o+{}]", 8 * LANES * k);
        let write = match class.as_str() {
            "pred" => format!("selp.u32 %n, 1, 0, {name};\n\tst.global.u32 {at}, %n;"),
            "b8" => format!("mov.b16 %h, {{{name}, 0}};\n\tst.global.b16 {at}, %h;"),
            _ => format!("st.global.{class} {at}, {name};"),
        };
        writeln!(text, "\t{write}").expect("text");
    }
    text + "\tret;\n}\n"
}

/// The cases of one architecture as a module, each with its number in the table.
fn module(table: &Table, arch: &str) -> (String, Vec<usize>) {
    let mut text = format!(".version 9.0\n.target {arch}\n.address_size 64\n");
    let of_arch = |index: &usize| table.cases[*index].arch == arch;
    let indices: Vec<_> = (0..table.cases.len()).filter(of_arch).collect();
    for &index in &indices {
        let case = &table.cases[index];
        text += &kernel(index, case, &table.groups[case.group]);
    }
    (text, indices)
}

fn architectures(table: &Table) -> Vec<&str> {
    let mut all: Vec<_> = table.cases.iter().map(|case| case.arch.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn every_form_gives_the_expected_bits() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for table in tables() {
        for arch in architectures(&table) {
            let (text, indices) = module(&table, arch);
            for &level in Level::all() {
                let machine = Machine::new(Config { level, threads: 1, ..Config::default() });
                let loaded = machine.load(&text).unwrap_or_else(|e| panic!("{}: {e}", table.name));
                let [input, output] = ["in", "out"].map(|name| {
                    machine.memory().allocate(8 * 8 * LANES as u64, name).expect("room")
                });
                for &index in &indices {
                    let case = &table.cases[index];
                    for (k, operand) in table.groups[case.group].iter().enumerate() {
                        // SAFETY: the allocation has eight times 32 words, and no kernel runs.
                        let to = unsafe { words(input, k) };
                        to.copy_from_slice(&operand.lanes);
                    }
                    let launch = LaunchConfig {
                        kernel: loaded.kernel(&format!("k{index}")).expect("the kernel"),
                        grid: [1, 1, 1],
                        block: [LANES as u32, 1, 1],
                        dynamic_shared: 0,
                        cluster: None,
                        cooperative: false,
                    };
                    let params = [input.to_le_bytes(), output.to_le_bytes()].concat();
                    // SAFETY: as above.
                    unsafe { (0..8).for_each(|k| words(output, k).fill(0)) };
                    if let Err(fault) = machine.launch(&launch, &params) {
                        wrong.push(format!("{}\n  {}", case.text, fault.headline()));
                        continue;
                    }
                    for (k, operand) in case.outputs.iter().enumerate() {
                        // SAFETY: as above.
                        let got = unsafe { words(output, k) };
                        wrong.extend(difference(case, operand, got, level));
                        checked += 1;
                    }
                }
            }
        }
    }
    let shown = &wrong[..wrong.len().min(40)];
    assert!(wrong.is_empty(), "{} of {checked} are wrong:\n{}", wrong.len(), shown.join("\n"));
    assert!(checked > 1000, "only {checked} outputs were looked at");
}

/// # Safety
/// `base` must be the address of eight times 32 words that nobody else uses.
unsafe fn words<'a>(base: u64, k: usize) -> &'a mut [u64] {
    let first = std::ptr::with_exposed_provenance_mut::<u64>(base as usize);
    // SAFETY: by the contract.
    unsafe { std::slice::from_raw_parts_mut(first.add(k * LANES), LANES) }
}

/// The first lane whose bits are not those expected, or not near enough.
fn difference(case: &Case, operand: &Operand, got: &[u64], level: Level) -> Option<String> {
    let (ulps, bits) = case.ulps;
    let part = |x: u64, at: u32| x >> at & (u64::MAX >> (64 - bits));
    let far = |(&got, &expected): (&u64, &u64)| {
        (0..64).step_by(bits as usize).any(|at| part(got, at).abs_diff(part(expected, at)) > ulps)
    };
    let lane = got.iter().zip(&operand.lanes).position(far)?;
    Some(format!(
        "{} ({level:?}): {} in lane {lane} is {:x}, expected {:x}",
        case.text, operand.name, got[lane], operand.lanes[lane]
    ))
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn ptxas_accepts_every_form() {
    let Some(ptxas) = ptxas() else {
        eprintln!("ptxas is not installed: legality was not checked");
        return;
    };
    let scratch = std::env::temp_dir().join(format!("nibble-forms-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a folder");
    for table in tables() {
        for arch in architectures(&table) {
            let file = scratch.join("forms.ptx");
            std::fs::write(&file, module(&table, arch).0).expect("a file");
            let output = std::process::Command::new(&ptxas)
                .arg(format!("-arch={arch}"))
                .args(["-O0", "-o"])
                .arg(scratch.join("forms.cubin"))
                .arg(&file)
                .output()
                .expect("ptxas");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} for {arch}:\n{said}", table.name);
        }
    }
    std::fs::remove_dir_all(&scratch).expect("the folder removed");
}

/// The assembler of the toolchain that nibble installed.
fn ptxas() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let toolchains = std::fs::read_dir(cache.join("nibble/toolchains")).ok()?;
    let candidates = toolchains.filter_map(|entry| {
        let path = entry.ok()?.path().join("nvidia/cu13/bin/ptxas");
        path.is_file().then_some(path)
    });
    candidates.max()
}

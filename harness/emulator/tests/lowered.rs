//! What small kernels are lowered to, held to the listings in `tests/lowered/`: a change of a pass shows as a
//! difference to read. `BLESS=1` rewrites them.

use std::path::Path;

use emulator::{Config, LaunchConfig, Level, Machine};

/// Programs of `tests/ptx/pass`, each for a pass of `lower/`.
const KERNELS: [&str; 6] = [
    // The offset is added before an address is cut to its window.
    "local_before_the_array",
    // Copies that stay, and copies that go.
    "copy_of_the_round_before",
    // The carry in a register of its own.
    "carries_and_borrows_mixed",
    // Blocks in order, branches around guarded instructions.
    "reconverge_after_if",
    // Calls, frames, and what is kept in them.
    "two_hundred_rounds_of_recursion",
    // Lists of registers.
    "vector_atomics",
];

#[test]
fn kernels_are_lowered_to_what_stands_beside_them() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut wrong = Vec::new();
    for name in KERNELS {
        let text =
            std::fs::read_to_string(tests.join(format!("ptx/pass/{name}.ptx"))).expect("PTX");
        let listings = Level::all().iter().map(|&level| {
            let machine = Machine::new(Config { level, threads: 1, ..Config::default() });
            let kernel = machine.load(&text).expect("a module").kernel("kernel").expect("a kernel");
            kernel.listing().expect("a program").to_string()
        });
        let listings: Vec<_> = listings.collect();
        assert!(listings.iter().all(|listing| *listing == listings[0]), "{name} differs by level");
        let beside = tests.join(format!("lowered/{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&beside, &listings[0]).expect("a listing written");
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if listings[0] != expected {
            wrong.push(format!("{name}:\n{}\nexpected:\n{expected}", listings[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_error_of_lowering_keeps_its_place() {
    let cases = [
        (".reg .b32 %r<2>;\n\t@%p0 mov.u32 %r0, 1;\n\tret;", 7, "@%p0 mov.u32 %r0, 1;"),
        (".reg .b32 %r<2>;\n\n\t.reg .b16 %h<0x42000000>;\n\tret;", 8, "%h<0x42000000>"),
        (".local .align 8 .b8 x[0xffffffffffff];\n\tret;", 4, ".entry f()"),
    ];
    for (body, line, instruction) in cases {
        let text = format!(".version 9.0\n.target sm_90\n\n.entry f()\n{{\n\t{body}\n}}\n");
        let machine = Machine::new(Config { threads: 1, ..Config::default() });
        let kernel = machine.load(&text).expect("PTX").kernel("f").expect("a kernel");
        let launch = LaunchConfig {
            kernel,
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        let fault = machine.launch(&launch, &[]).expect_err(body);
        assert_eq!((fault.ptx_line, fault.instruction.as_str()), (line, instruction), "{text}");
    }
}

//! What must hold for any bytes at all: shared by the fuzzers (`fuzz/targets`) and by the test that
//! repeats what they found worth keeping (`tests/fuzzed.rs`).

use emulator::{Config, Level, Machine};
use ptx::SourceMap;
use ptx::ast::{Instruction, Statement};

/// The parser refuses or reads any text, and reads what it prints as the same instruction.
pub fn parse(text: &str) {
    match ptx::parse(text) {
        Ok(module) => {
            let bodies = module.functions.iter().filter_map(|function| function.body.as_deref());
            bodies.for_each(print_and_read);
        }
        Err(error) => {
            let span = error.span.start as usize..error.span.end as usize;
            assert!(text.get(span).is_some(), "{error:?} is no part of the text");
            SourceMap::new(text).start(&error.span);
        }
    }
}

fn print_and_read(statements: &[Statement]) {
    for statement in statements {
        match statement {
            Statement::Scope(inner) => print_and_read(inner),
            Statement::Instruction(original) => {
                let text = format!(".version 9.0 .target sm_90 .func f {{ {original} }}");
                let module = ptx::parse(&text).expect("what was printed is PTX");
                let Some([Statement::Instruction(again)]) = module.functions[0].body.as_deref()
                else {
                    panic!("{original} reads back as something else");
                };
                let again = Instruction { span: original.span.clone(), ..again.clone() };
                assert_eq!(&again, original);
            }
            _ => {}
        }
    }
}

/// Whatever parses is lowered, or refused: every kernel of the text, for every compilation of the
/// handlers. Nothing is run.
pub fn lower(text: &str) {
    for &level in Level::all() {
        let machine = Machine::new(Config { threads: 1, level, ..Config::default() });
        let Ok(module) = machine.load(text) else { return };
        for name in module.kernels() {
            assert!(module.kernel(name).is_some(), "{name} is there");
        }
    }
}

/// The container reader refuses or reads any bytes.
pub fn fatbin(bytes: &[u8]) {
    if let Ok(images) = ptx::fatbin::read(bytes) {
        assert!(ptx::fatbin::select(&images, (10, 0)).is_some());
    }
}

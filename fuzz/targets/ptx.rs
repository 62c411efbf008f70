//! The parser refuses or reads any text, and reads what it prints as the same instruction.
#![no_main]

use emulator::ptx::ast::{Instruction, Statement};
use emulator::ptx::{self, SourceMap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
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
});

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

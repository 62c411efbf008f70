//! The parser against PTX that nvcc 13.0.88 wrote.
//!
//! Fixtures: `nvcc -ptx -lineinfo -O3 -std=c++17 -arch=compute_ARCH NAME.cu`, paths shortened.

use std::collections::BTreeSet;

use ptx::SourceMap;
use ptx::ast::{Function, Initializer, Instruction, Module, Operand, Space, Statement};

macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../emulator/tests/fixtures/", $name, ".ptx")))),*]
    };
}

const FIXTURES: [(&str, &str); 7] = fixtures![
    "small.100a",
    "quantize.90a",
    "quantize.100a",
    "control.80",
    "control.100a",
    "inline.100a",
    "tensor.120a",
];

fn fixture(name: &str) -> Module<'static> {
    let (_, text) = FIXTURES.into_iter().find(|(known, _)| *known == name).unwrap();
    parse(text)
}

fn parse(text: &str) -> Module<'_> {
    ptx::parse(text).unwrap_or_else(|error| {
        let position = SourceMap::new(text).start(&error.span);
        panic!("{}:{}: {error}", position.line, position.column)
    })
}

/// Parses statements as the body of a function.
fn with_body<T>(body: &str, look: impl FnOnce(&[Statement]) -> T) -> T {
    let text = format!(".version 9.0\n.target sm_120a\n.address_size 64\n.func f() {{\n{body}\n}}");
    look(parse(&text).functions[0].body.as_deref().unwrap())
}

fn with_instruction<T>(text: &str, look: impl FnOnce(&Instruction) -> T) -> T {
    with_body(text, |body| match body {
        [Statement::Instruction(instruction)] => look(instruction),
        other => panic!("{other:?}"),
    })
}

fn walk<'m, 'a>(statements: &'m [Statement<'a>], look: &mut impl FnMut(&'m Statement<'a>)) {
    for statement in statements {
        look(statement);
        if let Statement::Scope(inner) = statement {
            walk(inner, look);
        }
    }
}

fn instructions<'m, 'a>(function: &'m Function<'a>) -> Vec<&'m Instruction<'a>> {
    let mut found = Vec::new();
    walk(function.body.as_deref().unwrap_or_default(), &mut |statement| {
        if let Statement::Instruction(instruction) = statement {
            found.push(instruction);
        }
    });
    found
}

/// Counts instructions with the means of `grep`: nvcc puts the brace of a body on its own line, and
/// what ends in a semicolon and begins with neither a dot nor a table's label is an instruction.
fn count_by_text(text: &str) -> usize {
    let mut bare = String::new();
    let mut section = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap().trim();
        section |= line.starts_with(".section");
        let directive = [".loc", ".file", ".section"].iter().any(|word| line.starts_with(word));
        if !section && !directive {
            bare.push_str(line);
            bare.push('\n');
        }
        section &= line != "}";
    }
    while let Some(start) = bare.find("/*") {
        let end = start + bare[start..].find("*/").unwrap() + 2;
        bare.replace_range(start..end, " ");
    }
    let is_instruction = |chunk: &str| {
        let mut rest = chunk.rsplit("\n{\n").next().unwrap().trim();
        loop {
            let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_$".contains(c)));
            let word = word.unwrap_or(rest.len());
            let after = rest[word..].trim_start();
            rest = match rest.strip_prefix(['{', '}']) {
                Some(inner) => inner.trim_start(),
                None if word > 0 && after.starts_with(':') => after[1..].trim_start(),
                None => return rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@'),
            };
        }
    };
    bare.split_inclusive(';').filter(|chunk| chunk.ends_with(';') && is_instruction(chunk)).count()
}

#[test]
fn every_instruction_nvcc_wrote_is_found() {
    for (name, text) in FIXTURES {
        let module = parse(text);
        let found: usize = module.functions.iter().map(|f| instructions(f).len()).sum();
        assert_eq!(found, count_by_text(text), "{name}");
        assert!(found > 10, "{name}");

        let lines = |word: &str| text.lines().filter(|line| line.contains(word)).count();
        let entries = module.functions.iter().filter(|function| function.entry).count();
        assert_eq!(entries, lines(".entry"), "{name}");
        assert_eq!(module.functions.len() - entries, lines(".func "), "{name}");
        assert_eq!(module.files.len(), lines(".file"), "{name}");
        assert_eq!(module.version, (9, 0), "{name}");
        assert_eq!(module.address_size, 64, "{name}");
    }
}

#[test]
fn spans_cover_exactly_the_instruction() {
    for (name, text) in FIXTURES {
        for function in &parse(text).functions {
            for instruction in instructions(function) {
                let span = &instruction.span;
                let written = &text[span.start as usize..span.end as usize];
                assert!(written.ends_with(';') && written.contains(instruction.opcode), "{name}");
                assert_eq!(written.starts_with('@'), instruction.guard.is_some(), "{name}");
            }
        }
    }
}

#[test]
fn what_is_printed_reads_back_the_same() {
    for (name, text) in FIXTURES {
        for function in &parse(text).functions {
            for instruction in instructions(function) {
                let printed = instruction.to_string();
                with_instruction(&printed, |again| {
                    let spanless = Instruction { span: 0..0, ..again.clone() };
                    let original = Instruction { span: 0..0, ..instruction.clone() };
                    assert_eq!(spanless, original, "{name}: {printed}");
                });
            }
        }
    }
}

#[test]
fn kernels_have_their_parameters_and_directives() {
    let module = fixture("quantize.100a");
    let kernel = module.functions.iter().find(|f| f.name == "quantize").unwrap();
    assert!(kernel.entry && kernel.visible);
    assert_eq!(kernel.params.len(), 4);
    assert!(kernel.params.iter().all(|param| param.space == Space::Param && param.ty == "u64"));
    // `.ptr .align 1` speaks of the memory pointed to, not of the parameter.
    assert!(kernel.params.iter().all(|param| param.align.is_none()));
    assert_eq!(kernel.directives.maxntid, Some([256, 1, 1]));
    assert_eq!(kernel.directives.minnctapersm, Some(2));

    let module = fixture("tensor.120a");
    let kernel = module.functions.iter().find(|f| f.name.contains("pipeline")).unwrap();
    assert_eq!(kernel.directives.reqnctapercluster, Some([2, 1, 1]));
    assert!(kernel.directives.explicitcluster);
    assert_eq!((kernel.params[0].align, &kernel.params[0].dimensions[..]), (Some(64), &[128][..]));
    let shared = module.variables.iter().find(|v| v.external).unwrap();
    assert_eq!(
        (shared.space, shared.align, &shared.dimensions[..]),
        (Space::Shared, Some(1024), &[0][..])
    );
}

#[test]
fn both_orders_of_the_fp4_mma_are_read() {
    let module = fixture("tensor.120a");
    let mma: Vec<_> = module
        .functions
        .iter()
        .flat_map(instructions)
        .filter(|i| i.opcode == "mma" && i.modifiers.contains(&"kind::mxf4nvf4"))
        .collect();
    assert_eq!(mma.len() % 2, 0);
    assert_ne!(mma[0].modifiers, mma[1].modifiers);
    let set = |i: &Instruction| i.modifiers.iter().map(|m| m.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(set(mma[0]), set(mma[1]));
    assert!(mma[0].modifiers.contains(&"scale_vec::4X"));
    // Scales come as `{%r}` or `%r`, selectors as a vector of registers or of numbers.
    assert!(matches!(&mma[0].operands[4], Operand::Vector(scale) if scale.len() == 1));
    assert!(matches!(&mma[1].operands[4], Operand::Name(_)));
    assert!(mma.iter().all(|i| i.operands.len() == 8));
}

#[test]
fn variables_keep_their_initial_values() {
    let module = fixture("control.100a");
    let named = |name: &str| module.variables.iter().find(|v| v.name == name).unwrap();
    assert_eq!(named("counter").initializer, Some(Initializer::Value(Operand::Integer(7))));
    assert!(named("total").managed);
    let Some(Initializer::List(ops)) = &named("ops").initializer else { panic!() };
    assert!(matches!(ops[0], Initializer::Symbol { name: "_Z5twicei", generic: false, .. }));
    // Vtables are lists of numbers and functions.
    let vtable = module.variables.iter().find(|v| v.name.starts_with("_ZTV")).unwrap();
    assert!(matches!(vtable.initializer, Some(Initializer::List(_))));
}

#[test]
fn inlined_code_leads_back_to_the_kernel() {
    let module = fixture("quantize.100a");
    let kernel = module.functions.iter().find(|f| f.name == "quantize").unwrap();
    let mut chains = Vec::new();
    walk(kernel.body.as_deref().unwrap(), &mut |statement| {
        if let Statement::Location(location) = statement {
            let steps = std::iter::successors(Some(location), |l| l.inlined_at.as_deref());
            chains.push(steps.cloned().collect::<Vec<_>>());
        }
    });
    let file = |name: &str| module.files.iter().find(|(_, path)| *path == name).unwrap().0;
    let shuffle = chains.iter().find(|chain| chain[0].file == file("sm_30_intrinsics.hpp"));
    let shuffle = shuffle.unwrap();
    assert_eq!(shuffle.len(), 3, "{shuffle:?}");
    assert!(shuffle[0].function.as_deref().unwrap().contains("__shfl_xor_sync"));
    assert!(shuffle[1].function.as_deref().unwrap().contains("warp_amax"));
    assert_eq!((shuffle[2].file, shuffle[2].function.is_none()), (file("quantize.cu"), true));
    assert!(chains.iter().all(|chain| chain.last().unwrap().file == file("quantize.cu")));
}

#[test]
fn scopes_of_inline_ptx_stay_apart() {
    let module = fixture("inline.100a");
    let kernel = &module.functions[0];
    let mut labels = Vec::new();
    walk(kernel.body.as_deref().unwrap(), &mut |statement| {
        if let Statement::Scope(inner) = statement {
            let mut here = Vec::new();
            for statement in inner {
                match statement {
                    Statement::Label { name, .. } => here.push(*name),
                    Statement::Variable(v) => assert_eq!(v.space, Space::Register),
                    _ => {}
                }
            }
            labels.push(here);
        }
    });
    assert_eq!(labels.iter().filter(|l| **l == ["LAB_WAIT", "DONE"]).count(), 2);
}

#[test]
fn operands_of_every_shape() {
    use Operand::*;
    let shapes: &[(&str, Operand)] = &[
        ("%r7", Name("%r7")),
        ("%tid.x", Name("%tid.x")),
        ("%cluster_ctaid.z", Name("%cluster_ctaid.z")),
        ("vec.y", Element("vec", "y")),
        ("%r1.b3", Element("%r1", "b3")),
        ("_", Discard),
        ("!%p1", Not("%p1")),
        ("-%r1", Negated("%r1")),
        ("42", Integer(42)),
        ("-1", Integer(u64::MAX)),
        ("0xFFFFFFFFFFFFFFFFU", Integer(u64::MAX)),
        ("017", Integer(15)),
        ("0b101U", Integer(5)),
        ("WARP_SZ", Integer(32)),
        ("-(WARP_SZ - 1)", Integer(-31i64 as u64)),
        ("1 << 4 | 3", Integer(19)),
        ("-7 / 2", Integer(-3i64 as u64)),
        ("-7 / 2U", Integer((-7i64 as u64) / 2)),
        ("(.u64)-1 > 0 ? 5 : 6", Integer(5)),
        ("0f3F800000", Float32(0x3f80_0000)),
        ("-0F3F800000", Float32(0xbf80_0000)),
        ("0dBFF0000000000000", Float64((-1.0f64).to_bits())),
        ("1.5", Float64(1.5f64.to_bits())),
        ("-.25e-1", Float64((-0.025f64).to_bits())),
        ("name+4", Offset { name: "name", offset: 4 }),
        ("[%rd1]", Address { base: Some("%rd1"), offset: 0 }),
        ("[a+-4]", Address { base: Some("a"), offset: -4 }),
        ("[a-4]", Address { base: Some("a"), offset: -4 }),
        ("[ a + 4*3 - 2 ]", Address { base: Some("a"), offset: 10 }),
        ("[16]", Address { base: None, offset: 16 }),
        ("d|p", Pair(Name("d").into(), Name("p").into())),
        ("_|%p", Pair(Discard.into(), Name("%p").into())),
        ("{a, b}|p", Pair(Vector(vec![Name("a"), Name("b")]).into(), Name("p").into())),
        ("{a, _}", Vector(vec![Name("a"), Discard])),
        ("[map, {x, y}]", AddressList(vec![Name("map"), Vector(vec![Name("x"), Name("y")])])),
    ];
    for (text, expected) in shapes {
        with_instruction(&format!("op.x {text}, {text};"), |instruction| {
            assert_eq!(instruction.operands, [expected.clone(), expected.clone()], "{text}");
        });
    }
    with_instruction("call (r), %rd1, (a, _, b), proto;", |call| {
        let list = |names: Vec<Operand<'static>>| List(names);
        assert_eq!(call.operands[0], list(vec![Name("r")]));
        assert_eq!(call.operands[2], list(vec![Name("a"), Discard, Name("b")]));
        assert_eq!(call.operands[3], Name("proto"));
    });
    with_instruction("ld.global.u32 %r1, [%rd1].unified, %rd2;", |load| {
        assert_eq!(load.modifiers, ["global", "u32", "unified"]);
    });
}

#[test]
fn declarations_of_every_shape() {
    let text = ".version 8.7 .target sm_90, debug .address_size 64
        .file 1 \"a b.cu\", 1339013327, 64118
        .visible .const .align 4 .f32 c[2][3] = {{.05, -1.5}, {1}};
        .weak .global .attribute(.managed, .unified(0xAB, 0xCD)) .v2 .u32 g = {1, 2}, h;
        .global .u64 table[] = {generic(g)+8, h, f+4, generic(h+2)};
        .global .u8 bytes[4] = {0xff(g), 0xff00(generic(h)+4), 0xFF(1000 + 546), 0xFF00(131187)};
        .extern .shared .align 16 .b8 smem[];
        .extern .func (.param .b32 r) f (.param .b64 a, .param .b8 rest[]) .noreturn;
        .visible .func .attribute(.unified(1, 2)) (.reg .u32 %o) reg_function (.reg .u32 %i) { ret; }
        .alias other, f;
        .weak .entry k .maxntid 8, 4 .reqntid 16 .maxnreg 64 .maxclusterrank 8
            .pragma \"nounroll\"; .abi_preserve 3 .blocksareclusters {
            .reg .v4 .f32 a, b; .reg .pred %p<3>;
            .local .align 8 .b8 depot[40];
            t: .branchtargets L1, L2;
            p: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;
            u: .calltargets f, other;
            L1: L2: ;
        }
        .section .debug_info { .b8 1,2 label: .b32 label-4 \"x\" }";
    let module = parse(text);
    assert_eq!((module.version, module.target), ((8, 7), "sm_90"));
    assert_eq!(module.files, [(1, "a b.cu")]);
    assert_eq!(module.aliases, [("other", "f")]);
    let names: Vec<_> = module.variables.iter().map(|variable| variable.name).collect();
    assert_eq!(names, ["c", "g", "h", "table", "bytes", "smem"]);
    assert_eq!(module.variables[0].dimensions, [2, 3]);
    assert!(module.variables[2].managed && module.variables[2].vector == 2);

    let symbol = |name, generic, offset, mask| Initializer::Symbol { name, generic, offset, mask };
    let list = |index: usize| match &module.variables[index].initializer {
        Some(Initializer::List(items)) => items.clone(),
        other => panic!("{other:?}"),
    };
    let table = [
        symbol("g", true, 8, None),
        symbol("h", false, 0, None),
        symbol("f", false, 4, None),
        symbol("h", true, 2, None),
    ];
    assert_eq!(list(3), table);
    let bytes = [
        symbol("g", false, 0, Some(0xff)),
        symbol("h", true, 4, Some(0xff00)),
        // PTX ISA 5.4.4 gives no values; 1546 is 0x60a and 131187 is 0x20073.
        Initializer::Value(Operand::Integer(0x0a)),
        Initializer::Value(Operand::Integer(0x00)),
    ];
    assert_eq!(list(4), bytes);

    let [external, registers, kernel] = &module.functions[..] else { panic!() };
    assert!(external.external && external.body.is_none() && external.directives.noreturn);
    assert_eq!(external.params[1].dimensions, [0]);
    assert_eq!(registers.returns[0].space, Space::Register);
    assert!(kernel.weak && kernel.entry && kernel.directives.blocksareclusters);
    assert_eq!(kernel.directives.maxntid, Some([8, 4, 1]));
    assert_eq!(kernel.directives.reqntid, Some([16, 1, 1]));
    let body = kernel.body.as_deref().unwrap();
    assert!(matches!(&body[2], Statement::Variable(v) if v.count == Some(3)));
    assert!(matches!(&body[4], Statement::BranchTargets { labels, .. } if *labels == ["L1", "L2"]));
    assert!(
        matches!(&body[5], Statement::CallPrototype { params, .. } if params[1].align == Some(8))
    );
    assert!(matches!(&body[6], Statement::CallTargets { functions, .. } if functions.len() == 2));
    assert!(matches!(&body[8], Statement::Label { name: "L2", .. }));
}

#[test]
fn errors_point_at_the_place() {
    let cases = [
        ("", "expected `.version`, with which a PTX text begins, found the end of the text", ""),
        (".version 9.0 .target sm_90 /*", "found a comment that never ends", "/*"),
        (".version 9.0 .target sm_90 .func f { add.s32 %r1 %r2; }", "expected `,` or `;`", "%r2"),
        (".version 9.0 .target sm_90 .func f { ld.u32 %r1, [%r2; }", "expected `]`", ";"),
        (".version 9.0 .target sm_90 .func f { mov.u32 %r1, 08; }", "`08` is no number", "08"),
        (".version 9.0 .target sm_90 .func f { mov.u32 %r1, 1/0; }", "has no value", "1/0"),
        (".version 9.0 .target sm_90 .func f { mov.u32 %r1, a[2]; }", "addressed in bytes", "["),
        (".version 9.0 .target sm_90 .global .align 3 .b8 x;", "power of two", ".global .align 3"),
        (".version 9.0 .target sm_90 .func f { µ }", "found `µ`", "µ"),
        (".version 9.0 .target sm_90 .shard .u32 x;", "found `.shard`", ".shard"),
        (".version 9 .target sm_90", "expected a version", "9"),
    ];
    for (text, message, at) in cases {
        let error = ptx::parse(text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!(&text[error.span.start as usize..error.span.end as usize], at, "{text}");
    }
}

#[test]
fn depth_is_limited_and_length_is_not() {
    let module = |body: &str| {
        let text = format!(".version 9.0 .target sm_90 .global .u32 x = {body};");
        ptx::parse(&text).map(|_| ()).map_err(|error| error.message)
    };
    for opening in ["{", "(", "-", "~", "0xff("] {
        assert!(module(&opening.repeat(1_000_000)).is_err(), "{opening}");
    }
    assert!(module(&"{".repeat(1_000_000)).unwrap_err().contains("levels deep"));
    assert!(module(&format!("1{}", "+1".repeat(100_000))).is_ok());
    assert!(module(&format!("{{{}}}", "1,".repeat(100_000))).is_ok());
    let scopes =
        |n: usize| format!(".version 9.0 .target sm_90 .func f {}{}", "{".repeat(n), "}".repeat(n));
    assert!(ptx::parse(&scopes(100)).is_ok());
    assert!(ptx::parse(&scopes(1_000_000)).is_err());
}

#[test]
fn endless_inlining_is_cut_short() {
    let mut body = String::new();
    for line in 1..100_000 {
        body.push_str(&format!(".loc 1 {} 1, function_name n, inlined_at 1 {line} 1\n", line + 1));
    }
    with_body(&body, |body| {
        let Some(Statement::Location(last)) = body.last() else { panic!() };
        let steps = std::iter::successors(Some(last), |l| l.inlined_at.as_deref()).count();
        assert!((2..=80).contains(&steps), "{steps}");
    });
}

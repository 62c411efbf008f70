//! The parser against texts nobody meant: it may refuse them, and must not panic.

use proptest::prelude::*;
use proptest::sample::select;
use ptx::SourceMap;
use ptx::ast::{Guard, Instruction, Operand, Statement};

const TEXTS: [&str; 4] = [
    include_str!("../../emulator/tests/fixtures/small.100a.ptx"),
    include_str!("../../emulator/tests/fixtures/inline.100a.ptx"),
    include_str!("../../emulator/tests/fixtures/tensor.120a.ptx"),
    include_str!("../../emulator/tests/fixtures/quantize.100a.ptx"),
];

/// Pieces that mean something to the parser, so that mutations get past the lexer.
const PIECES: [&str; 36] = [
    "{", "}", "[", "]", "(", ")", "<", ">", ";", ":", ",", "|", "@", "!", "-", "+", "=", ".", "/*",
    "*/", "//", "\"", "\\", "%", "_", "0f", "0x", "0d1", ".5e", "1e+", ".loc ", ".section",
    ".reg ", "\u{0}", "µ", "WARP_SZ",
];

fn parse_anything(text: &str) {
    if let Err(error) = ptx::parse(text) {
        let span = error.span.start as usize..error.span.end as usize;
        assert!(text.get(span.clone()).is_some(), "{span:?} is no part of the text");
        let map = SourceMap::new(text);
        let start = map.start(&error.span);
        assert!(map.line(start.line).is_some());
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    Remove(usize, usize),
    Insert(usize, &'static str),
    Copy(usize, usize, usize),
    Cut(usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<usize>();
    prop_oneof![
        (at, 1..30usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (at, select(&PIECES[..])).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (at, 1..80usize, at).prop_map(|(from, length, to)| Mutation::Copy(from, length, to)),
        at.prop_map(Mutation::Cut),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    match *mutation {
        Mutation::Remove(at, count) => {
            let at = at % length;
            bytes.drain(at..(at + count).min(length));
        }
        Mutation::Insert(at, piece) => {
            let at = at % length;
            bytes.splice(at..at, piece.bytes());
        }
        Mutation::Copy(from, count, to) => {
            let from = from % length;
            let piece = bytes[from..(from + count).min(length)].to_vec();
            let to = to % length;
            bytes.splice(to..to, piece);
        }
        Mutation::Cut(at) => bytes.truncate(length - at % length / 8),
    }
}

fn name() -> impl Strategy<Value = &'static str> {
    select(&["%r1", "%rd22", "%p3", "$L__BB0_1", "__temp$b", "a", "%tid.x", "func_retval0"][..])
}

fn register() -> impl Strategy<Value = &'static str> {
    name().prop_filter("special registers have no elements", |name| !name.contains('.'))
}

fn operand() -> impl Strategy<Value = Operand<'static>> {
    let leaf = prop_oneof![
        name().prop_map(Operand::Name),
        register().prop_map(Operand::Not),
        register().prop_map(Operand::Negated),
        any::<u64>().prop_map(Operand::Integer),
        any::<u32>().prop_map(Operand::Float32),
        any::<u64>().prop_map(Operand::Float64),
        (proptest::option::of(register()), any::<i64>())
            .prop_map(|(base, offset)| Operand::Address { base, offset }),
        (register(), any::<i64>()).prop_map(|(name, offset)| Operand::Offset { name, offset }),
        (name(), name()).prop_map(|(first, second)| Operand::Pair(
            Operand::Name(first).into(),
            Operand::Name(second).into()
        )),
        Just(Operand::Discard),
        (register(), select(&["x", "w", "b0", "h1"][..]))
            .prop_map(|(name, selector)| Operand::Element(name, selector)),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..5).prop_map(Operand::Vector),
            proptest::collection::vec(inner, 2..4).prop_map(Operand::AddressList),
        ]
    })
}

fn instruction() -> impl Strategy<Value = Instruction<'static>> {
    let guard = proptest::option::of(
        (any::<bool>(), register()).prop_map(|(negated, register)| Guard { negated, register }),
    );
    let modifiers = ["sync", "L1::no_allocate", "32x32b", "1d", "mbarrier::complete_tx::bytes"];
    let modifiers = proptest::collection::vec(select(modifiers.to_vec()), 0..5);
    let opcode = select(&["mov", "mma", "tcgen05", "_weird$"][..]);
    (guard, opcode, modifiers, proptest::collection::vec(operand(), 0..6)).prop_map(
        |(guard, opcode, modifiers, operands)| Instruction {
            guard,
            opcode,
            modifiers,
            operands,
            span: 0..0,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn mutated_ptx_is_read_or_refused(
        text in select(TEXTS.to_vec()),
        mutations in proptest::collection::vec(mutation(), 1..12),
    ) {
        let mut bytes = text.as_bytes().to_vec();
        for mutation in &mutations {
            mutate(&mut bytes, mutation);
        }
        parse_anything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_pieces_are_read_or_refused(
        pieces in proptest::collection::vec(
            prop_oneof![
                select(PIECES.to_vec()).prop_map(String::from),
                "[a-z%$.]{1,6}",
                "[0-9xfdeU.+-]{1,8}",
                "\\PC",
            ],
            0..60,
        ),
    ) {
        let pieces = pieces.join(" ");
        parse_anything(&pieces);
        parse_anything(&format!(".version 9.0 .target sm_90 {pieces}"));
        parse_anything(&format!(".version 9.0 .target sm_90 .func f() {{ {pieces}"));
        parse_anything(&format!(".version 9.0 .target sm_90 .global .u32 x = {{ {pieces}"));
    }

    #[test]
    fn any_instruction_printed_reads_back_the_same(original in instruction()) {
        let text = format!(".version 9.0 .target sm_90 .func f() {{ {original} }}");
        let module = ptx::parse(&text).unwrap_or_else(|error| panic!("{error}: {original}"));
        let body = module.functions[0].body.as_deref().unwrap();
        let [Statement::Instruction(again)] = body else { panic!("{body:?}") };
        prop_assert_eq!(&Instruction { span: 0..0, ..again.clone() }, &original);
    }
}

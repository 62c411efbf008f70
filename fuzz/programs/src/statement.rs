//! Statements, functions and programs, and how they are drawn.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::expression::{Expression, expression};

#[derive(Clone, Debug)]
pub enum Statement {
    Assign(u8, Expression),
    /// A new variable, known to the end of the braces.
    New(u8, Expression),
    If(Expression, Expression, Vec<Statement>, Vec<Statement>),
    /// As often as three bits of an expression say, upwards or downwards.
    For(bool, Expression, Vec<Statement>),
    /// As long as it holds, and not too often.
    While(Expression, Expression, Vec<Statement>),
    /// By two bits of an expression; some cases go on into the next.
    Switch(Expression, Vec<(Vec<Statement>, bool)>),
    /// Out of the loop around, or into its next round.
    Skip(Expression, Expression, bool),
    /// Out of the function.
    Return(Expression, Expression),
    /// Into an array: which, how it is addressed, the index, the value.
    Store(u8, u8, Expression, Expression),
    /// All elements of an array, from one end to the other.
    Walk(u8, u8, u8),
    /// A loop that uses the value of the round before, and keeps that of the least one.
    Carry(u8, u8, Expression, Expression),
    /// Through the pointer that every function is given: into shared, local or global memory.
    Scratch(bool, u8, Expression),
    /// Carries handed on through sums and differences of many words.
    Long(u8, u8, u8),
}

/// What one thread computes; and, in turn with more of it, all threads of a block together.
#[derive(Clone, Debug)]
pub struct Function {
    pub body: Vec<Statement>,
    /// How threads meet behind it: how, and by how much.
    pub meetings: Vec<(u8, u8)>,
    /// Which memory its scratch is in.
    pub scratch: u8,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Function>,
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let e = expression;
    let simple = prop_oneof![
        6 => (any::<u8>(), e()).prop_map(|(to, what)| Statement::Assign(to, what)),
        3 => (any::<u8>(), e()).prop_map(|(ty, what)| Statement::New(ty, what)),
        3 => (any::<[u8; 2]>(), e(), e())
            .prop_map(|([array, how], at, what)| Statement::Store(array, how, at, what)),
        1 => any::<[u8; 3]>().prop_map(|[array, how, to]| Statement::Walk(array, how, to)),
        1 => (any::<[u8; 2]>(), e(), e())
            .prop_map(|([a, b], now, rank)| Statement::Carry(a, b, now, rank)),
        1 => (any::<bool>(), any::<u8>(), e())
            .prop_map(|(store, to, what)| Statement::Scratch(store, to, what)),
        1 => any::<[u8; 3]>().prop_map(|[to, a, b]| Statement::Long(to, a, b)),
        1 => (e(), e(), any::<bool>()).prop_map(|(a, b, leave)| Statement::Skip(a, b, leave)),
    ];
    vec(simple.boxed(), 1..5).prop_recursive(3, 24, 4, move |inner| {
        let arms = vec((inner.clone(), any::<bool>()), 4);
        let statement = prop_oneof![
            3 => (any::<u8>(), e()).prop_map(|(to, what)| Statement::Assign(to, what)),
            2 => (e(), e(), inner.clone(), inner.clone())
                .prop_map(|(a, b, yes, no)| Statement::If(a, b, yes, no)),
            2 => (any::<bool>(), e(), inner.clone())
                .prop_map(|(down, count, body)| Statement::For(down, count, body)),
            1 => (e(), e(), inner).prop_map(|(a, b, body)| Statement::While(a, b, body)),
            1 => (e(), arms).prop_map(|(by, arms)| Statement::Switch(by, arms)),
            1 => (e(), e()).prop_map(|(a, b)| Statement::Return(a, b)),
            1 => (e(), e(), any::<bool>()).prop_map(|(a, b, leave)| Statement::Skip(a, b, leave)),
        ];
        vec(statement, 1..5)
    })
}

/// A program of as many functions.
pub fn program(functions: usize) -> impl Strategy<Value = Program> {
    let meetings = prop_oneof![2 => Just(Vec::new()), 1 => vec(any::<(u8, u8)>(), 1..4)];
    let function = (statements(), meetings, any::<u8>())
        .prop_map(|(body, meetings, scratch)| Function { body, meetings, scratch });
    vec(function, functions).prop_map(|functions| Program { functions })
}

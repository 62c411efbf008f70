//! Expressions. They have no types: whoever writes one says which it shall be of, and every leaf is
//! converted. So any part may stand for any other when a program shrinks.

use proptest::prelude::*;

/// The types of C++ that a program uses, all named in `prelude.cuh`.
pub const TYPES: [&str; 12] =
    ["u32", "i32", "u64", "i64", "u8", "i8", "u16", "i16", "u128", "i128", "f32", "f64"];

#[derive(Clone, Debug)]
pub enum Expression {
    Variable(u8),
    Literal(u64),
    Unary(u8, Box<Expression>),
    Binary(u8, Box<Expression>, Box<Expression>),
    /// How two are compared and of which type, and what comes out.
    Choice(u8, u8, [Box<Expression>; 4]),
    /// Converted to a type in between.
    Through(u8, Box<Expression>),
    /// A single through a narrow format.
    Narrow(u8, Box<Expression>),
    /// Of an array: which, how it is addressed, and the index.
    Element(u8, u8, Box<Expression>),
    /// Of the table in global memory.
    Table(Box<Expression>),
    Call(u8, Box<Expression>, Box<Expression>),
}

pub fn expression() -> impl Strategy<Value = Expression> {
    let literal = prop_oneof![
        any::<u64>(),
        any::<u8>().prop_map(u64::from),
        any::<u8>().prop_map(|x| u64::from(x).wrapping_neg()),
        (0..64u32).prop_map(|bit| 1 << bit),
        any::<u32>().prop_map(u64::from),
    ];
    let leaf = prop_oneof![
        4 => any::<u8>().prop_map(Expression::Variable),
        1 => literal.prop_map(Expression::Literal),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            6 => (any::<u8>(), boxed(), boxed())
                .prop_map(|(which, a, b)| Expression::Binary(which, a, b)),
            2 => (any::<u8>(), boxed()).prop_map(|(which, a)| Expression::Unary(which, a)),
            1 => (any::<[u8; 2]>(), [boxed(), boxed(), boxed(), boxed()])
                .prop_map(|([how, ty], four)| Expression::Choice(how, ty, four)),
            1 => (any::<u8>(), boxed()).prop_map(|(ty, a)| Expression::Through(ty, a)),
            1 => (any::<u8>(), boxed()).prop_map(|(which, a)| Expression::Narrow(which, a)),
            2 => (any::<[u8; 2]>(), boxed())
                .prop_map(|([array, how], index)| Expression::Element(array, how, index)),
            1 => boxed().prop_map(Expression::Table),
            1 => (any::<u8>(), boxed(), boxed())
                .prop_map(|(which, a, b)| Expression::Call(which, a, b)),
        ]
    })
}

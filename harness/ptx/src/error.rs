//! Where a PTX text stops being one.

use super::ast::Span;

/// What was expected or refused, and the characters it is about.
///
/// The message is a lower-case fragment; [`super::SourceMap`] turns the span into a line and column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    pub message: String,
    pub span: Span,
}

impl ParseError {
    pub(super) fn new(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span }
    }
}

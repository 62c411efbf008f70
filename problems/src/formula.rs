//! Arithmetic over a problem's sizes, as manifests write it: `m*k*4 + m*k/2 + pad(m, 128)`.
//!
//! Whole numbers only. `/` must divide exactly for the sizes given (a matrix of 33 columns has no
//! `k/2` bytes a row), so that a wrong formula or a wrong size is an error and not a rounding.
//! `pad(x, n)` is the next multiple of n, `ceil(x, n)` the quotient rounded up.

use std::fmt;

use thiserror::Error;

use crate::Sizes;

/// A parsed formula. Parsed once, when the manifest is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(u64),
    Size(String),
    Apply(Operator, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Ceil,
    Pad,
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum FormulaError {
    #[error("`{formula}`: expected {expected} at character {at}")]
    Syntax { formula: String, expected: &'static str, at: usize },
    #[error("`{formula}`: no size is called `{name}`")]
    UnknownSize { formula: String, name: String },
    #[error("`{formula}`: {left} is not a multiple of {right} for {sizes}")]
    Inexact { formula: String, left: u64, right: u64, sizes: Sizes },
    #[error("`{formula}`: the result for {sizes} is negative or does not fit 64 bits")]
    OutOfRange { formula: String, sizes: Sizes },
}

impl Formula {
    /// # Errors
    /// [`FormulaError::Syntax`], with the character where reading stopped.
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        let mut parser = Parser { text, rest: text };
        let root = parser.sum(0)?;
        parser.skip_spaces();
        if !parser.rest.is_empty() {
            return Err(parser.expected("an operator or the end"));
        }
        Ok(Formula { text: text.to_owned(), root })
    }

    /// # Errors
    /// A size that is not there, a division with a remainder, a result beyond u64.
    pub fn evaluate(&self, sizes: &Sizes) -> Result<u64, FormulaError> {
        self.value(&self.root, sizes)
    }

    /// The one size that makes the result `extent`, if the formula is a size, times or over numbers.
    pub fn solve(&self, extent: u64) -> Option<(&str, u64)> {
        fn solve(node: &Node, extent: u64) -> Option<(&str, u64)> {
            match node {
                Node::Size(name) => Some((name, extent)),
                Node::Apply(operator, left, right) => match (operator, &**right) {
                    (Operator::Divide, Node::Number(by)) => solve(left, extent.checked_mul(*by)?),
                    (Operator::Multiply, Node::Number(by)) => {
                        (extent.checked_rem(*by)? == 0).then(|| solve(left, extent / by))?
                    }
                    _ => None,
                },
                Node::Number(_) => None,
            }
        }
        solve(&self.root, extent)
    }

    fn value(&self, node: &Node, sizes: &Sizes) -> Result<u64, FormulaError> {
        let (operator, left, right) = match node {
            Node::Number(number) => return Ok(*number),
            Node::Size(name) => {
                return sizes.get(name).ok_or_else(|| FormulaError::UnknownSize {
                    formula: self.text.clone(),
                    name: name.clone(),
                });
            }
            Node::Apply(operator, left, right) => {
                (*operator, self.value(left, sizes)?, self.value(right, sizes)?)
            }
        };
        let result = match operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => match left.checked_rem(right) {
                Some(0) => Some(left / right),
                _ => {
                    return Err(FormulaError::Inexact {
                        formula: self.text.clone(),
                        left,
                        right,
                        sizes: sizes.clone(),
                    });
                }
            },
            Operator::Ceil if right > 0 => Some(left.div_ceil(right)),
            Operator::Pad if right > 0 => left.checked_next_multiple_of(right),
            Operator::Ceil | Operator::Pad => None,
        };
        result.ok_or_else(|| FormulaError::OutOfRange {
            formula: self.text.clone(),
            sizes: sizes.clone(),
        })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Parentheses nest at most this deep: deeper text is an error, not a stack overflow.
const DEEPEST: usize = 64;

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Parser<'_> {
    fn sum(&mut self, depth: usize) -> Result<Node, FormulaError> {
        let mut left = self.product(depth)?;
        loop {
            let operator = if self.accept('+') {
                Operator::Add
            } else if self.accept('-') {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = Node::Apply(operator, Box::new(left), Box::new(self.product(depth)?));
        }
    }

    fn product(&mut self, depth: usize) -> Result<Node, FormulaError> {
        let mut left = self.atom(depth)?;
        loop {
            let operator = if self.accept('*') {
                Operator::Multiply
            } else if self.accept('/') {
                Operator::Divide
            } else {
                return Ok(left);
            };
            left = Node::Apply(operator, Box::new(left), Box::new(self.atom(depth)?));
        }
    }

    fn atom(&mut self, depth: usize) -> Result<Node, FormulaError> {
        if depth > DEEPEST {
            return Err(self.expected("fewer parentheses"));
        }
        if self.accept('(') {
            let inner = self.sum(depth + 1)?;
            self.demand(')', "`)`")?;
            return Ok(inner);
        }
        let digits = self.take(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            let number = digits.parse();
            return number.map(Node::Number).map_err(|_| self.expected("a number of 64 bits"));
        }
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        let operator = match name {
            "" => return Err(self.expected("a number, a size or `(`")),
            "pad" => Operator::Pad,
            "ceil" => Operator::Ceil,
            size => return Ok(Node::Size(size.to_owned())),
        };
        self.demand('(', "`(`")?;
        let value = self.sum(depth + 1)?;
        self.demand(',', "`,`")?;
        let unit = self.sum(depth + 1)?;
        self.demand(')', "`)`")?;
        Ok(Node::Apply(operator, Box::new(value), Box::new(unit)))
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn accept(&mut self, wanted: char) -> bool {
        self.skip_spaces();
        let stripped = self.rest.strip_prefix(wanted);
        self.rest = stripped.unwrap_or(self.rest);
        stripped.is_some()
    }

    fn demand(&mut self, wanted: char, expected: &'static str) -> Result<(), FormulaError> {
        if self.accept(wanted) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &str {
        self.skip_spaces();
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn expected(&self, expected: &'static str) -> FormulaError {
        let at = self.text.len() - self.rest.len() + 1;
        FormulaError::Syntax { formula: self.text.to_owned(), expected, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<u64, String> {
        let sizes = Sizes::new([("m", 129), ("k", 64)]);
        let formula = Formula::parse(text).map_err(|error| error.to_string())?;
        formula.evaluate(&sizes).map_err(|error| error.to_string())
    }

    #[test]
    fn products_bind_tighter_and_everything_associates_to_the_left() {
        assert_eq!(value("m*k/32 + 2*(k - 4)"), Ok(129 * 2 + 120));
        assert_eq!(value("k - 4 - 10"), Ok(50));
        assert_eq!(value("k / 4 / 2"), Ok(8));
        assert_eq!(value(" pad( m ,128) * ceil(m, 128)"), Ok(512));
    }

    #[test]
    fn a_size_is_found_from_an_extent() {
        let solve = |text: &str, extent| {
            let formula = Formula::parse(text).expect(text);
            formula.solve(extent).map(|(name, size)| format!("{name} = {size}"))
        };
        assert_eq!(solve("m", 5).as_deref(), Some("m = 5"));
        assert_eq!(solve("k/32", 5).as_deref(), Some("k = 160"));
        assert_eq!(solve("d/32*32", 96).as_deref(), Some("d = 96"));
        for (text, extent) in [("d/32*32", 97), ("128", 128), ("pad(m, 128)", 128), ("m*0", 0)] {
            assert_eq!(solve(text, extent), None, "{text}");
        }
        assert_eq!(solve("k/32", u64::MAX), None);
    }

    #[test]
    fn complaints_say_where_and_why() {
        assert_eq!(value("m * (k"), Err("`m * (k`: expected `)` at character 7".to_owned()));
        assert_eq!(
            value("m + * k"),
            Err("`m + * k`: expected a number, a size or `(` at character 5".to_owned())
        );
        assert_eq!(value("m + n"), Err("`m + n`: no size is called `n`".to_owned()));
        assert_eq!(value("m/2"), Err("`m/2`: 129 is not a multiple of 2 for 129x64".to_owned()));
        assert!(value("m / 0").is_err());
        assert!(value("pad(m, 0)").is_err());
        assert!(value("k - m").is_err());
        assert!(value(&format!("{}1", "m*".repeat(20))).is_err());
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value("99999999999999999999").is_err());
    }
}

//! What names stand for, brace by brace (PTX ISA 4.5, 5.4).
//!
//! `.reg .b32 %r<5000>` declares five thousand names at once. They are one entry here, found by what
//! stands before the number.

use std::collections::HashMap;
use std::rc::Rc;

use super::Reg;
use super::flatten::Place;
use ptx::ast::Space;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Entry {
    Register(Reg),
    Vector(Rc<[Reg]>),
    Variable(Place),
    Label(usize),
    Labels(Rc<[usize]>),
}

/// Registers that are declared together and numbered.
#[derive(Clone, Copy)]
pub struct Family {
    pub first: Reg,
    pub count: u32,
    /// Registers of 128 bits are two each.
    pub halves: bool,
}

impl Family {
    fn member(self, index: u32) -> Option<Entry> {
        let inside = index < self.count;
        inside.then(|| match self {
            Self { first, halves: true, .. } => {
                Entry::Vector([first + 2 * index, first + 2 * index + 1].into())
            }
            Self { first, .. } => Entry::Register(first + index),
        })
    }
}

#[derive(Default)]
pub struct Scope<'a> {
    names: HashMap<&'a str, Entry>,
    families: HashMap<&'a str, Family>,
}

impl<'a> Scope<'a> {
    pub fn of(names: impl IntoIterator<Item = (&'a str, Entry)>) -> Self {
        Self { names: names.into_iter().collect(), families: HashMap::new() }
    }

    fn get(&self, name: &str) -> Option<Entry> {
        self.names.get(name).cloned().or_else(|| self.member(name))
    }

    /// A name of a family: `%r12` is the twelfth of `%r`, or the second of `%r1`.
    fn member(&self, name: &str) -> Option<Entry> {
        if self.families.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).take(MOST_DIGITS).count();
        (name.len() - digits..name.len()).find_map(|at| {
            let (family, index) = name.split_at(at);
            let padded = index.len() > 1 && index.starts_with('0');
            self.families.get(family).filter(|_| !padded)?.member(index.parse().ok()?)
        })
    }
}

/// Of a register's number.
const MOST_DIGITS: usize = 10;

/// Open braces, the innermost last.
pub struct Scopes<'a>(Vec<Scope<'a>>);

impl Default for Scopes<'_> {
    fn default() -> Self {
        Self(vec![Scope::default()])
    }
}

impl<'a> Scopes<'a> {
    pub fn open(&mut self) {
        self.0.push(Scope::default());
    }

    pub fn close(&mut self) {
        self.0.pop();
    }

    pub fn depth(&self) -> usize {
        self.0.len()
    }

    pub fn declare(&mut self, name: &'a str, entry: Entry) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name, entry);
        }
    }

    pub fn declare_family(&mut self, name: &'a str, family: Family) {
        if let Some(scope) = self.0.last_mut() {
            scope.families.insert(name, family);
        }
    }

    pub fn lookup(&self, name: &str) -> Option<Entry> {
        self.0.iter().rev().find_map(|scope| scope.get(name))
    }

    /// What a callee sees: shared variables of the outermost scope, no registers or labels; and its
    /// own parameters.
    pub fn of_callee(&self, parameters: Scope<'a>) -> Self {
        let shared =
            |entry: &Entry| matches!(entry, Entry::Variable(place) if place.space == Space::Shared);
        let outermost = self.0.iter().take(1).flat_map(|scope| &scope.names);
        let seen = outermost.filter(|(_, entry)| shared(entry));
        Self(vec![Scope::of(seen.map(|(name, entry)| (*name, entry.clone()))), parameters])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_finds_its_family() {
        let mut scopes = Scopes::default();
        let register = |scopes: &Scopes, name: &str| match scopes.lookup(name) {
            Some(Entry::Register(reg)) => Some(reg),
            _ => None,
        };
        scopes.declare_family("%r", Family { first: 10, count: 20, halves: false });
        scopes.declare_family("%r9", Family { first: 50, count: 2, halves: false });
        scopes.open();
        scopes.declare("%r3", Entry::Register(7));
        let found = ["%r0", "%r19", "%r91", "%r3"].map(|name| register(&scopes, name));
        assert_eq!(found, [Some(10), Some(29), Some(51), Some(7)]);
        for missing in ["%r", "%r20", "%r01", "%r92", "%x1", "", "7", "%r99999999999999999999"] {
            assert_eq!(register(&scopes, missing), None, "{missing}");
        }
        scopes.close();
        assert_eq!(register(&scopes, "%r3"), Some(13));
    }

    #[test]
    fn a_wide_register_is_two() {
        let mut scopes = Scopes::default();
        scopes.declare_family("%q", Family { first: 4, count: 3, halves: true });
        assert!(matches!(scopes.lookup("%q2"), Some(Entry::Vector(halves)) if *halves == [8, 9]));
    }
}

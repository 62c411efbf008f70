//! What the kernels of a module have in common.

use std::collections::{HashMap, HashSet};

use super::{outlined, reach};
use ptx::ast::{Function, Module};

/// A module, and what its names stand for where a function declares nothing of that name.
pub struct Environment<'a> {
    pub module: Module<'a>,
    /// Addresses and bytes of `.global` and `.const` variables.
    pub symbols: HashMap<&'a str, (u64, u64)>,
    /// Indices into the module's functions.
    functions: HashMap<&'a str, usize>,
    /// Functions that may call themselves, at once or through others.
    pub recursive: HashSet<&'a str>,
    /// Whether launches will be sanitized.
    pub sanitize: bool,
}

impl<'a> Environment<'a> {
    /// With no variables yet.
    pub fn new(module: Module<'a>, sanitize: bool) -> Self {
        let mut functions = HashMap::new();
        for (index, function) in module.functions.iter().enumerate() {
            let known = functions.entry(function.name).or_insert(index);
            // A declaration gives way to a definition of the same name.
            if function.body.is_some() {
                *known = index;
            }
        }
        let recursive = reach::recursive(&module);
        Self { module, symbols: HashMap::new(), functions, recursive, sanitize }
    }

    pub fn function(&self, name: &str) -> Option<&Function<'a>> {
        self.functions.get(name).map(|&index| &self.module.functions[index])
    }

    /// The number that stands for a function where its address is taken.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.functions.get(name).map(|&index| outlined::address(index))
    }
}

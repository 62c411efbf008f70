//! What a function names, and through it what it calls.

use std::collections::{HashMap, HashSet};

use super::Environment;
use super::flatten::DEEPEST;
use super::variables::extent;
use ptx::ast::{self, Initializer, Module, Operand, Space, Statement};

/// What a kernel mentions, itself and through what it calls.
#[derive(Default)]
pub struct Mentioned<'e> {
    pub names: HashSet<&'e str>,
    /// In the order of their first call.
    pub callees: Vec<&'e ast::Function<'e>>,
    seen: HashSet<&'e str>,
}

impl<'e> Mentioned<'e> {
    pub fn by(kernel: &'e ast::Function<'e>, environment: &'e Environment<'e>) -> Self {
        let mut mentioned = Self::default();
        mentioned.seen.insert(kernel.name);
        mentioned.add(kernel, environment, 0);
        mentioned
    }

    fn add(
        &mut self,
        function: &'e ast::Function<'e>,
        environment: &'e Environment<'e>,
        depth: usize,
    ) {
        let mut callees = Vec::new();
        each_instruction(function, &mut |instruction| {
            let mut operands: Vec<&Operand> = instruction.operands.iter().collect();
            while let Some(operand) = operands.pop() {
                match operand {
                    Operand::Name(name)
                    | Operand::Offset { name, .. }
                    | Operand::Address { base: Some(name), .. }
                        if !name.starts_with('%') =>
                    {
                        self.names.insert(name);
                        callees.extend(environment.function(name));
                    }
                    Operand::Vector(list) | Operand::AddressList(list) => operands.extend(list),
                    _ => {}
                }
            }
        });
        for callee in callees {
            if depth < DEEPEST && self.seen.insert(callee.name) {
                self.callees.push(callee);
                self.add(callee, environment, depth + 1);
            }
        }
    }
}

/// Sizes and alignments of the `.shared` variables declared inside a body.
pub fn collect_shared(statements: &[Statement], out: &mut Vec<(u64, u64)>, depth: usize) {
    for statement in statements {
        match statement {
            Statement::Variable(variable) if variable.space == Space::Shared => {
                out.push(extent(variable));
            }
            Statement::Scope(inner) if depth < DEEPEST => collect_shared(inner, out, depth + 1),
            _ => {}
        }
    }
}

/// Functions with bodies whose address somebody takes: in an initializer, or in an instruction that is
/// no call.
pub fn taken<'a>(environment: &'a Environment<'a>) -> Vec<&'a str> {
    fn symbols<'a>(initializer: &'a Initializer<'a>, names: &mut HashSet<&'a str>) {
        match initializer {
            Initializer::List(list) => list.iter().for_each(|inner| symbols(inner, names)),
            Initializer::Symbol { name, .. } => {
                names.insert(name);
            }
            Initializer::Value(_) => {}
        }
    }
    let mut names = HashSet::new();
    let module = &environment.module;
    let initializers = module.variables.iter().filter_map(|variable| variable.initializer.as_ref());
    initializers.for_each(|initializer| symbols(initializer, &mut names));
    for function in &module.functions {
        each_instruction(function, &mut |instruction| {
            let moved = instruction.opcode != "call";
            for operand in instruction.operands.iter().filter(|_| moved) {
                if let Operand::Name(name) = operand {
                    names.insert(name);
                }
            }
        });
    }
    let has_body = |name: &&str| environment.function(name).is_some_and(|f| f.body.is_some());
    let mut taken: Vec<&str> = names.into_iter().filter(has_body).collect();
    taken.sort();
    taken
}

/// Functions that may call themselves, at once or through others.
pub fn recursive<'a>(module: &Module<'a>) -> HashSet<&'a str> {
    let mut calls = HashMap::<&str, HashSet<&str>>::new();
    for function in &module.functions {
        let of = calls.entry(function.name).or_default();
        each_instruction(function, &mut |instruction| {
            let names = instruction.operands.iter().filter_map(|operand| match operand {
                Operand::Name(name) if instruction.opcode == "call" => Some(*name),
                _ => None,
            });
            of.extend(names);
        });
    }
    let reaches_itself = |name: &&str| {
        let mut seen = HashSet::new();
        let mut work: Vec<&str> = calls[*name].iter().copied().collect();
        while let Some(next) = work.pop() {
            if next == *name {
                return true;
            }
            if seen.insert(next) {
                work.extend(calls.get(next).into_iter().flatten());
            }
        }
        false
    };
    calls.keys().filter(|name| reaches_itself(name)).copied().collect()
}

fn each_instruction<'a>(
    function: &'a ast::Function<'a>,
    each: &mut impl FnMut(&'a ast::Instruction<'a>),
) {
    let mut work: Vec<&[Statement]> = vec![function.body.as_deref().unwrap_or_default()];
    while let Some(statements) = work.pop() {
        for statement in statements {
            match statement {
                Statement::Scope(inner) => work.push(inner),
                Statement::Instruction(instruction) => each(instruction),
                _ => {}
            }
        }
    }
}

//! What a function names, and through it what it calls.

use super::Environment;
use super::flatten::{DEEPEST, extent};
use crate::ptx::ast::{self, Operand, Space, Statement};

/// Names that a function's operands mention, and those of what it calls.
pub fn mentioned<'a>(
    function: &'a ast::Function<'a>,
    environment: &Environment<'a>,
    names: &mut Vec<&'a str>,
    seen: &mut Vec<&'a str>,
    depth: usize,
) {
    let mut work: Vec<&[Statement]> = vec![function.body.as_deref().unwrap_or_default()];
    let mut callees = Vec::new();
    while let Some(statements) = work.pop() {
        for statement in statements {
            match statement {
                Statement::Scope(inner) => work.push(inner),
                Statement::Instruction(instruction) => {
                    let mut operands: Vec<&Operand> = instruction.operands.iter().collect();
                    while let Some(operand) = operands.pop() {
                        match operand {
                            Operand::Name(name)
                            | Operand::Offset { name, .. }
                            | Operand::Address { base: Some(name), .. }
                                if !name.starts_with('%') =>
                            {
                                names.push(name);
                                if let Some(&callee) = environment.functions.get(name) {
                                    callees.push(callee);
                                }
                            }
                            Operand::Vector(list) | Operand::AddressList(list) => {
                                operands.extend(list);
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    for callee in callees {
        if depth < DEEPEST && !seen.contains(&callee.name) {
            seen.push(callee.name);
            mentioned(callee, environment, names, seen, depth + 1);
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

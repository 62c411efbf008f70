//! Module-scope variables: a place in memory for each, filled from its initializer
//! (PTX ISA 5.4.4).

use std::collections::HashMap;

use super::LoadError;
use crate::isa::Bits;
use crate::lower::Environment;
use crate::memory::{AllocationKind, GlobalMemory};
use ptx::ast::{Initializer, Operand, Space, Variable};

/// Address and bytes of each `.global` and `.const` variable.
pub fn place<'a>(
    environment: &Environment<'a>,
    memory: &GlobalMemory,
) -> Result<HashMap<&'a str, (u64, u64)>, LoadError> {
    let module = &environment.module;
    let mut symbols = HashMap::new();
    let placed = |v: &&Variable| matches!(v.space, Space::Global | Space::Constant) && !v.external;
    for variable in module.variables.iter().filter(placed) {
        let (bytes, _) = crate::lower::extent(variable);
        let kind = match variable.space {
            Space::Constant => AllocationKind::Constant,
            _ if variable.managed => AllocationKind::Foreign,
            _ => AllocationKind::Variable,
        };
        let address = memory.allocate_as(bytes, variable.name, kind)?;
        symbols.insert(variable.name, (address, bytes));
    }
    // Initializers last: they may name variables that stand further down.
    for variable in module.variables.iter().filter(placed) {
        let Some(initializer) = &variable.initializer else { continue };
        let (address, bytes) = symbols[variable.name];
        let element = Bits::of(variable.ty).map_or(1, |bits| bits.bytes() as usize);
        let mut image = Vec::new();
        let known = |name: &str| {
            let variable = symbols.get(name).map(|(at, _)| *at);
            variable.or_else(|| environment.address_of(name))
        };
        write(initializer, element, variable, &known, &mut image)?;
        if image.len() as u64 > bytes {
            return Err(complain(variable, "its initializer is longer than it is"));
        }
        let to = std::ptr::with_exposed_provenance_mut(memory.host(address) as usize);
        // SAFETY: the allocation holds `bytes` bytes, and nothing runs on it yet.
        unsafe { std::ptr::copy_nonoverlapping(image.as_ptr(), to, image.len()) };
    }
    Ok(symbols)
}

fn complain(variable: &Variable, what: &str) -> LoadError {
    LoadError::Variable { name: variable.name.to_owned(), what: what.to_owned() }
}

/// Append the bytes of an initializer; the rest of the variable stays zero.
fn write(
    initializer: &Initializer,
    element: usize,
    variable: &Variable,
    known: &impl Fn(&str) -> Option<u64>,
    image: &mut Vec<u8>,
) -> Result<(), LoadError> {
    let bits = match initializer {
        Initializer::List(list) => {
            for inner in list {
                write(inner, element, variable, known, image)?;
            }
            return Ok(());
        }
        Initializer::Value(Operand::Integer(value)) => *value,
        Initializer::Value(Operand::Float32(bits)) => u64::from(*bits),
        Initializer::Value(Operand::Float64(bits)) if element == 4 => {
            u64::from((f64::from_bits(*bits) as f32).to_bits())
        }
        Initializer::Value(Operand::Float64(bits)) => *bits,
        Initializer::Value(_) => return Err(complain(variable, "its initializer is no constant")),
        Initializer::Symbol { name, offset, mask, .. } => {
            let address = known(name).unwrap_or(0).wrapping_add(*offset as u64);
            mask.map_or(address, |mask| {
                if mask == 0 { 0 } else { (address & mask) >> mask.trailing_zeros() }
            })
        }
    };
    image.extend_from_slice(&bits.to_le_bytes()[..element]);
    Ok(())
}

//! Variables: what they take, and where they are.

use super::flatten::{Flattener, Place};
use super::reach::{Mentioned, collect_shared};
use super::scopes::{Entry, Family};
use super::{LowerError, Reg, Width};
use crate::isa;
use crate::program::ParamLayout;
use ptx::ast::{self, Space};

/// Of one declaration: text that no compiler wrote must not use up the machine's memory.
const MOST_REGISTERS: u32 = 1 << 20;

/// Of a frame, local or shared; a GPU has 512 KiB of local memory for a thread.
pub const MOST_BYTES: u32 = 1 << 24;

/// Size and alignment in bytes of a variable. The size stops where nothing has room for it, and sums
/// of sizes still do not overflow.
pub fn extent(variable: &ast::Variable) -> (u64, u64) {
    let element = isa::Bits::of(variable.ty).map_or(1, |bits| u64::from(bits.bytes()));
    let element = if variable.ty.ends_with("128") { 16 } else { element };
    let one = element * u64::from(variable.vector);
    let count = variable.dimensions.iter().fold(1u64, |n, d| n.saturating_mul(*d));
    (one.saturating_mul(count).min(1 << 40), variable.align.map_or(one, u64::from).max(1))
}

impl<'a> Flattener<'a> {
    pub fn kernel_parameters(&mut self, function: &'a ast::Function<'a>) {
        let mut offset = 0u64;
        for variable in &function.params {
            let (size, align) = extent(variable);
            offset = offset.next_multiple_of(align);
            let place = Place { space: Space::Param, address: offset, base: None };
            self.scopes.declare(variable.name, Entry::Variable(place));
            self.out.frame.params.push(ParamLayout {
                offset: offset as u32,
                size: size as u32,
                align: align as u32,
            });
            offset += size;
        }
        self.out.frame.param_bytes = offset as u32;
    }

    /// Give every `.shared` variable that the kernel can reach its offset, those of unknown size
    /// last: they all begin where the static ones end.
    pub fn shared_variables(&mut self, function: &'a ast::Function<'a>) {
        let mentioned = Mentioned::by(function, self.environment);
        let shared = |variable: &&ast::Variable| variable.space == Space::Shared;
        let module = &self.environment.module.variables;
        let mut dynamic = Vec::new();
        for variable in module.iter().filter(shared).filter(|v| mentioned.names.contains(v.name)) {
            let (size, align) = extent(variable);
            if variable.external && size == 0 {
                let frame = &mut self.out.frame;
                frame.dynamic_align = frame.dynamic_align.max(align as u32);
                dynamic.push(variable.name);
            } else {
                self.declare_shared(variable.name, size, align);
            }
        }
        // Function-scope ones are met later, so the dynamic part can only be placed behind them
        // once they are counted.
        let mut local = Vec::new();
        collect_shared(function.body.as_deref().unwrap_or_default(), &mut local, 0);
        for callee in mentioned.callees {
            collect_shared(callee.body.as_deref().unwrap_or_default(), &mut local, 0);
        }
        let mut end = u64::from(self.out.frame.static_shared);
        for (size, align) in local {
            end = end.next_multiple_of(align) + size;
        }
        let align = u64::from(self.out.frame.dynamic_align.max(1));
        let address = end.next_multiple_of(align);
        for name in dynamic {
            self.scopes.declare(
                name,
                Entry::Variable(Place { space: Space::Shared, address, base: None }),
            );
        }
    }

    fn declare_shared(&mut self, name: &'a str, size: u64, align: u64) {
        let frame = &mut self.out.frame;
        let address = u64::from(frame.static_shared).next_multiple_of(align);
        frame.static_shared = (address + size).min(u64::from(u32::MAX / 2)) as u32;
        frame.shared_arrays.push((name.to_owned(), address as u32, size as u32));
        self.scopes
            .declare(name, Entry::Variable(Place { space: Space::Shared, address, base: None }));
    }

    fn reserve_local(&mut self, size: u64, align: u64) -> Place {
        if let Some((frame, end)) = &mut self.own {
            let address = end.next_multiple_of(align);
            *end = address.saturating_add(size);
            return Place { space: Space::Local, address, base: Some(*frame) };
        }
        let frame = &mut self.out.frame;
        let address = u64::from(frame.local_bytes).next_multiple_of(align);
        frame.local_bytes = (address + size).min(u64::from(u32::MAX / 2)) as u32;
        Place { space: Space::Local, address, base: None }
    }

    pub fn variable(&mut self, variable: &'a ast::Variable<'a>) -> Result<(), LowerError> {
        let (size, align) = extent(variable);
        if variable.count.is_some_and(|count| count > MOST_REGISTERS) {
            let message = format!("`{}` stands for too many registers", variable.name);
            return Err(LowerError { message, span: variable.span.clone() });
        }
        match variable.space {
            Space::Register => self.register(variable),
            Space::Shared => self.declare_shared(variable.name, size, align),
            // `.param` inside a body carries a call's arguments: local memory will do.
            Space::Local | Space::Param => {
                let place = self.reserve_local(size, align);
                self.scopes.declare(variable.name, Entry::Variable(place));
            }
            // Module-scope in all but name; the loader has placed it.
            Space::Global | Space::Constant => {}
        }
        Ok(())
    }

    /// Registers of 128 bits are pairs of 64, the lower half first.
    fn register(&mut self, variable: &'a ast::Variable<'a>) {
        let halves = variable.ty.ends_with("128");
        let width = if halves { Some(Width::Wide) } else { Width::of(variable.ty) };
        let Some(width) = width else { return };
        let registers = &mut self.out.registers;
        if let Some(count) = variable.count {
            let first = registers.info.len() as Reg;
            for _ in 0..count * (1 + u32::from(halves)) {
                registers.fresh(width);
            }
            return self.scopes.declare_family(variable.name, Family { first, count, halves });
        }
        let elements = if halves { 2 } else { variable.vector };
        let entry = if elements > 1 {
            Entry::Vector((0..elements).map(|_| registers.fresh(width)).collect())
        } else {
            Entry::Register(registers.fresh(width))
        };
        self.scopes.declare(variable.name, entry);
    }
}

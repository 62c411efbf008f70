//! `__device__`, `__constant__` and `__managed__` variables, which the host names by the address of
//! a shadow of its own.

use super::abi::{Address, Copy3D, Out, StreamHandle};
use super::copy::Direction;
use super::error::{Code, Failure};
use super::graph::Task;
use super::session::Session;
use crate::protocol::Symbol;

#[derive(Clone)]
pub(super) struct Variable {
    /// Index into the session's modules.
    pub module: usize,
    pub name: String,
    pub size: usize,
}

impl Session {
    /// Address and bytes of the variable that the host calls `symbol`.
    fn symbol(&self, symbol: usize) -> Result<(Address, usize), Failure> {
        let unknown = || Code::INVALID_SYMBOL.because("it is no __device__ variable");
        let variable = self.variables.get(&symbol).ok_or_else(unknown)?;
        let module = self.modules.get(variable.module).ok_or_else(unknown)?;
        let Symbol { address, .. } = self.symbol_in(module.loaded()?, &variable.name)?;
        Ok((address, variable.size))
    }

    /// Address of `count` bytes at `offset` of a variable.
    fn part_of_symbol(
        &self,
        symbol: usize,
        offset: usize,
        count: usize,
    ) -> Result<Address, Failure> {
        let (address, size) = self.symbol(symbol)?;
        if offset.checked_add(count).is_none_or(|end| end > size) {
            let detail = format!("{count} bytes at {offset} of a variable of {size} bytes");
            return Err(Code::INVALID_VALUE.because(detail));
        }
        Ok(address + offset as u64)
    }

    /// The copy to a part of a variable.
    pub fn copy_to_symbol(
        &self,
        symbol: usize,
        source: Address,
        count: usize,
        offset: usize,
        kind: u32,
    ) -> Result<Copy3D, Failure> {
        if !matches!(
            Direction::of(kind)?,
            Direction::HostToDevice | Direction::DeviceToDevice | Direction::Default
        ) {
            return Err(Code::INVALID_COPY_DIRECTION.because("a symbol is device memory"));
        }
        let destination = self.part_of_symbol(symbol, offset, count)?;
        Ok(Copy3D::flat(destination, source, count, kind))
    }

    /// The copy from a part of a variable.
    pub fn copy_from_symbol(
        &self,
        destination: Address,
        symbol: usize,
        count: usize,
        offset: usize,
        kind: u32,
    ) -> Result<Copy3D, Failure> {
        if !matches!(
            Direction::of(kind)?,
            Direction::DeviceToHost | Direction::DeviceToDevice | Direction::Default
        ) {
            return Err(Code::INVALID_COPY_DIRECTION.because("a symbol is device memory"));
        }
        let source = self.part_of_symbol(symbol, offset, count)?;
        Ok(Copy3D::flat(destination, source, count, kind))
    }
}

runtime! {
    fn cudaGetSymbolAddress(address: Out<Address>, symbol: usize) |session| {
        address.set(session.symbol(symbol)?.0)
    }

    fn cudaGetSymbolSize(size: Out<usize>, symbol: usize) |session| {
        size.set(session.symbol(symbol)?.1)
    }

    fn cudaMemcpyToSymbol(
        symbol: usize, source: Address, count: usize, offset: usize, kind: u32,
    ) + cudaMemcpyToSymbol_ptds |session| {
        session.copy_3d(&session.copy_to_symbol(symbol, source, count, offset, kind)?)
    }

    fn cudaMemcpyToSymbolAsync(
        symbol: usize, source: Address, count: usize, offset: usize, kind: u32,
        stream: StreamHandle,
    ) + cudaMemcpyToSymbolAsync_ptsz |session| {
        let copy = session.copy_to_symbol(symbol, source, count, offset, kind)?;
        session.submit(stream, Task::Copy(copy))
    }

    fn cudaMemcpyFromSymbol(
        destination: Address, symbol: usize, count: usize, offset: usize, kind: u32,
    ) + cudaMemcpyFromSymbol_ptds |session| {
        session.copy_3d(&session.copy_from_symbol(destination, symbol, count, offset, kind)?)
    }

    fn cudaMemcpyFromSymbolAsync(
        destination: Address, symbol: usize, count: usize, offset: usize, kind: u32,
        stream: StreamHandle,
    ) + cudaMemcpyFromSymbolAsync_ptsz |session| {
        let copy = session.copy_from_symbol(destination, symbol, count, offset, kind)?;
        session.submit(stream, Task::Copy(copy))
    }
}

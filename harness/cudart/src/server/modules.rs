//! Modules, kernels and variables.

use std::collections::HashMap;
use std::sync::Arc;

use emulator::{AllocationKind, Kernel, LoadError, LoadedModule};
use ptx::{Position, SourceMap};

use super::Device;
use crate::error::{Code, Failure, Outcome};
use crate::protocol::segment::{PAGE, Segment};
use crate::protocol::{Address, KernelId, KernelInfo, ModuleId, Piece, Symbol};

/// Bytes of a module's text, at most; those of the largest libraries have some tens of MiB.
const LONGEST: usize = 1 << 28;
/// Modules that a client loads, at most.
const MODULES: usize = 1 << 16;

/// Registers of a thread where `ptxas` was not asked.
const REGISTERS_GUESSED: u32 = 32;

#[derive(Default)]
pub struct Modules {
    /// By number; none where it was unloaded.
    loaded: Vec<Option<Arc<LoadedModule>>>,
    /// By number, each with its module.
    kernels: Vec<(ModuleId, Arc<Kernel>)>,
    /// The number of each that was asked for.
    known: HashMap<(ModuleId, String), KernelId>,
    /// What has arrived of the next module's text.
    text: Vec<u8>,
    /// Where the pages of managed variables are in the host's window.
    backings: HashMap<Address, Address>,
}

impl Device {
    pub(super) fn text(&mut self, piece: Piece, segment: &Segment) -> Outcome {
        let (from, bytes) = segment.staging(piece);
        let text = &mut self.modules.text;
        if text.len() + bytes > LONGEST {
            text.clear();
            return Err(Code::INVALID_PTX.because(format!("more than {LONGEST} bytes of PTX")));
        }
        text.reserve(bytes);
        // SAFETY: the staging area has the bytes, and the vector room behind its own.
        unsafe {
            from.copy_to_nonoverlapping(text.as_mut_ptr().add(text.len()), bytes);
            text.set_len(text.len() + bytes);
        }
        Ok(())
    }

    pub(super) fn load(&mut self) -> Result<ModuleId, Failure> {
        let text = std::mem::take(&mut self.modules.text);
        let text = String::from_utf8_lossy(&text);
        if self.modules.loaded.len() >= MODULES {
            return Err(Code::MEMORY_ALLOCATION.because("too many modules"));
        }
        let broken = |error| Code::INVALID_PTX.because(explained(&error, &text));
        let module = self.machine.load(&text).map_err(broken)?;
        self.modules.loaded.push(Some(module));
        Ok(self.modules.loaded.len() as ModuleId - 1)
    }

    fn module(&self, module: ModuleId) -> Result<&LoadedModule, Failure> {
        let loaded = self.modules.loaded.get(module as usize).and_then(Option::as_deref);
        loaded.ok_or_else(|| Code::INVALID_HANDLE.because("it is no module, or unloaded"))
    }

    /// Its kernels' numbers mean nothing any more, and are not used again.
    pub(super) fn unload(&mut self, module: ModuleId) -> Outcome {
        self.module(module)?;
        self.modules.loaded[module as usize] = None;
        Ok(())
    }

    pub(super) fn kernels(&self, module: ModuleId) -> Result<Vec<String>, Failure> {
        Ok(self.module(module)?.kernels().map(str::to_owned).collect())
    }

    pub(super) fn kernel(
        &mut self,
        module: ModuleId,
        name: &str,
    ) -> Result<Option<KernelInfo>, Failure> {
        let Some(kernel) = self.module(module)?.kernel(name) else { return Ok(None) };
        let modules = &mut self.modules;
        let key = (module, name.to_owned());
        let id = *modules.known.entry(key).or_insert_with(|| {
            modules.kernels.push((module, Arc::clone(&kernel)));
            modules.kernels.len() as KernelId - 1
        });
        Ok(Some(self.info(id, &kernel)))
    }

    /// The kernel of that number.
    pub(super) fn kernel_of(&self, id: KernelId) -> Result<(Arc<Kernel>, KernelInfo), Failure> {
        let unknown = || Code::INVALID_FUNCTION.because("it is no kernel");
        let (module, kernel) = self.modules.kernels.get(id as usize).ok_or_else(unknown)?;
        self.module(*module)?;
        Ok((Arc::clone(kernel), self.info(id, kernel)))
    }

    fn info(&self, id: KernelId, kernel: &Kernel) -> KernelInfo {
        let directives = &kernel.directives;
        let registers = self.options.registers.get(&kernel.name).copied();
        KernelInfo {
            id,
            name: kernel.name.clone(),
            params: kernel.params.iter().map(|each| (each.offset, each.size)).collect(),
            param_bytes: kernel.param_bytes,
            static_shared: kernel.static_shared,
            local_bytes: kernel.local_bytes,
            registers: registers.unwrap_or(REGISTERS_GUESSED),
            reqntid: directives.reqntid,
            maxntid: directives.maxntid,
            reqnctapercluster: directives.reqnctapercluster,
            maxclusterrank: directives.maxclusterrank,
            explicitcluster: directives.explicitcluster,
        }
    }

    pub(super) fn symbol(
        &mut self,
        module: ModuleId,
        name: &str,
        segment: &Segment,
    ) -> Result<Option<Symbol>, Failure> {
        let Some((address, bytes)) = self.module(module)?.symbol(name) else { return Ok(None) };
        let info = self.machine.memory().find(address);
        let managed = info.is_some_and(|info| info.kind == AllocationKind::Foreign);
        let backing = managed.then(|| self.back(address, bytes, segment)).transpose()?;
        Ok(Some(Symbol { address, bytes, backing }))
    }

    /// Puts pages of the host's window in the place of a managed variable's, which the emulator has made
    /// for itself.
    fn back(
        &mut self,
        address: Address,
        bytes: u64,
        segment: &Segment,
    ) -> Result<Address, Failure> {
        if let Some(&backing) = self.modules.backings.get(&address) {
            return Ok(backing);
        }
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        let backing = self.window.allocate(bytes)?;
        let place = |address: Address| std::ptr::with_exposed_provenance_mut(address as usize);
        let (from, to): (*mut u8, *mut u8) = (place(address), place(backing));
        // SAFETY: the emulator gives variables whole pages of their own, and no kernel runs now; those of
        // the window were allocated just now, and are open on this side.
        unsafe {
            to.copy_from_nonoverlapping(from, bytes as usize);
            segment.replace(address, bytes, backing).map_err(crate::connection::no_memory)?;
        }
        self.modules.backings.insert(address, backing);
        Ok(backing)
    }
}

/// With the place in the PTX, where the error has one.
fn explained(error: &LoadError, text: &str) -> String {
    let LoadError::Parse(parse) = error else { return error.to_string() };
    let Position { line, column } = SourceMap::new(text).start(&parse.span);
    format!("line {line}, column {column} of the PTX: {parse}")
}

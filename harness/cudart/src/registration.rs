//! What the constructors that nvcc generates call when the solution is loaded.
//!
//! None of these functions can report an error, so a module that cannot be read is remembered as
//! broken, and the first launch from it says why.

use std::ffi::{c_char, c_int, c_void};

use super::abi::{Address, FunctionHandle, In, Out};
use super::allocation::{Allocation, MemoryKind, Owner};
use super::error::{Code, Failure};
use super::function::Function;
use super::session::{self, Session};
use super::symbol::Variable;
use crate::protocol::{KernelInfo, ModuleId, Symbol};
use ptx::fatbin;

/// One fat binary.
pub(super) enum Module {
    Loaded(ModuleId),
    Broken {
        code: Code,
        reason: String,
    },
    /// Its library was closed.
    Gone,
}

impl Module {
    fn load(session: &Session, wrapper: *const c_void) -> Self {
        let capability = session.connection.model.capability;
        // SAFETY: nvcc's constructors pass the wrapper it put into the library.
        let images = unsafe { fatbin::container_of(wrapper) }.and_then(fatbin::read);
        let images = match images {
            Ok(images) => images,
            Err(error) => {
                return Self::Broken { code: Code::NO_KERNEL_IMAGE, reason: error.to_string() };
            }
        };
        let Some(image) = fatbin::select(&images, capability) else {
            let reason = "the fat binary holds no PTX".to_owned();
            return Self::Broken { code: Code::NO_KERNEL_IMAGE, reason };
        };
        Self::of_text(session, &image.text)
            .unwrap_or_else(|Failure { code, detail: reason }| Self::Broken { code, reason })
    }

    pub fn of_text(session: &Session, text: &str) -> Result<Self, Failure> {
        session.connection.load(text).map(Self::Loaded)
    }

    /// The device's number of it.
    pub fn loaded(&self) -> Result<ModuleId, Failure> {
        match self {
            Self::Loaded(module) => Ok(*module),
            Self::Broken { code, reason } => Err(code.because(reason.clone())),
            Self::Gone => Err(Code::INVALID_FUNCTION.because("its library was closed")),
        }
    }
}

impl Session {
    /// What a module has of that name.
    pub fn symbol_in(&self, module: ModuleId, name: &str) -> Result<Symbol, Failure> {
        let missing = || Code::INVALID_SYMBOL.because(format!("the PTX has no variable {name}"));
        self.connection.symbol(module, name)?.ok_or_else(missing)
    }

    /// As [`Self::symbol_in`]; if it is managed, its pages are this process's, too, from here on.
    pub fn reachable_in(&mut self, module: ModuleId, name: &str) -> Result<Symbol, Failure> {
        let symbol = self.symbol_in(module, name)?;
        if let Some(backing) = symbol.backing {
            self.share_variable(symbol.address, symbol.bytes, backing)?;
        }
        Ok(symbol)
    }

    pub fn kernel_in(&self, module: &Module, name: &str) -> Result<KernelInfo, Failure> {
        let missing = || Code::INVALID_FUNCTION.because(format!("the PTX has no kernel {name}"));
        self.connection.kernel(module.loaded()?, name)?.ok_or_else(missing)
    }
}

/// Handles are the index of the module plus one, so that none is null.
pub(super) type ModuleHandle = usize;

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> ModuleHandle {
    session::with(|session| {
        let module = Module::load(session, wrapper);
        if let Module::Broken { code, reason } = &module {
            session.note("__cudaRegisterFatBinary", &code.because(reason.clone()));
        }
        session.modules.push(module);
        session.modules.len()
    })
    .unwrap_or(0)
}

/// All functions and variables are known; there is nothing left to do.
#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaRegisterFatBinaryEnd(_module: ModuleHandle) {}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaUnregisterFatBinary(handle: ModuleHandle) {
    session::with(|session| session.forget_module(handle));
}

impl Session {
    pub fn forget_module(&mut self, handle: ModuleHandle) {
        let Some(index) = handle.checked_sub(1) else { return };
        self.functions.retain(|_, function| function.module != index);
        self.variables.retain(|_, variable| variable.module != index);
        if let Some(module) = self.modules.get_mut(index)
            && let Module::Loaded(loaded) = std::mem::replace(module, Module::Gone)
        {
            // Where the device is gone, so is the module.
            let _ = self.connection.unload(loaded);
        }
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaRegisterFunction(
    module: ModuleHandle,
    host: FunctionHandle,
    _device: *const c_char,
    name: In<c_char>,
    _thread_limit: c_int,
    _thread: *const c_void,
    _block: *const c_void,
    _block_extent: *const c_void,
    _grid_extent: *const c_void,
    _warp_size: *const c_int,
) {
    session::with(|session| {
        let (Some(module), Ok(name)) = (module.checked_sub(1), name.text()) else { return };
        session.functions.insert(host, Function::new(module, name));
    });
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaRegisterVar(
    module: ModuleHandle,
    host: usize,
    _device_address: *const c_char,
    name: In<c_char>,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    session::with(|session| {
        let (Some(module), Ok(name)) = (module.checked_sub(1), name.text()) else { return };
        session.variables.insert(host, Variable { module, name, size });
    });
}

/// The host reads a `__managed__` variable through a pointer, which is set here.
#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaRegisterManagedVar(
    module: ModuleHandle,
    host: Out<Address>,
    _device_address: *const c_char,
    name: In<c_char>,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    session::with(|session| {
        let (Some(module), Ok(name)) = (module.checked_sub(1), name.text()) else { return };
        let symbol = session.modules.get(module).map(Module::loaded);
        let symbol = symbol.and_then(|loaded| session.reachable_in(loaded.ok()?, &name).ok());
        let variable = Variable { module, name, size };
        session.variables.insert(host.address(), variable.clone());
        if let Some(Symbol { address, bytes: len, .. }) = symbol {
            host.set_if_wanted(address);
            let (kind, owner) = (MemoryKind::Managed, Owner::Module);
            session.allocations.insert(address, Allocation { len, kind, owner, flags: 0 });
            // `&variable` in the program is the address of the memory, not of the pointer.
            session.variables.insert(address as usize, variable);
        }
    });
}

/// Called before the host's first access to a managed variable; these are ready since they were
/// registered.
#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaInitModule(_module: ModuleHandle) -> c_char {
    1
}

//! Modules that the program loads itself, from text or a file, and what it finds in them. The driver
//! calls them modules and the runtime libraries; a handle stands for either.

use std::ffi::{CStr, c_char, c_void};

use super::abi::{Address, FunctionHandle, In, Out};
use super::error::{Code, Failure, Outcome};
use super::function::Function;
use super::registration::{Module, ModuleHandle};
use super::session::Session;
use crate::protocol::Symbol;
use ptx::fatbin::{self, FatbinError};

/// What an ELF file begins with, and so a cubin.
const ELF: [u8; 4] = *b"\x7fELF";

/// An image in memory: a text up to its NUL, or a fat binary.
///
/// # Safety
///
/// `image` is null or one of these, whole, or machine code.
unsafe fn bytes_of<'a>(image: *const c_void) -> Result<&'a [u8], Failure> {
    if image.is_null() {
        return Err(Code::INVALID_VALUE.because("the image is null"));
    }
    // SAFETY: the caller's promise; of a text as short as a fat binary's first bytes the NUL is seen.
    match unsafe { fatbin::container_at(image) } {
        // SAFETY: it is a text, or machine code, whose header has a NUL soon.
        None => Ok(unsafe { CStr::from_ptr(image.cast()) }.to_bytes()),
        Some(container) => container.map_err(broken),
    }
}

fn broken(error: FatbinError) -> Failure {
    let code = match error {
        FatbinError::MachineCodeOnly => Code::NO_KERNEL_IMAGE,
        _ => Code::INVALID_IMAGE,
    };
    code.because(error.to_string())
}

/// The PTX of an image: a text, which may end in NUL, or the best of a fat binary.
fn text_in(image: &[u8], capability: (u32, u32)) -> Result<String, Failure> {
    if image.starts_with(&ELF) {
        return Err(Code::NO_KERNEL_IMAGE.because("machine code; the emulator runs PTX"));
    }
    match fatbin::read(image) {
        Err(FatbinError::Magic) => {
            let text = image.split(|&byte| byte == 0).next().unwrap_or_default();
            Ok(String::from_utf8_lossy(text).into_owned())
        }
        Err(error) => Err(broken(error)),
        Ok(images) => {
            let best = fatbin::select(&images, capability);
            best.map(|image| image.text.clone()).ok_or_else(|| broken(FatbinError::MachineCodeOnly))
        }
    }
}

impl Session {
    /// Loads an image, and gives its handle.
    ///
    /// # Safety
    ///
    /// As for [`bytes_of`].
    pub unsafe fn load_image(&mut self, image: *const c_void) -> Result<ModuleHandle, Failure> {
        // SAFETY: the caller's promise.
        self.load_bytes(unsafe { bytes_of(image)? })
    }

    /// As [`Self::load_image`], from a file.
    pub fn load_file(&mut self, path: In<c_char>) -> Result<ModuleHandle, Failure> {
        let path = path.text()?;
        let image = std::fs::read(&path)
            .map_err(|error| Code::FILE_NOT_FOUND.because(format!("{path}: {error}")))?;
        self.load_bytes(&image)
    }

    fn load_bytes(&mut self, image: &[u8]) -> Result<ModuleHandle, Failure> {
        let text = text_in(image, self.connection.model.capability).inspect_err(|failure| {
            if failure.code == Code::NO_KERNEL_IMAGE {
                self.lacks("modules of machine code, without PTX");
            }
        })?;
        let module = Module::of_text(self, &text)?;
        self.modules.push(module);
        Ok(self.modules.len())
    }

    pub fn unload(&mut self, handle: ModuleHandle) -> Outcome {
        self.loaded(handle)?;
        self.forget_module(handle);
        Ok(())
    }

    fn loaded(&self, handle: ModuleHandle) -> Result<&Module, Failure> {
        let module = handle.checked_sub(1).and_then(|index| self.modules.get(index));
        let live = module.filter(|module| !matches!(module, Module::Gone));
        live.ok_or_else(|| Code::INVALID_HANDLE.because("it is no module, or unloaded"))
    }

    /// The kernel's handle: the same one each time.
    pub fn function_in(
        &mut self,
        handle: ModuleHandle,
        name: &str,
    ) -> Result<FunctionHandle, Failure> {
        let missing = |_| Code::NOT_FOUND.because(format!("no kernel {name}"));
        self.kernel_in(self.loaded(handle)?, name).map_err(missing)?;
        let module = handle - 1;
        let same = |function: &Function| function.module == module && function.name == name;
        if let Some((&known, _)) = self.functions.iter().find(|(_, function)| same(function)) {
            return Ok(known);
        }
        let function = self.handle();
        self.functions.insert(function, Function::new(module, name.to_owned()));
        Ok(function)
    }

    pub fn variable_in(
        &mut self,
        handle: ModuleHandle,
        name: &str,
    ) -> Result<(Address, usize), Failure> {
        let missing = |_| Code::NOT_FOUND.because(format!("no variable {name}"));
        let module = self.loaded(handle)?.loaded()?;
        let Symbol { address, bytes, .. } = self.reachable_in(module, name).map_err(missing)?;
        Ok((address, bytes as usize))
    }

    fn kernel_names(&self, handle: ModuleHandle) -> Result<Vec<String>, Failure> {
        self.connection.kernels(self.loaded(handle)?.loaded()?)
    }

    pub fn set_variable(
        &mut self,
        (address, bytes): (Out<Address>, Out<usize>),
        handle: ModuleHandle,
        name: In<c_char>,
    ) -> Outcome {
        let (at, len) = self.variable_in(handle, &name.text()?)?;
        address.set_if_wanted(at);
        bytes.set_if_wanted(len);
        Ok(())
    }
}

runtime! {
    fn cudaLibraryLoadData(
        library: Out<ModuleHandle>, code: *const c_void, _jit: In<u32>, _jit_values: In<usize>,
        _jit_count: u32, _options: In<u32>, _values: In<usize>, _count: u32,
    ) |session| {
        // SAFETY: the interface's contract.
        library.set(unsafe { session.load_image(code)? })
    }

    fn cudaLibraryLoadFromFile(
        library: Out<ModuleHandle>, path: In<c_char>, _jit: In<u32>, _jit_values: In<usize>,
        _jit_count: u32, _options: In<u32>, _values: In<usize>, _count: u32,
    ) |session| {
        library.set(session.load_file(path)?)
    }

    fn cudaLibraryUnload(library: ModuleHandle) |session| {
        session.unload(library)
    }

    fn cudaLibraryGetKernel(
        kernel: Out<FunctionHandle>, library: ModuleHandle, name: In<c_char>,
    ) |session| {
        kernel.set(session.function_in(library, &name.text()?)?)
    }

    fn cudaLibraryGetKernelCount(count: Out<u32>, library: ModuleHandle) |session| {
        count.set(session.kernel_names(library)?.len() as u32)
    }

    fn cudaLibraryEnumerateKernels(
        kernels: Out<FunctionHandle>, room: u32, library: ModuleHandle,
    ) |session| {
        let names = session.kernel_names(library)?;
        for (index, name) in names.iter().take(room as usize).enumerate() {
            kernels.at(index).set(session.function_in(library, name)?)?;
        }
        Ok(())
    }

    fn cudaLibraryGetGlobal(
        address: Out<Address>, bytes: Out<usize>, library: ModuleHandle, name: In<c_char>,
    ) |session| {
        session.set_variable((address, bytes), library, name)
    }

    fn cudaLibraryGetManaged(
        address: Out<Address>, bytes: Out<usize>, library: ModuleHandle, name: In<c_char>,
    ) |session| {
        session.set_variable((address, bytes), library, name)
    }
}

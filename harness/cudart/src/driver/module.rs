//! Modules, which the driver's later versions call libraries.

use std::ffi::{c_char, c_void};

use crate::abi::{Address, FunctionHandle, In, Out};
use crate::error::{Code, Failure};
use crate::library::*;
use crate::registration::ModuleHandle;
use crate::session::{self, Session};

/// `CUjit_option`: where to write what the compiler says, and its bytes.
const INFO_LOG: u32 = 3;
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// The options of a load, of which the logs are wanted here.
#[derive(Clone, Copy)]
struct Options {
    count: u32,
    ids: In<u32>,
    values: Out<usize>,
}

impl Options {
    const NONE: Self = Self { count: 0, ids: In::none(), values: Out::none() };

    fn index(self, wanted: u32) -> Option<usize> {
        (0..self.count as usize).find(|&index| self.ids.at(index).is_ok_and(|id| id == wanted))
    }

    fn value(self, wanted: u32) -> Option<usize> {
        self.values.at(self.index(wanted)?).read().ok()
    }

    /// Writes a log that the program has given room for, and how long it is.
    fn log(self, (buffer, size): (u32, u32), text: &str) {
        let (Some(place), Some(room)) = (self.value(buffer), self.value(size)) else { return };
        // The value of a size is an `unsigned int` in a pointer's place.
        let place: Out<u8> = Out::to_address(place);
        let written = place.set_text(text.as_bytes(), room as u32 as usize);
        if let Some(index) = self.index(size) {
            self.values.at(index).set_if_wanted(written);
        }
    }
}

fn load(
    module: Out<ModuleHandle>,
    options: Options,
    load: impl FnOnce(&mut Session) -> Result<ModuleHandle, Failure>,
) -> Code {
    session::call("cuModuleLoad", |session| {
        let loaded = load(session);
        let error = loaded.as_ref().err().map_or("", |failure| failure.detail.as_str());
        options.log((INFO_LOG, INFO_LOG_BYTES), "");
        options.log((ERROR_LOG, ERROR_LOG_BYTES), error);
        module.set(loaded?)
    })
}

fn variable(place: (Out<Address>, Out<usize>), module: ModuleHandle, name: In<c_char>) -> Code {
    session::call("cuModuleGetGlobal", |session| session.set_variable(place, module, name))
}

fn same(handle: Out<usize>, value: usize) -> Code {
    session::call("driver", |_session| handle.set(value))
}

driver! {
    fn cuModuleLoadData(module: Out<ModuleHandle>, image: *const c_void) {
        // SAFETY: the interface's contract.
        load(module, Options::NONE, |session| unsafe { session.load_image(image) })
    }

    fn cuModuleLoadDataEx(
        module: Out<ModuleHandle>, image: *const c_void, count: u32, ids: In<u32>, values: Out<usize>,
    ) {
        let options = Options { count, ids, values };
        // SAFETY: the interface's contract.
        load(module, options, |session| unsafe { session.load_image(image) })
    }

    fn cuModuleLoadFatBinary(module: Out<ModuleHandle>, image: *const c_void) {
        // SAFETY: the interface's contract.
        load(module, Options::NONE, |session| unsafe { session.load_image(image) })
    }

    fn cuModuleLoad(module: Out<ModuleHandle>, path: In<c_char>) {
        load(module, Options::NONE, |session| session.load_file(path))
    }

    fn cuModuleUnload(module: ModuleHandle) { cudaLibraryUnload(module) }

    fn cuModuleGetFunction(
        function: Out<FunctionHandle>, module: ModuleHandle, name: In<c_char>,
    ) {
        cudaLibraryGetKernel(function, module, name)
    }

    fn cuModuleGetFunctionCount(count: Out<u32>, module: ModuleHandle) {
        cudaLibraryGetKernelCount(count, module)
    }

    fn cuModuleGetGlobal_v2(
        address: Out<Address>, bytes: Out<usize>, module: ModuleHandle, name: In<c_char>,
    ) {
        variable((address, bytes), module, name)
    }

    fn cuLibraryLoadData(
        library: Out<ModuleHandle>, image: *const c_void, ids: In<u32>, values: Out<usize>,
        count: u32, _options: In<u32>, _option_values: In<usize>, _option_count: u32,
    ) {
        let options = Options { count, ids, values };
        // SAFETY: the interface's contract.
        load(library, options, |session| unsafe { session.load_image(image) })
    }

    fn cuLibraryLoadFromFile(
        library: Out<ModuleHandle>, path: In<c_char>, ids: In<u32>, values: Out<usize>, count: u32,
        _options: In<u32>, _option_values: In<usize>, _option_count: u32,
    ) {
        load(library, Options { count, ids, values }, |session| session.load_file(path))
    }

    fn cuLibraryUnload(library: ModuleHandle) { cudaLibraryUnload(library) }

    fn cuLibraryGetKernel(
        kernel: Out<FunctionHandle>, library: ModuleHandle, name: In<c_char>,
    ) {
        cudaLibraryGetKernel(kernel, library, name)
    }

    fn cuLibraryGetKernelCount(count: Out<u32>, library: ModuleHandle) {
        cudaLibraryGetKernelCount(count, library)
    }

    fn cuLibraryGetGlobal(
        address: Out<Address>, bytes: Out<usize>, library: ModuleHandle, name: In<c_char>,
    ) {
        variable((address, bytes), library, name)
    }

    fn cuLibraryGetModule(module: Out<ModuleHandle>, library: ModuleHandle) {
        same(module, library)
    }

    fn cuKernelGetFunction(function: Out<FunctionHandle>, kernel: FunctionHandle) {
        same(function, kernel)
    }
}

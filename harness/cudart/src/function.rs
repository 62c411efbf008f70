//! Kernels as the host knows them: by the address of their stub.

use std::cell::OnceCell;
use std::ffi::{CString, c_char};
use std::sync::Arc;

use super::abi::{FunctionAttributes, FunctionHandle, Out};
use super::device_model::{Limits, SHARED_PER_BLOCK_DEFAULT};
use super::error::{Code, Failure, Outcome};
use super::occupancy::threads_by_registers;
use super::session::Session;
use crate::protocol::KernelInfo;

/// Values of `cudaFuncAttribute`.
mod attribute {
    pub const MAX_DYNAMIC_SHARED: u32 = 8;
    pub const CARVEOUT: u32 = 9;
    pub const NON_PORTABLE_CLUSTER: u32 = 14;
    pub const CLUSTER_SCHEDULING: u32 = 15;
}

/// A registered kernel and what the program has set for it.
pub(super) struct Function {
    /// Index into the session's modules.
    pub module: usize,
    pub name: String,
    /// The name for `cudaFuncGetName`.
    c_name: CString,
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`
    max_dynamic_shared: Option<u32>,
    carveout: i32,
    pub non_portable_cluster: bool,
    /// What the device knows of it, once it was asked.
    info: OnceCell<Arc<KernelInfo>>,
}

impl Function {
    pub fn new(module: usize, name: String) -> Self {
        let c_name = CString::new(name.as_str()).unwrap_or_default();
        let (carveout, non_portable_cluster) = (-1, false);
        let (max_dynamic_shared, info) = (None, OnceCell::new());
        Self { module, name, c_name, max_dynamic_shared, carveout, non_portable_cluster, info }
    }

    /// Bytes of dynamic shared memory that a launch may ask for.
    pub fn dynamic_shared_limit(&self, kernel: &KernelInfo) -> u32 {
        self.max_dynamic_shared
            .unwrap_or(SHARED_PER_BLOCK_DEFAULT.saturating_sub(kernel.static_shared))
    }
}

impl Session {
    pub fn function(&self, handle: FunctionHandle) -> Result<&Function, Failure> {
        let unknown = || Code::INVALID_FUNCTION.because("it is no registered __global__ function");
        self.functions.get(&handle).ok_or_else(unknown)
    }

    pub fn kernel(&self, handle: FunctionHandle) -> Result<(&Function, Arc<KernelInfo>), Failure> {
        let function = self.function(handle)?;
        let gone = || Code::INVALID_FUNCTION.because("its library was closed");
        let module = self.modules.get(function.module).ok_or_else(gone)?;
        if let Some(known) = function.info.get() {
            return Ok((function, Arc::clone(known)));
        }
        let info = Arc::new(self.kernel_in(module, &function.name)?);
        Ok((function, Arc::clone(function.info.get_or_init(|| info))))
    }

    pub fn limits(&self) -> Limits {
        Limits::of(self.connection.model.capability)
    }

    pub fn function_attributes(
        &self,
        handle: FunctionHandle,
    ) -> Result<FunctionAttributes, Failure> {
        let (function, kernel) = self.kernel(handle)?;
        let (major, minor) = self.connection.model.capability;
        let version = (major * 10 + minor) as i32;
        let cluster = kernel.reqnctapercluster;
        let registers = kernel.registers;
        Ok(FunctionAttributes {
            shared_bytes: kernel.static_shared as usize,
            local_bytes: kernel.local_bytes as usize,
            max_threads_per_block: kernel.max_threads().min(threads_by_registers(registers)) as i32,
            registers: registers as i32,
            ptx_version: version,
            binary_version: version,
            max_dynamic_shared_bytes: function.dynamic_shared_limit(&kernel) as i32,
            preferred_carveout: function.carveout,
            cluster_must_be_set: i32::from(kernel.explicitcluster),
            required_cluster: cluster.unwrap_or([0; 3]).map(|extent| extent as i32),
            non_portable_cluster_allowed: i32::from(function.non_portable_cluster),
            ..FunctionAttributes::default()
        })
    }

    fn set_function_attribute(&mut self, handle: FunctionHandle, id: u32, value: i32) -> Outcome {
        let (_, kernel) = self.kernel(handle)?;
        let room = self.limits().shared_per_block.saturating_sub(kernel.static_shared);
        let Some(function) = self.functions.get_mut(&handle) else { return Ok(()) };
        match (id, u32::try_from(value)) {
            (attribute::MAX_DYNAMIC_SHARED, Ok(bytes)) if bytes <= room => {
                function.max_dynamic_shared = Some(bytes);
            }
            (attribute::MAX_DYNAMIC_SHARED, _) => {
                let detail = format!("{value} bytes of dynamic shared memory; there is {room}");
                return Err(Code::INVALID_VALUE.because(detail));
            }
            (attribute::CARVEOUT, _) if (-1..=100).contains(&value) => function.carveout = value,
            (attribute::NON_PORTABLE_CLUSTER, _) => function.non_portable_cluster = value != 0,
            (attribute::CLUSTER_SCHEDULING, _) => {}
            _ => return Err(Code::INVALID_VALUE.because(format!("attribute {id} = {value}"))),
        }
        Ok(())
    }
}

runtime! {
    fn cudaFuncGetAttributes(
        attributes: Out<FunctionAttributes>, function: FunctionHandle,
    ) |session| {
        attributes.set(session.function_attributes(function)?)
    }

    fn cudaFuncSetAttribute(function: FunctionHandle, id: u32, value: i32) |session| {
        session.set_function_attribute(function, id, value)
    }

    fn cudaKernelSetAttributeForDevice(
        function: FunctionHandle, id: u32, value: i32, device: i32,
    ) |session| {
        session.device(device)?;
        session.set_function_attribute(function, id, value)
    }

    fn cudaFuncSetCacheConfig(function: FunctionHandle, _preference: u32) |session| {
        session.function(function).map(drop)
    }

    fn cudaFuncSetSharedMemConfig(function: FunctionHandle, _preference: u32) |session| {
        session.function(function).map(drop)
    }

    fn cudaFuncGetName(name: Out<*const c_char>, function: FunctionHandle) |session| {
        name.set(session.function(function)?.c_name.as_ptr())
    }

    fn cudaFuncGetParamInfo(
        function: FunctionHandle, index: usize, offset: Out<usize>, size: Out<usize>,
    ) |session| {
        let (_, kernel) = session.kernel(function)?;
        let missing = || Code::INVALID_VALUE.because(format!("no parameter {index}"));
        let &(at, bytes) = kernel.params.get(index).ok_or_else(missing)?;
        size.set_if_wanted(bytes as usize);
        offset.set(at as usize)
    }

    fn cudaGetFuncBySymbol(handle: Out<FunctionHandle>, function: FunctionHandle) |session| {
        session.function(function)?;
        handle.set(function)
    }
}

//! NVIDIA's driver library, loaded at run time, and one GPU's primary context.
//!
//! The solution's own CUDA runtime, linked into its library, uses the same primary context (CUDA
//! Programming Guide, "Driver API", interoperability): memory that is allocated here is memory to
//! it, and its default stream is stream 0 here.

use std::ffi::{CString, c_void};

use cudarc::driver::{DriverError, result, sys};

use crate::device::{DeviceError, DeviceErrorKind};

/// The default stream, which waits for every blocking stream and they for it.
pub const STREAM: sys::CUstream = std::ptr::null_mut();

/// The functions that are called here and not part of every driver since CUDA 3: the bindings end
/// the process where one is missing, so this asks first.
const NEEDED: [&str; 7] = [
    "cuInit",
    "cuDevicePrimaryCtxRetain",
    "cuModuleLoadData",
    "cuEventElapsedTime_v2",
    "cuCtxResetPersistingL2Cache",
    "cuCtxRecordEvent",
    "cuDeviceGetUuid_v2",
];

/// Loads and starts the driver.
///
/// # Errors
///
/// What is missing, for people.
pub fn start() -> Result<(), String> {
    // SAFETY: loads the library that the system keeps under this name, constructors included, as
    // any program that uses CUDA does.
    if !unsafe { sys::is_culib_present() } {
        return Err("no NVIDIA driver: libcuda.so.1 is not found".to_owned());
    }
    // SAFETY: the library is there.
    let library = unsafe { sys::culib() };
    for name in NEEDED {
        // SAFETY: only looked for, not called.
        if unsafe { library.get::<*const c_void>(name.as_bytes()) }.is_err() {
            return Err(format!(
                "the NVIDIA driver is too old: it has no {name} (nibble needs one for CUDA 13)"
            ));
        }
    }
    result::init().map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => "the NVIDIA driver finds no GPU".to_owned(),
        _ => format!("the NVIDIA driver does not start: {}", words(error)),
    })
}

/// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
pub fn words(error: DriverError) -> String {
    let text = |text: Result<&std::ffi::CStr, DriverError>| {
        text.map_or_else(|_| format!("error {}", error.0 as u32), |t| t.to_string_lossy().into())
    };
    format!("{}: {}", text(error.error_name()), text(error.error_string()))
}

impl From<DriverError> for DeviceError {
    fn from(error: DriverError) -> Self {
        use sys::CUresult as R;
        let kind = match error.0 {
            R::CUDA_ERROR_ILLEGAL_ADDRESS | R::CUDA_ERROR_INVALID_ADDRESS_SPACE => {
                DeviceErrorKind::IllegalAddress
            }
            R::CUDA_ERROR_MISALIGNED_ADDRESS => DeviceErrorKind::MisalignedAddress,
            R::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | R::CUDA_ERROR_INVALID_PC
            | R::CUDA_ERROR_HARDWARE_STACK_ERROR => DeviceErrorKind::IllegalInstruction,
            R::CUDA_ERROR_ASSERT => DeviceErrorKind::Assert,
            R::CUDA_ERROR_LAUNCH_FAILED => DeviceErrorKind::LaunchFailed,
            R::CUDA_ERROR_LAUNCH_TIMEOUT => DeviceErrorKind::Timeout,
            R::CUDA_ERROR_OUT_OF_MEMORY => DeviceErrorKind::OutOfMemory,
            _ => DeviceErrorKind::Other,
        };
        Self { kind, text: words(error) }
    }
}

/// One GPU, with its primary context current in the thread that opened it.
#[derive(Debug)]
pub struct Context {
    device: sys::CUdevice,
    pub handle: sys::CUcontext,
    /// Bytes.
    pub l2: usize,
    pub sms: u32,
    /// Threads that one SM holds.
    pub threads: u32,
    /// Of the SMs, kHz.
    pub clock_khz: u32,
}

impl Context {
    /// Starts the driver and makes a context on GPU `ordinal`.
    ///
    /// # Errors
    ///
    /// What the driver says, for people.
    pub fn open(ordinal: usize) -> Result<Self, String> {
        start()?;
        Self::enter(ordinal).map_err(|error| format!("GPU {ordinal}: {}", words(error)))
    }

    fn enter(ordinal: usize) -> Result<Self, DriverError> {
        use sys::CUdevice_attribute as A;
        let device = result::device::get(i32::try_from(ordinal).unwrap_or(i32::MAX))?;
        // SAFETY: a device that the driver just named. The context lives as long as the process.
        let handle = unsafe { result::primary_ctx::retain(device) }?;
        // SAFETY: as above.
        unsafe { result::ctx::set_current(handle) }?;
        let attribute = |name| attribute(device, name);
        Ok(Self {
            device,
            handle,
            l2: attribute(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
            sms: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            threads: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            clock_khz: attribute(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        })
    }

    /// Whether the GPU can set a part of its L2 aside for data that a flush does not evict.
    pub fn persists(&self) -> bool {
        let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE;
        attribute(self.device, most).is_ok_and(|bytes| bytes > 0)
    }
}

/// An attribute of a device, which for all that are asked for here is no negative number.
pub fn attribute(device: sys::CUdevice, name: sys::CUdevice_attribute) -> Result<u32, DriverError> {
    // SAFETY: a device that the driver named.
    unsafe { result::device::get_attribute(device, name) }.map(i32::unsigned_abs)
}

/// Waits for all of the GPU's work, whatever stream it is on.
///
/// # Errors
///
/// What any of that work ended with.
pub fn synchronize() -> Result<(), DriverError> {
    result::ctx::synchronize()
}

/// Bytes of the GPU's memory that nobody has.
pub fn free_bytes() -> Result<usize, DriverError> {
    result::mem_get_info().map(|(free, _)| free)
}

/// Memory of the GPU; freed when dropped.
#[derive(Debug)]
pub struct Memory {
    pub address: u64,
    pub len: usize,
}

impl Memory {
    pub fn new(len: usize) -> Result<Self, DriverError> {
        // SAFETY: plain memory, of which nothing is assumed before it is written.
        let address = unsafe { result::malloc_sync(len.max(1)) }?;
        Ok(Self { address, len })
    }

    /// Copies `bytes` of the host at `from` to `offset`.
    ///
    /// # Safety
    ///
    /// `from` must be readable for `bytes` bytes.
    pub unsafe fn upload(
        &self,
        offset: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), DriverError> {
        assert!(offset + bytes <= self.len);
        // SAFETY: in range on both sides.
        unsafe { sys::cuMemcpyHtoD_v2(self.address + offset as u64, from.cast(), bytes).result() }
    }

    /// Copies `bytes` at `offset` to the host, at `to`.
    ///
    /// # Safety
    ///
    /// `to` must be writable for `bytes` bytes.
    pub unsafe fn download(
        &self,
        offset: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<(), DriverError> {
        assert!(offset + bytes <= self.len);
        // SAFETY: in range on both sides.
        unsafe { sys::cuMemcpyDtoH_v2(to.cast(), self.address + offset as u64, bytes).result() }
    }

    /// Fills it with zeros.
    pub fn clear(&self) -> Result<(), DriverError> {
        // SAFETY: allocated and of that length.
        unsafe { result::memset_d8_sync(self.address, 0, self.len) }
    }

    /// Copies all of `from`, which is no longer, on the GPU.
    pub fn copy(&self, from: &Self) -> Result<(), DriverError> {
        assert!(from.len <= self.len);
        // SAFETY: both are allocated and of that length.
        unsafe { result::memcpy_dtod_async(self.address, from.address, from.len, STREAM) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, freed once. After a sticky error this fails, and the process
        // ends anyway.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// PTX that the driver has compiled for its GPU. Never unloaded: nibble's own kernels live as long
/// as the process, and what else is loaded is small.
#[derive(Debug)]
pub struct Module(sys::CUmodule);

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub struct Function(sys::CUfunction);

/// One value of a kernel's parameters.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Word(u64),
    Half(u32),
}

impl Module {
    pub fn load(text: &str) -> Result<Self, DriverError> {
        let text =
            CString::new(text).map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_INVALID_PTX))?;
        // SAFETY: a text that ends with a zero byte.
        unsafe { result::module::load_data(text.as_ptr().cast()) }.map(Self)
    }

    pub fn function(&self, name: &str) -> Result<Function, DriverError> {
        let name =
            CString::new(name).map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND))?;
        // SAFETY: a module that is loaded.
        unsafe { result::module::get_function(self.0, name) }.map(Function)
    }
}

impl Function {
    /// Launches so many blocks of so many threads. The values must be the kernel's parameters, in
    /// order, and each as wide.
    pub fn launch(
        self,
        (blocks, threads): (u32, u32),
        values: &[Value],
    ) -> Result<(), DriverError> {
        let mut pointers: Vec<*mut c_void> = values
            .iter()
            .map(|value| match value {
                Value::Word(word) => std::ptr::from_ref(word).cast_mut().cast(),
                Value::Half(half) => std::ptr::from_ref(half).cast_mut().cast(),
            })
            .collect();
        // SAFETY: a function of a loaded module; one pointer for each parameter, to a value that
        // the driver copies before it returns.
        unsafe {
            result::launch_kernel(self.0, (blocks, 1, 1), (threads, 1, 1), 0, STREAM, &mut pointers)
        }
    }
}

//! A program as nvcc makes it, and what its host code would do.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard};

use cudart::session::{self, Complaints};

use crate::abi::*;
use crate::device::{Report, TestDevice};

pub const HOST_TO_DEVICE: u32 = 1;
pub const DEVICE_TO_HOST: u32 = 2;
pub const DEFAULT: u32 = 4;
pub const ONE: Dim3 = Dim3(1, 1, 1);

static CONTAINER: &[u8] = include_bytes!("../fixtures/runtime.bin");

// The host's stubs are known by their addresses, so each must be a function of its own, and one:
// what may be inlined has an address in every codegen unit.
#[inline(never)]
pub extern "C" fn scale() {
    std::hint::black_box(1);
}
#[inline(never)]
pub extern "C" fn count() {
    std::hint::black_box(2);
}
#[inline(never)]
pub extern "C" fn mixed() {
    std::hint::black_box(3);
}
#[inline(never)]
pub extern "C" fn reverse() {
    std::hint::black_box(4);
}
#[inline(never)]
pub extern "C" fn absent() {
    std::hint::black_box(5);
}

/// There is one session in a process.
pub static SERIAL: Mutex<()> = Mutex::new(());

/// A loaded program; its shadow variables live here.
pub struct Program {
    pub module: *mut c_void,
    pub factor: Box<[f32; 4]>,
    pub counter: Box<i32>,
    pub managed: Box<*mut i32>,
    pub device: TestDevice,
    _serial: MutexGuard<'static, ()>,
}

impl Program {
    pub fn load() -> Self {
        let serial = SERIAL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let device = TestDevice::spawn();
        session::start(device.connect());
        // Magic number and version, the container, nothing.
        let wrapper = [0x1_4662_43b1, CONTAINER.as_ptr() as u64, 0u64];
        let mut program = Self {
            // SAFETY: a wrapper as nvcc emits it, around a whole container.
            module: unsafe { __cudaRegisterFatBinary(wrapper.as_ptr().cast()) },
            factor: Box::default(),
            counter: Box::default(),
            managed: Box::new(null_mut()),
            device,
            _serial: serial,
        };
        program.register();
        program
    }

    fn register(&mut self) {
        let module = self.module;
        let stubs: [(Host, &CStr); 5] = [
            (scale, c"scale"),
            (count, c"count"),
            (mixed, c"mixed"),
            (reverse, c"reverse"),
            (absent, c"absent"),
        ];
        for (stub, name) in stubs {
            let (n, none) = (name.as_ptr(), null_mut());
            // SAFETY: as nvcc's constructors do it.
            unsafe {
                __cudaRegisterFunction(module, stub, n, n, -1, none, none, none, none, null_mut());
            }
        }
        let (factor, counter, managed) =
            (&raw mut *self.factor, &raw mut *self.counter, &raw mut *self.managed);
        // SAFETY: as nvcc's constructors do it.
        unsafe {
            __cudaRegisterVar(module, factor.cast(), null(), c"factor".as_ptr(), 0, 16, 1, 0);
            __cudaRegisterVar(module, counter.cast(), null(), c"counter".as_ptr(), 0, 4, 0, 0);
            __cudaRegisterManagedVar(module, managed, null(), c"managed".as_ptr(), 0, 4, 0, 0);
            __cudaRegisterFatBinaryEnd(module);
        }
    }

    /// `stub<<<grid, block, shared>>>(arguments…)`, as the stub nvcc generates does it.
    pub fn launch(
        &self,
        stub: Host,
        grid: Dim3,
        block: Dim3,
        shared: usize,
        of: &[*const c_void],
    ) -> u32 {
        let mut arguments = of.to_vec();
        let (mut g, mut b, mut s, mut stream, mut kernel) = (ONE, ONE, 0, 0, 0);
        // SAFETY: the stubs' sequence of calls, with arguments that match the kernel.
        unsafe {
            assert_eq!(__cudaPushCallConfiguration(grid, block, shared, 0), 0);
            __cudaGetKernel(&mut kernel, stub);
            assert_eq!(__cudaPopCallConfiguration(&mut g, &mut b, &mut s, &mut stream), 0);
            __cudaLaunchKernel(kernel, g, b, arguments.as_mut_ptr(), s, stream)
        }
    }

    pub fn scale(
        &self,
        y: *mut f32,
        x: *mut f32,
        factor: f32,
        n: i32,
        grid: u32,
        block: u32,
    ) -> u32 {
        let arguments = [address(&y), address(&x), address(&factor), address(&n)];
        self.launch(scale, Dim3(grid, 1, 1), Dim3(block, 1, 1), 0, &arguments)
    }

    /// What happened since it was last asked.
    pub fn report(&self) -> Report {
        let Complaints { unsupported, errors, .. } = session::complaints();
        let happened = self.device.report();
        Report { launches: happened.launches, fault: happened.fault, unsupported, errors }
    }

    pub fn finish(self) -> Report {
        self.report()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        session::finish();
    }
}

pub fn address<T>(value: &T) -> *const c_void {
    (&raw const *value).cast()
}

pub fn allocate(floats: usize) -> *mut f32 {
    let mut pointer = null_mut();
    // SAFETY: `pointer` takes the address.
    assert_eq!(unsafe { cudaMalloc(&mut pointer, floats * 4) }, 0);
    pointer
}

pub fn upload(to: *mut f32, from: &[f32]) -> u32 {
    // SAFETY: `from` is as long as is said; the other end is checked.
    unsafe { cudaMemcpy(to.cast(), from.as_ptr().cast(), size_of_val(from), HOST_TO_DEVICE) }
}

pub fn download(from: *mut f32, count: usize) -> Vec<f32> {
    let mut to = vec![0.0f32; count];
    // SAFETY: `to` is as long as is said; the other end is checked.
    let code =
        unsafe { cudaMemcpy(to.as_mut_ptr().cast(), from.cast(), count * 4, DEVICE_TO_HOST) };
    assert_eq!(code, 0);
    to
}

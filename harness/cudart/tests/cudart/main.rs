//! The runtime interface, called as the code that nvcc generates calls it.
//!
//! `fixtures/runtime.bin` is section `.nv_fatbin` of
//! `nvcc -O3 -std=c++17 -shared -cudart none -gencode arch=compute_80,code=compute_80 runtime.cu`.

mod abi;
mod device;
mod program;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use abi::*;
use device::Report;
use program::*;

#[test]
fn a_kernel_runs_on_what_was_copied() {
    let program = Program::load();
    let (x, y) = (allocate(1000), allocate(1000));
    let input: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    assert_eq!(upload(x, &input), 0);
    let symbol = address(&*program.factor);
    let factor = [1.0f32, 2.0, 3.0, 4.0];
    // SAFETY: both ends are 16 bytes.
    assert_eq!(unsafe { cudaMemcpyToSymbol(symbol, address(&factor), 16, 0, HOST_TO_DEVICE) }, 0);
    assert_eq!(program.scale(y, x, 2.0, 1000, 8, 128), 0);
    // SAFETY: takes nothing.
    assert_eq!(unsafe { cudaDeviceSynchronize() }, 0);
    let expected: Vec<f32> = (0..1000).map(|i| 2.0 * i as f32 + factor[i % 4]).collect();
    assert_eq!(download(y, 1000), expected);

    let report = program.finish();
    assert_eq!((report.fault, report.errors.len()), (None, 0));
    let [launch] = &report.launches[..] else { panic!() };
    assert_eq!(
        (launch.kernel.as_str(), launch.grid, launch.block),
        ("scale", [8, 1, 1], [128, 1, 1])
    );
    assert_eq!(launch.counters.ctas, 8);
}

#[test]
fn parameters_are_laid_out_as_in_c() {
    #[repr(C)]
    struct Mixed(i8, [f64; 2], i16);
    let program = Program::load();
    let out = allocate(16);
    let (first, structure) = (3i8, Mixed(-5, [0.25, 1e100], 300));
    let arguments = [address(&first), address(&structure), address(&out)];
    assert_eq!(program.launch(mixed, ONE, Dim3(2, 1, 1), 0, &arguments), 0);
    let mut sums = [0.0f64; 2];
    // SAFETY: both ends have 16 bytes.
    let code = unsafe { cudaMemcpy((&raw mut sums).cast(), out.cast(), 16, DEFAULT) };
    assert_eq!((code, sums), (0, [298.25, 1e100]));
}

#[test]
fn variables_are_shared_with_the_host() {
    let program = Program::load();
    assert_eq!(program.launch(count, Dim3(2, 1, 1), Dim3(32, 1, 1), 0, &[]), 0);
    let (mut value, symbol) = (0i32, address(&*program.counter));
    // SAFETY: both ends are 4 bytes.
    let read = |value: &mut i32, bytes, offset| unsafe {
        cudaMemcpyFromSymbol((&raw mut *value).cast(), symbol, bytes, offset, DEVICE_TO_HOST)
    };
    assert_eq!((read(&mut value, 4, 0), value), (0, 5 + 64));
    assert_eq!(read(&mut value, 4, 1), 1, "beyond the variable");
    // SAFETY: registration has set the pointer.
    assert_eq!(unsafe { **program.managed }, 17 + 2);
    let unknown = address(&value);
    // SAFETY: refused before anything is copied.
    assert_eq!(unsafe { cudaMemcpyToSymbol(unknown, address(&value), 4, 0, HOST_TO_DEVICE) }, 13);
}

#[test]
fn launches_beyond_the_limits_are_refused() {
    let program = Program::load();
    let x = allocate(1024);
    let grid_of = |x, y| (Dim3(x, y, 1), Dim3(32, 1, 1));
    let arguments = [address(&x)];
    let reverse_with = |(grid, block): (Dim3, Dim3), shared| {
        program.launch(reverse, grid, block, shared, &arguments)
    };
    assert_eq!(reverse_with((ONE, Dim3(1024, 1, 1)), 4096), 0);
    assert_eq!(reverse_with((ONE, Dim3(1025, 1, 1)), 8192), 1, "threads");
    assert_eq!(reverse_with((ONE, Dim3(1, 1, 65)), 4096), 1, "depth of a block");
    assert_eq!(reverse_with(grid_of(0, 1), 128), 1, "no blocks");
    assert_eq!(reverse_with(grid_of(1, 65536), 128), 1, "height of a grid");
    assert_eq!(program.scale(x, x, 1.0, 0, 1, 257), 1, "beyond __launch_bounds__");
    assert_eq!(program.launch(absent, ONE, ONE, 0, &[]), 98, "not in the PTX");

    assert_eq!(reverse_with(grid_of(1, 1), 48 << 10), 0);
    assert_eq!(reverse_with(grid_of(1, 1), (48 << 10) + 4), 1, "without the attribute");
    // SAFETY: plain values.
    let raise = |bytes| unsafe { cudaFuncSetAttribute(reverse, 8, bytes) };
    assert_eq!(raise(100 << 10), 0);
    assert_eq!(reverse_with(grid_of(1, 1), 100 << 10), 0);
    // 163 KiB is what compute capability 8.0 has.
    assert_eq!((raise(163 << 10), raise((163 << 10) + 1)), (0, 1));

    let report = program.finish();
    assert_eq!(report.launches.len(), 3);
    assert_eq!(report.errors.len(), 8, "{:#?}", report.errors);
    assert!(report.errors[0].contains("cudaErrorInvalidValue (a block of"), "{}", report.errors[0]);
}

#[test]
fn extended_launches_take_attributes() {
    let _program = Program::load();
    let (x, n) = (allocate(4), 4i32);
    let factor = 1.0f32;
    let mut arguments = [address(&x), address(&x), address(&factor), address(&n)];
    let mut attribute = Attribute { id: 2, padding: 0, value: [0; 16] };
    attribute.value[0] = 1;
    let mut with_grid = |grid| {
        let (grid, block) = (Dim3(grid, 1, 1), Dim3(256, 1, 1));
        let attributes = &raw const attribute;
        let configuration =
            LaunchConfiguration { grid, block, shared: 0, stream: 0, attributes, count: 1 };
        // SAFETY: a whole configuration, and arguments that match the kernel.
        unsafe { cudaLaunchKernelExC(&configuration, scale, arguments.as_mut_ptr()) }
    };
    // 64 registers and 256 threads: 4 blocks on each of 108 multiprocessors.
    assert_eq!((with_grid(432), with_grid(433)), (0, 720));
    let mut blocks = 0;
    // SAFETY: `blocks` takes the number.
    let code = unsafe { cudaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, scale, 256, 0) };
    assert_eq!((code, blocks), (0, 4));
    // SAFETY: arguments that match the kernel.
    let code = unsafe {
        cudaLaunchCooperativeKernel(
            scale,
            Dim3(433, 1, 1),
            Dim3(256, 1, 1),
            arguments.as_mut_ptr(),
            0,
            0,
        )
    };
    assert_eq!(code, 720);
}

#[test]
fn copies_stay_inside_allocations() {
    let _program = Program::load();
    let x = allocate(8);
    assert_eq!(upload(x, &[1.0; 8]), 0);
    assert_eq!(upload(x, &[1.0; 9]), 1);
    assert_eq!(upload(x.wrapping_add(1), &[1.0; 8]), 1);
    let mut host = [0.0f32; 8];
    let end: *mut c_void = host.as_mut_ptr().cast();
    // SAFETY: what does not fit is refused before it is copied.
    unsafe {
        assert_eq!(cudaMemcpy(end, x.cast(), 32, HOST_TO_DEVICE), 1, "host memory is the target");
        assert_eq!(cudaMemcpy(end, x.cast(), 32, 7), 21);
        assert_eq!(cudaMemcpy(null_mut(), x.cast(), 4, DEVICE_TO_HOST), 1);
        assert_eq!(cudaMemcpy(end, x.cast(), 32, DEFAULT), 0);
        assert_eq!(cudaFree(x.wrapping_add(1)), 1);
        assert_eq!((cudaFree(x), cudaFree(x), cudaFree(null_mut())), (0, 1, 0));
        assert_eq!(cudaMemcpy(end, x.cast(), 32, DEVICE_TO_HOST), 1, "freed");
        let mut huge = null_mut();
        assert_eq!(cudaMalloc(&mut huge, 1 << 40), 2);
        assert_eq!((cudaGetLastError(), cudaGetLastError()), (2, 0));
    }
    assert_eq!(host, [1.0; 8]);
}

#[test]
fn rows_are_copied_by_their_pitches() {
    let _program = Program::load();
    let (mut device, mut pitch) = (null_mut(), 0);
    let mut host = [7u8; 5 * 10];
    // SAFETY: 5 rows of 10 bytes on the host; the device's end is checked.
    unsafe {
        assert_eq!(cudaMallocPitch(&mut device, &mut pitch, 8, 5), 0);
        assert!(pitch >= 8 && pitch.is_multiple_of(32));
        assert_eq!(cudaMemset2D(device, pitch, 0x1ff, 8, 5), 0);
        let copy = |width, height| {
            cudaMemcpy2D(host.as_mut_ptr(), 10, device, pitch, width, height, DEVICE_TO_HOST)
        };
        assert_eq!(cudaMemset2D(device, pitch, 0, 8, 6), 1, "a row too many");
        let mut copy = copy;
        assert_eq!((copy(11, 1), copy(8, 6), copy(8, 5)), (12, 1, 0));
    }
    for row in host.chunks(10) {
        assert_eq!(row, [255, 255, 255, 255, 255, 255, 255, 255, 7, 7]);
    }
}

#[test]
fn host_memory_is_reached_where_it_is_registered_or_managed() {
    let program = Program::load();
    // A page of its own: other threads must not write to it while it is exchanged.
    #[repr(align(4096))]
    struct Page([f32; 1024]);
    let mut own = Box::new(Page([1.0; 1024]));
    let (bytes, start) = (16, own.0[8..12].as_mut_ptr());
    let mut managed = null_mut();
    // SAFETY: `own` lives until it is unregistered.
    unsafe {
        assert_eq!(cudaHostRegister(start.cast(), bytes, 0), 0);
        assert_eq!(cudaHostRegister(start.cast(), bytes, 0), 712);
        assert_eq!(cudaMallocManaged(&mut managed, bytes, 1), 0);
    }
    assert_eq!(program.scale(managed, start, 3.0, 4, 1, 32), 0);
    assert_eq!(program.scale(start, managed, 2.0, 4, 1, 32), 0);
    assert_eq!(own.0[7..13], [1.0, 6.0, 6.0, 6.0, 6.0, 1.0], "what the device wrote");
    // SAFETY: managed memory of 4 floats.
    assert_eq!(unsafe { std::slice::from_raw_parts(managed, 4) }, [3.0; 4]);
    // SAFETY: it was registered.
    unsafe {
        assert_eq!((cudaHostUnregister(start.cast()), cudaHostUnregister(start.cast())), (0, 713));
    }
    assert_eq!(program.scale(managed, start, 3.0, 4, 1, 32), 0);
    // SAFETY: takes nothing.
    assert_eq!(unsafe { cudaDeviceSynchronize() }, 700, "no longer registered");
    assert!(program.finish().fault.is_some());
}

#[test]
fn a_fault_is_permanent_and_reported_once() {
    let program = Program::load();
    let x = allocate(4);
    assert_eq!(program.scale(x, x, 1.0, 5, 1, 32), 0, "the launch itself is well");
    // SAFETY: plain calls.
    unsafe {
        assert_eq!(cudaDeviceSynchronize(), 700);
        assert_eq!(
            (cudaGetLastError(), cudaGetLastError(), cudaPeekAtLastError()),
            (700, 700, 700)
        );
        assert_eq!(cudaFree(x), 700);
        let text = CStr::from_ptr(cudaGetErrorString(700)).to_str().unwrap();
        assert_eq!(text, "an illegal memory access was encountered");
    }
    let report = program.report();
    assert_eq!(report.fault.unwrap().kernel, "scale");
    assert_eq!((report.launches.len(), report.errors.len()), (0, 0));
    assert_eq!(program.finish(), Report::default());
}

#[test]
fn a_device_that_is_gone_is_an_error() {
    let mut program = Program::load();
    let x = allocate(4);
    program.device.kill();
    // SAFETY: plain calls.
    unsafe {
        assert_eq!(cudaMemsetAsync(x, 0, 16, 0), 46, "cudaErrorDevicesUnavailable");
        assert_eq!((cudaFree(x), cudaGetLastError()), (46, 46));
    }
}

#[test]
fn a_fork_has_no_device() {
    let _program = Program::load();
    let x = allocate(4);
    // SAFETY: the child makes one call and ends.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(cudaMemsetAsync(x, 0, 16, 0) as i32),
            child => {
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                assert_eq!(libc::WEXITSTATUS(status), 3, "cudaErrorInitializationError");
            }
        }
        assert_eq!(cudaMemsetAsync(x, 0, 16, 0), 0, "the parent's is well");
    }
}

#[test]
fn large_copies_pass_in_pieces() {
    let _program = Program::load();
    let len = (5 << 20) + 3;
    let x = allocate(len);
    let input: Vec<f32> = (0..len).map(|i| i as f32).collect();
    assert_eq!(upload(x, &input), 0);
    assert_eq!(download(x, len), input);
}

#[test]
fn events_measure_modelled_time() {
    let program = Program::load();
    let x = allocate(4);
    let (mut start, mut end, mut stream, mut elapsed) = (0, 0, 0, -1.0);
    // SAFETY: each pointer takes what it is for.
    unsafe {
        assert_eq!((cudaEventCreate(&mut start), cudaEventCreate(&mut end)), (0, 0));
        assert_eq!(cudaStreamCreate(&mut stream), 0);
        assert_eq!(cudaEventRecord(start, stream), 0);
        assert_eq!(cudaEventElapsedTime(&mut elapsed, start, end), 400, "not recorded");
        assert_eq!(program.scale(x, x, 1.0, 4, 500, 32), 0);
        assert_eq!(cudaEventRecord(end, stream), 0);
        assert_eq!(cudaEventElapsedTime(&mut elapsed, start, end), 0);
        assert_eq!(elapsed, 0.5, "a microsecond for each block");
        assert_eq!((cudaStreamDestroy(stream), cudaStreamSynchronize(stream)), (0, 400));
        assert_eq!(cudaEventRecord(end, stream), 400);
    }
}

#[test]
fn callbacks_may_call_the_runtime() {
    unsafe extern "C" fn function(data: *mut c_void) {
        // SAFETY: the data is the integer below.
        unsafe { *data.cast::<u32>() = cudaDeviceSynchronize() + 1 };
    }
    let _program = Program::load();
    let mut data = 0u32;
    // SAFETY: function and data fit.
    assert_eq!(unsafe { cudaLaunchHostFunc(0, Some(function), (&raw mut data).cast()) }, 0);
    assert_eq!(data, 1);
    // SAFETY: refused.
    assert_eq!(unsafe { cudaLaunchHostFunc(0, None, null_mut()) }, 1);
}

#[test]
fn captured_work_is_done_when_the_graph_is_launched() {
    unsafe extern "C" fn increment(data: *mut c_void) {
        // SAFETY: the data is the integer below, and the runtime can be called.
        unsafe { *data.cast::<u32>() += 1 + cudaDeviceSynchronize() };
    }
    let program = Program::load();
    let (x, y) = (allocate(4), allocate(4));
    let (factor, n) = (1.0f32, 4i32);
    assert_eq!((upload(x, &[1.0; 4]), upload(y, &[7.0; 4])), (0, 0));
    let mut calls = 0u32;
    let (mut stream, mut side, mut event, mut graph, mut executable) = (0, 0, 0, 0, 0);
    // SAFETY: each pointer takes what it is for, and arguments match the kernel.
    unsafe {
        assert_eq!((cudaStreamCreate(&mut stream), cudaStreamCreate(&mut side)), (0, 0));
        assert_eq!(cudaEventCreate(&mut event), 0);
        assert_eq!(cudaStreamBeginCapture(0, 0), 900, "the default stream");
        assert_eq!(cudaStreamBeginCapture(stream, 0), 0);
        assert_eq!(cudaStreamSynchronize(stream), 900);
        // y = 0, then x = x + y on another stream, which joins by the event.
        assert_eq!(cudaMemsetAsync(y, 0, 16, stream), 0);
        assert_eq!(cudaEventRecord(event, stream), 0);
        assert_eq!(cudaStreamWaitEvent(side, event, 0), 0);
        let mut status = 0;
        assert_eq!((cudaStreamIsCapturing(side, &mut status), status), (0, 1));
        let mut arguments = [address(&y), address(&x), address(&factor), address(&n)];
        let (block, arguments) = (Dim3(32, 1, 1), arguments.as_mut_ptr());
        assert_eq!(cudaLaunchKernel(scale, ONE, block, arguments, 0, side), 0);
        assert_eq!(cudaLaunchHostFunc(side, Some(increment), (&raw mut calls).cast()), 0);
        assert_eq!(cudaStreamEndCapture(side, &mut graph), 903, "began in the other stream");
        assert_eq!(cudaEventRecord(event, side), 0);
        assert_eq!(cudaStreamWaitEvent(stream, event, 0), 0);
        assert_eq!(cudaStreamEndCapture(stream, &mut graph), 0);
        assert_eq!((cudaStreamIsCapturing(side, &mut status), status), (0, 0));
        assert_eq!((download(y, 4), calls), (vec![7.0; 4], 0), "nothing is done yet");

        assert_eq!(cudaGraphInstantiate(&mut executable, graph, 0), 0);
        assert_eq!((cudaGraphDestroy(graph), cudaGraphDestroy(graph)), (0, 1));
        for round in 1..=3u16 {
            let input = f32::from(round);
            assert_eq!(upload(x, &[input; 4]), 0);
            assert_eq!(cudaGraphLaunch(executable, stream), 0);
            assert_eq!((download(y, 4), calls), (vec![input; 4], u32::from(round)));
        }
        assert_eq!(cudaGraphExecDestroy(executable), 0);
        assert_eq!(cudaGraphLaunch(executable, stream), 1);
    }
    assert_eq!(program.finish().launches.len(), 3);
}

#[test]
fn a_capture_must_get_its_side_streams_back() {
    let _program = Program::load();
    let y = allocate(4);
    let (mut stream, mut side, mut event, mut graph) = (0, 0, 0, 7);
    // SAFETY: each pointer takes what it is for.
    unsafe {
        assert_eq!((cudaStreamCreate(&mut stream), cudaStreamCreate(&mut side)), (0, 0));
        assert_eq!(cudaEventCreate(&mut event), 0);
        assert_eq!(cudaStreamBeginCapture(stream, 0), 0);
        assert_eq!(cudaEventRecord(event, stream), 0);
        assert_eq!(cudaStreamWaitEvent(side, event, 0), 0);
        assert_eq!(cudaMemsetAsync(y, 0, 16, side), 0);
        assert_eq!((cudaStreamEndCapture(stream, &mut graph), graph), (904, 0));
        let mut status = 1;
        assert_eq!((cudaStreamIsCapturing(side, &mut status), status), (0, 0));
    }
}

#[test]
fn what_is_missing_says_so() {
    let program = Program::load();
    // SAFETY: a stub takes what it is given.
    assert_eq!(unsafe { (cudaMallocArray(), cudaMallocArray()) }, (801, 801));
    assert_eq!(program.finish().unsupported, ["cudaMallocArray"]);
    assert_eq!(cudart::NAMES.len(), 422);
}

#[test]
fn without_a_session_calls_fail_and_nothing_breaks() {
    let program = Program::load();
    let module = program.module;
    drop(program);
    let _serial = SERIAL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut value = 0;
    // SAFETY: plain calls.
    unsafe {
        assert_eq!(cudaDeviceSynchronize(), 3);
        assert_eq!(cudaDeviceGetAttribute(&mut value, 10, 0), 3);
        __cudaUnregisterFatBinary(module);
        assert!(__cudaRegisterFatBinary(null()).is_null());
    }
}

#[test]
fn a_broken_module_is_explained_at_the_first_launch() {
    let program = Program::load();
    // SAFETY: null is refused.
    let module = unsafe { __cudaRegisterFatBinary(null()) };
    let (n, none) = (c"scale".as_ptr(), null_mut());
    // SAFETY: as nvcc's constructors do it.
    unsafe {
        __cudaRegisterFunction(module, scale, n, n, -1, none, none, none, none, null_mut());
    }
    let x = allocate(4);
    assert_eq!(program.scale(x, x, 1.0, 4, 1, 32), 209);
    let report = program.finish();
    assert_eq!(report.errors.len(), 2);
    assert!(report.errors[1].contains("fat binary"), "{}", report.errors[1]);
}

#[test]
fn ptx_that_does_not_parse_is_explained_with_its_place() {
    let program = Program::load();
    let text = b".version 9.0\n.target sm_80\n.address_size 64\n.shard .u32 x;\n\0\0\0\0";
    // Header and entry of a container that stores the text as it is: see `ptx::fatbin`.
    let mut container = vec![0u8; 16 + 64];
    container[..8].copy_from_slice(&[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]);
    container[8..16].copy_from_slice(&(64 + text.len() as u64).to_le_bytes());
    container[16] = 1;
    container[20] = 64;
    container[24..32].copy_from_slice(&(text.len() as u64).to_le_bytes());
    container.extend(text);
    let wrapper = [0x1_4662_43b1, container.as_ptr() as u64, 0u64];
    // SAFETY: a wrapper around a whole container.
    unsafe { __cudaRegisterFatBinary(wrapper.as_ptr().cast()) };
    let report = program.finish();
    assert!(report.errors[0].contains("line 4, column 1 of the PTX"), "{:?}", report.errors);
}

//! Devices and contexts. There is one device, and all contexts stand for the runtime's: which of them
//! a thread has made its own is kept, what belongs to which is not.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};

use crate::abi::{In, Out};
use crate::device::*;
use crate::entry_point::look_up;
use crate::error::Code;
use crate::properties::{UUID, cudaDeviceGetAttribute};
use crate::session;

/// A `CUcontext`.
type Context = usize;

/// The runtime's.
const PRIMARY: Context = 0xc0;

thread_local! {
    static CURRENT: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// The runtime's where a thread has not said: it makes that current with the first call.
fn current() -> Context {
    CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(PRIMARY))
}

fn push(context: Context) {
    CURRENT.with_borrow_mut(|stack| stack.push(context));
}

fn create(context: Out<Context>, device: i32) -> Code {
    session::call("cuCtxCreate", |session| {
        session.device(device)?;
        let new = session.handle();
        context.set(new)?;
        session.contexts.insert(new);
        push(new);
        Ok(())
    })
}

/// Does something with a context, if there is such a one.
fn with(context: Context, name: &str, act: impl FnOnce()) -> Code {
    session::call(name, |session| {
        if context != PRIMARY && !session.contexts.contains(&context) {
            return Err(Code::INVALID_CONTEXT.because("it is no context, or destroyed"));
        }
        act();
        Ok(())
    })
}

fn pop() {
    CURRENT.with_borrow_mut(Vec::pop);
}

fn set<T>(place: Out<T>, value: T) -> Code {
    session::call("driver", |_session| place.set(value))
}

driver! {
    fn cuInit(flags: u32) {
        if flags == 0 { Code::SUCCESS } else { Code::INVALID_VALUE }
    }

    fn cuDriverGetVersion(version: Out<i32>) { cudaDriverGetVersion(version) }

    fn cuGetProcAddress_v2(
        name: In<c_char>, function: Out<*const c_void>, _version: i32, _flags: u64, status: Out<u32>,
    ) {
        session::call("cuGetProcAddress", |_session| look_up(name, function, status))
    }

    fn cuDeviceGet(device: Out<i32>, ordinal: i32) {
        session::call("cuDeviceGet", |session| {
            session.device(ordinal)?;
            device.set(ordinal)
        })
    }

    fn cuDeviceGetCount(count: Out<i32>) { cudaGetDeviceCount(count) }

    fn cuDeviceGetName(name: Out<u8>, room: i32, device: i32) {
        session::call("cuDeviceGetName", |session| {
            session.device(device)?;
            if name.is_null() || room < 1 {
                return Err(Code::INVALID_VALUE.because("there is no room for a name"));
            }
            name.set_text(session.connection.model.device.name.as_bytes(), room as usize);
            Ok(())
        })
    }

    fn cuDeviceGetAttribute(value: Out<i32>, id: u32, device: i32) {
        cudaDeviceGetAttribute(value, id, device)
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) {
        session::call("cuDeviceTotalMem", |session| {
            session.device(device)?;
            bytes.set(session.connection.model.memory as usize)
        })
    }

    fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) {
        session::call("cuDeviceComputeCapability", |session| {
            session.device(device)?;
            let capability = session.connection.model.capability;
            major.set(capability.0 as i32)?;
            minor.set(capability.1 as i32)
        })
    }

    fn cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, device: i32) {
        session::call("cuDeviceGetUuid", |session| {
            session.device(device)?;
            uuid.set(UUID)
        })
    }

    fn cuDeviceCanAccessPeer(possible: Out<i32>, device: i32, peer: i32) {
        cudaDeviceCanAccessPeer(possible, device, peer)
    }

    fn cuDevicePrimaryCtxRetain(context: Out<Context>, device: i32) {
        session::call("cuDevicePrimaryCtxRetain", |session| {
            session.device(device)?;
            context.set(PRIMARY)
        })
    }

    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        session::call("cuDevicePrimaryCtxRelease", |session| session.device(device))
    }

    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        match cudaSetDevice(device) {
            Code::SUCCESS => cudaDeviceReset(),
            code => code,
        }
    }

    fn cuDevicePrimaryCtxSetFlags_v2(_device: i32, flags: u32) { cudaSetDeviceFlags(flags) }

    fn cuDevicePrimaryCtxGetState(_device: i32, flags: Out<u32>, active: Out<i32>) {
        match cudaGetDeviceFlags(flags) {
            Code::SUCCESS => set(active, 1),
            code => code,
        }
    }

    fn cuCtxCreate_v2(context: Out<Context>, _flags: u32, device: i32) { create(context, device) }

    fn cuCtxCreate_v4(context: Out<Context>, _parameters: usize, _flags: u32, device: i32) {
        create(context, device)
    }

    fn cuCtxDestroy_v2(context: Context) {
        session::call("cuCtxDestroy", |session| {
            if !session.contexts.remove(&context) {
                return Err(Code::INVALID_CONTEXT.because("it is no context of the program's own"));
            }
            CURRENT.with_borrow_mut(|stack| stack.retain(|&each| each != context));
            Ok(())
        })
    }

    fn cuCtxGetCurrent(context: Out<Context>) { set(context, current()) }

    fn cuCtxSetCurrent(context: Context) {
        if context == 0 {
            pop();
            return Code::SUCCESS;
        }
        with(context, "cuCtxSetCurrent", || {
            pop();
            push(context);
        })
    }

    fn cuCtxPushCurrent_v2(context: Context) {
        with(context, "cuCtxPushCurrent", || push(context))
    }

    fn cuCtxPopCurrent_v2(context: Out<Context>) {
        context.set_if_wanted(current());
        pop();
        Code::SUCCESS
    }

    fn cuCtxGetDevice(device: Out<i32>) { cudaGetDevice(device) }

    fn cuCtxGetFlags(flags: Out<u32>) { cudaGetDeviceFlags(flags) }

    fn cuCtxGetApiVersion(_context: Context, version: Out<i32>) { cudaDriverGetVersion(version) }

    fn cuCtxSynchronize() { cudaDeviceSynchronize() }

    fn cuCtxGetLimit(value: Out<usize>, id: u32) { cudaDeviceGetLimit(value, id) }

    fn cuCtxSetLimit(id: u32, value: usize) { cudaDeviceSetLimit(id, value) }

    fn cuCtxSetCacheConfig(preference: u32) { cudaDeviceSetCacheConfig(preference) }

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        cudaDeviceGetStreamPriorityRange(least, greatest)
    }

    fn cuProfilerStart() { cudaProfilerStart() }

    fn cuProfilerStop() { cudaProfilerStop() }
}

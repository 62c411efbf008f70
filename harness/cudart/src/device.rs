//! The one device: choosing it, its limits and flags, waiting for it.

use std::ffi::c_char;

use super::abi::{In, Out};
use super::allocation::Owner;
use super::error::{Code, Failure, Outcome};
use super::session::Session;
use super::stream::{self, PRIORITIES};

/// `cudaLimitMallocHeapSize`
const LIMIT_HEAP: u32 = 2;

/// `cudaLimitStackSize`: bytes of a thread, 1 KiB unless set.
const LIMIT_STACK: u32 = 0;

/// What a GPU has of local memory for a thread; an H200 refuses as much for the stack alone.
const LOCAL_MEMORY: usize = 512 << 10;

/// Frames here hold arguments and results that a GPU passes in registers: what fits in a stack there fits in
/// twice as much here. A program that asks for less than the emulator gives anyhow gets that.
const STACK_FACTOR: u32 = 2;

/// CUDA 13.0, which the solutions are compiled with.
const VERSION: i32 = 13000;
const PCI_BUS_ID: &[u8] = b"0000:01:00.0\0";

impl Session {
    /// Checks an ordinal.
    pub fn device(&self, device: i32) -> Outcome {
        if device == 0 {
            return Ok(());
        }
        Err(Code::INVALID_DEVICE.because(format!("device {device} of 1")))
    }

    fn limit(&mut self, id: u32) -> Result<&mut usize, Failure> {
        self.limits
            .get_mut(id as usize)
            .ok_or_else(|| Code::UNSUPPORTED_LIMIT.because(format!("no limit {id}")))
    }
}

runtime! {
    fn cudaGetDeviceCount(count: Out<i32>) |_session| {
        count.set(1)
    }

    fn cudaGetDevice(device: Out<i32>) |_session| {
        device.set(0)
    }

    fn cudaSetDevice(device: i32) |session| {
        session.device(device)
    }

    fn cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) |session| {
        session.device(device)
    }

    fn cudaChooseDevice(device: Out<i32>, _properties: In<u8>) |_session| {
        device.set(0)
    }

    fn cudaSetValidDevices(_devices: In<i32>, _count: i32) |_session| {
        Ok(())
    }

    fn cudaSetDeviceFlags(flags: u32) |session| {
        session.device_flags = flags;
        Ok(())
    }

    fn cudaGetDeviceFlags(flags: Out<u32>) |session| {
        flags.set(session.device_flags)
    }

    /// All work is done when its call returns.
    fn cudaDeviceSynchronize() |_session| {
        Ok(())
    }

    /// Frees everything the program allocated; what its constructors registered stays.
    fn cudaDeviceReset() |session| {
        let all: Vec<_> = session.allocations.iter().map(|(at, each)| (*at, each.owner)).collect();
        for (address, owner) in all {
            match owner {
                Owner::Runtime | Owner::Graph => session.free(address)?,
                Owner::Program => session.host_unregister(address)?,
                Owner::Module => {}
            }
        }
        session.streams = stream::at_first();
        session.events.clear();
        session.pools.clear();
        Ok(())
    }

    fn cudaDeviceGetLimit(value: Out<usize>, id: u32) |session| {
        value.set(*session.limit(id)?)
    }

    fn cudaDeviceSetLimit(id: u32, value: usize) |session| {
        let mut value = value;
        if id == LIMIT_HEAP && !session.connection.resize_heap(value as u64)? {
            return Err(Code::INVALID_VALUE.because("a kernel has used the heap already"));
        }
        if id == LIMIT_STACK {
            if value >= LOCAL_MEMORY {
                return Err(Code::INVALID_VALUE.because(format!("{value} bytes of stack")));
            }
            value = value.next_multiple_of(16);
            session.connection.provide_stack(STACK_FACTOR * value as u32)?;
        }
        *session.limit(id)? = value;
        Ok(())
    }

    fn cudaDeviceGetCacheConfig(preference: Out<u32>) |_session| {
        preference.set(0)
    }

    fn cudaDeviceSetCacheConfig(_preference: u32) |_session| {
        Ok(())
    }

    fn cudaDeviceGetSharedMemConfig(preference: Out<u32>) |_session| {
        preference.set(1)
    }

    fn cudaDeviceSetSharedMemConfig(_preference: u32) |_session| {
        Ok(())
    }

    fn cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) |_session| {
        least.set_if_wanted(PRIORITIES.0);
        greatest.set_if_wanted(PRIORITIES.1);
        Ok(())
    }

    fn cudaDeviceGetPCIBusId(text: Out<[u8; PCI_BUS_ID.len()]>, len: i32, device: i32) |session| {
        session.device(device)?;
        let bytes = PCI_BUS_ID.first_chunk().filter(|_| len as usize >= PCI_BUS_ID.len());
        text.set(*bytes.ok_or_else(|| Code::INVALID_VALUE.because("the buffer is too short"))?)
    }

    fn cudaDeviceGetByPCIBusId(device: Out<i32>, text: In<c_char>) |_session| {
        if !PCI_BUS_ID.starts_with(text.text()?.as_bytes()) {
            return Err(Code::INVALID_DEVICE.because("no device on that bus"));
        }
        device.set(0)
    }

    fn cudaDeviceCanAccessPeer(possible: Out<i32>, device: i32, peer: i32) |session| {
        session.device(device)?;
        session.device(peer)?;
        possible.set(0)
    }

    fn cudaDeviceEnablePeerAccess(peer: i32, _flags: u32) |_session| {
        Err(Code::INVALID_DEVICE.because(format!("device {peer} is no peer")))
    }

    fn cudaDeviceDisablePeerAccess(peer: i32) |_session| {
        Err(Code::PEER_ACCESS_NOT_ENABLED.because(format!("device {peer} is no peer")))
    }

    /// Attributes of a pair, and there is one device.
    fn cudaDeviceGetP2PAttribute(
        _value: Out<i32>, _id: u32, device: i32, peer: i32,
    ) |_session| {
        Err(Code::INVALID_DEVICE.because(format!("devices {device} and {peer} are no pair")))
    }

    fn cudaDeviceFlushGPUDirectRDMAWrites(_target: u32, _scope: u32) |_session| {
        Ok(())
    }

    fn cudaCtxResetPersistingL2Cache() |_session| {
        Ok(())
    }

    fn cudaDriverGetVersion(version: Out<i32>) |_session| {
        version.set(VERSION)
    }

    fn cudaRuntimeGetVersion(version: Out<i32>) |_session| {
        version.set(VERSION)
    }

    fn cudaProfilerStart() |_session| {
        Ok(())
    }

    fn cudaProfilerStop() |_session| {
        Ok(())
    }
}

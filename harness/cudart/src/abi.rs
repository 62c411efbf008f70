//! The C types of the runtime's interface, as `driver_types.h` of CUDA 13.0 lays them out.

use std::ffi::{CStr, c_char, c_void};

use super::error::{Code, Failure, Outcome};

/// A pointer through which the program wants a `T` back.
///
/// The interface's contract is that such a pointer is null or valid, and only C code makes values
/// of this type; that is what the methods rely on.
#[repr(transparent)]
pub(super) struct Out<T>(*mut T);

/// A pointer to a `T` of the program, with the same contract.
#[repr(transparent)]
pub(super) struct In<T>(*const T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Out<T> {
    /// A place that is not wanted.
    pub const fn none() -> Self {
        Self(std::ptr::null_mut())
    }

    /// The place that the program gave as a number.
    pub fn to_address(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address))
    }

    pub fn set(self, value: T) -> Outcome {
        if self.0.is_null() {
            return Err(null_pointer());
        }
        // SAFETY: not null, hence valid for a write by the interface's contract.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes unless the program is not interested.
    pub fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as above.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Element `index` of the array that the program promises to have room for.
    pub fn at(self, index: usize) -> Self {
        if self.0.is_null() { self } else { Self(self.0.wrapping_add(index)) }
    }

    /// What the program has put there: some calls take a value and give another back.
    pub fn read(self) -> Result<T, Failure>
    where
        T: Copy,
    {
        In(self.0.cast_const()).get()
    }

    /// The same place, where the interface means another type by it.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }
}

impl Out<u8> {
    /// As much of a text as there is room for, and a NUL; how many bytes that is.
    pub fn set_text(self, text: &[u8], room: usize) -> usize {
        let shown = text.iter().filter(|&&byte| byte != 0).take(room.saturating_sub(1));
        let bytes = shown.chain(&[0]).take(room).enumerate();
        bytes.map(|(index, &byte)| self.at(index).set_if_wanted(byte)).count()
    }
}

impl<T: Copy> In<T> {
    pub fn get(self) -> Result<T, Failure> {
        if self.0.is_null() {
            return Err(null_pointer());
        }
        // SAFETY: not null, hence valid for a read by the interface's contract.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Element `index` of the array that the program promises to be that long.
    pub fn at(self, index: usize) -> Result<T, Failure> {
        if self.0.is_null() { self.get() } else { Self(self.0.wrapping_add(index)).get() }
    }
}

impl<T> In<T> {
    pub const fn none() -> Self {
        Self(std::ptr::null())
    }

    /// The place that the program gave as a number.
    pub fn to_address(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance(address))
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The member of a structure that begins `offset` bytes behind the structure's.
    pub fn member<U>(self, offset: usize) -> In<U> {
        if self.0.is_null() {
            In(std::ptr::null())
        } else {
            In(self.0.cast::<u8>().wrapping_add(offset).cast())
        }
    }
}

impl In<*const c_void> {
    /// Pointers that the program may read, for as long as `addresses` stay where they are.
    pub fn to_array(addresses: &[usize]) -> Self {
        Self(addresses.as_ptr().cast())
    }
}

impl In<c_char> {
    pub fn text(self) -> Result<String, Failure> {
        if self.0.is_null() {
            return Err(null_pointer());
        }
        // SAFETY: not null, hence a string that ends in NUL by the interface's contract.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

fn null_pointer() -> Failure {
    Code::INVALID_VALUE.because("a pointer is null")
}

/// Handles are opaque to the program; here they are numbers.
pub(super) type StreamHandle = usize;
pub(super) type EventHandle = usize;
pub(super) type PoolHandle = usize;
pub(super) type GraphHandle = usize;
pub(super) type GraphExecHandle = usize;
pub(super) type NodeHandle = usize;
/// Address of a kernel's host stub, which serves as its `cudaKernel_t` and `cudaFunction_t` too.
pub(super) type FunctionHandle = usize;
pub(super) use super::protocol::Address;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    pub fn array(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PitchedPointer {
    pub pointer: Address,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// Width in bytes, since arrays (where it counts elements) do not exist here.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Offset3 {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaMemcpy3DParms`; arrays are handles.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Copy3D {
    pub source_array: usize,
    pub source_offset: Offset3,
    pub source: PitchedPointer,
    pub destination_array: usize,
    pub destination_offset: Offset3,
    pub destination: PitchedPointer,
    pub extent: Extent,
    pub kind: u32,
}

impl Copy3D {
    /// `height` rows of `width` bytes, each end with its pitch.
    pub fn rows(
        (destination, destination_pitch): (Address, usize),
        (source, source_pitch): (Address, usize),
        (width, height): (usize, usize),
        kind: u32,
    ) -> Self {
        let none = Offset3 { x: 0, y: 0, z: 0 };
        let end = |pointer, pitch| PitchedPointer { pointer, pitch, width, height };
        Self {
            source_array: 0,
            source_offset: none,
            source: end(source, source_pitch),
            destination_array: 0,
            destination_offset: none,
            destination: end(destination, destination_pitch),
            extent: Extent { width, height, depth: 1 },
            kind,
        }
    }

    /// A stretch of bytes.
    pub fn flat(destination: Address, source: Address, bytes: usize, kind: u32) -> Self {
        Self::rows((destination, bytes), (source, bytes), (bytes, 1), kind)
    }
}

/// `cudaMemLocation`; types: 1 device, 2 host.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Location {
    pub kind: u32,
    pub id: i32,
}

/// `cudaLaunchConfig_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct LaunchConfiguration {
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: usize,
    pub stream: StreamHandle,
    pub attributes: In<LaunchAttribute>,
    pub attribute_count: u32,
}

/// `cudaLaunchAttribute`: the value is a union of 64 bytes, read here as words.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct LaunchAttribute {
    pub id: u32,
    pub padding: u32,
    pub value: [u32; 16],
}

impl LaunchAttribute {
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER_DIMENSION: u32 = 4;
}

/// `cudaPointerAttributes`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PointerAttributes {
    pub kind: u32,
    pub device: i32,
    pub device_pointer: Address,
    pub host_pointer: Address,
    pub reserved: [i64; 8],
}

/// `cudaFuncAttributes`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct FunctionAttributes {
    pub shared_bytes: usize,
    pub constant_bytes: usize,
    pub local_bytes: usize,
    pub max_threads_per_block: i32,
    pub registers: i32,
    pub ptx_version: i32,
    pub binary_version: i32,
    pub cache_mode: i32,
    pub max_dynamic_shared_bytes: i32,
    pub preferred_carveout: i32,
    pub cluster_must_be_set: i32,
    pub required_cluster: [i32; 3],
    pub cluster_scheduling: i32,
    pub non_portable_cluster_allowed: i32,
    pub reserved: [i32; 16],
}

const _: () = {
    assert!(size_of::<Dim3>() == 12);
    assert!(size_of::<Copy3D>() == 160 && std::mem::offset_of!(Copy3D, destination) == 96);
    assert!(size_of::<LaunchConfiguration>() == 56);
    assert!(size_of::<LaunchAttribute>() == 72);
    assert!(size_of::<PointerAttributes>() == 88);
    assert!(size_of::<FunctionAttributes>() == 144);
    assert!(std::mem::offset_of!(FunctionAttributes, cluster_must_be_set) == 52);
    assert!(std::mem::offset_of!(FunctionAttributes, reserved) == 76);
};

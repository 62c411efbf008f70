//! What a CUDA array's elements are. Arrays, and so textures and surfaces, do not exist here.

/// `cudaChannelFormatDesc`
#[repr(C)]
pub(super) struct Channels {
    bits: [i32; 4],
    kind: u32,
}

/// No call that could fail: it gives what it is given.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaCreateChannelDesc(
    x: i32,
    y: i32,
    z: i32,
    w: i32,
    kind: u32,
) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}

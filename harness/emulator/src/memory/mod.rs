//! The memories of a GPU, with exact bounds.
//!
//! A global address is the host address of the byte it names, unless device memory is kept apart from
//! the host ([`DeviceWindow`]). Every other space that a generic pointer can reach
//! lives in a *window* of addresses that no host pointer can have (the non-canonical middle of the
//! 64-bit range), so that one comparison tells the spaces apart:
//!
//! ```text
//! 0x0000_….  global, constant, kernel parameters: host addresses
//! 0x1000_….  shared memory of this CTA: window base + offset
//! 0x2000_….  local memory of this thread: window base + offset
//! ```

mod arena;
mod device_window;
mod global;
mod heap;
mod known;
mod map_field;
mod tensor_map;

pub use arena::{Arena, OutOfMemory};
pub use device_window::DeviceWindow;
pub use global::{AllocationInfo, AllocationKind, GlobalMemory, Range, Snapshot};
pub use heap::{HEAP_BYTES, Heap};
pub use known::words_of_bits;
pub use map_field::MapField;
pub use tensor_map::{BYTES as MAP_BYTES, Im2col, Interleave, Swizzle, TensorMap};

/// Generic addresses from here on are not host addresses.
pub const WINDOWS: u64 = 0x1000_0000_0000_0000;
pub const SHARED_WINDOW: u64 = 0x1000_0000_0000_0000;
pub const LOCAL_WINDOW: u64 = 0x2000_0000_0000_0000;

/// Bytes of a sector, the unit in which L2 and DRAM move data.
pub const SECTOR: u64 = 32;

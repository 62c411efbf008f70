//! The CUDA runtime, as far as a solution can tell.
//!
//! nvcc compiles a solution with `-cudart none`: its shared library then has the runtime's functions
//! as undefined symbols, and an executable that contains this module and is linked with `exports.list`
//! resolves them when it loads the library. So the very same host code that runs on a GPU runs here.
//! `dlopen` runs the constructors nvcc generated, which register the embedded PTX, the kernels and
//! the variables; a launch finds the kernel by the address of its host stub.
//!
//! ```text
//! dlopen         __cudaRegisterFatBinary, …Function, …Var, …End       registration
//! k<<<g, b>>>()  __cudaPushCallConfiguration, __cudaGetKernel,
//!                __cudaPopCallConfiguration, __cudaLaunchKernel       launch
//! ```
//!
//! The GPU is another process ([`server`]), whose memory the solution does not have. What is in the
//! solution's process is a client ([`session`], [`connection`]): it keeps handles and passes on what they
//! stand for ([`protocol`]). A kernel's fault is not reported by the launch but by the calls after it, as on
//! a GPU.
//!
//! ```text
//! client    cudaMalloc, … ─► session ─► connection ═╗        in the solution's process: not trusted
//! protocol                                          ║ requests, a segment of shared memory
//! server    Device ─► emulator::Machine  ◄══════════╝        in its own; the judge asks it what happened
//! ```
//!
//! Every function has three beats: check the arguments, act, return the code. Names that the real
//! library exports and nothing here implements are stubs that return `cudaErrorNotSupported` and
//! are listed in the report; without them `dlopen` would fail for one unused function.

/// Defines exported functions: `fn name(arguments) + name_ptsz |session| { … Ok(()) }`. The second
/// name, where there is one, is what `-default-stream per-thread` calls instead.
macro_rules! runtime {
    ($($(#[$meta:meta])* fn $name:ident $args:tt $(+ $alias:ident)? |$session:ident| $body:block)*) => {
        $(
            runtime!(@one $(#[$meta])* $name $args |$session| $body);
            $(runtime!(@one $alias $args |$session| $body);)?
        )*
    };
    (@one $(#[$meta:meta])* $name:ident ($($arg:ident: $ty:ty),* $(,)?) |$session:ident| $body:block) => {
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($arg: $ty),*) -> $crate::error::Code {
            $crate::session::call(
                stringify!($name),
                |$session: &mut $crate::session::Session| -> $crate::error::Outcome {
                    $body
                },
            )
        }
    };
}

mod abi;
mod allocation;
mod channel;
pub mod connection;
mod copy;
mod device;
mod device_model;
mod driver;
mod entry_point;
mod error;
mod event;
mod exports;
mod fill;
mod function;
mod graph;
mod launch;
mod library;
mod mirror;
mod occupancy;
mod pool;
mod properties;
pub mod protocol;
mod registration;
pub mod server;
pub mod session;
mod stream;
mod symbol;
mod tensor_map;
mod transfers;

pub use device_model::DeviceModel;
pub use driver::driver_names;
pub use emulator::{Im2col, Interleave, Swizzle, TensorMap};
pub use exports::NAMES;
pub use transfers::Transfers;

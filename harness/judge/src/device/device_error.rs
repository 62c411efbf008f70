//! Why a device or its runtime gave no result.

use serde::{Deserialize, Serialize};

/// What a device or its runtime refused, or broke over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceError {
    pub kind: DeviceErrorKind,
    /// In the driver's words.
    pub text: String,
}

/// What a GPU reports of a kernel that went wrong: the kind, and never where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceErrorKind {
    IllegalAddress,
    MisalignedAddress,
    IllegalInstruction,
    Assert,
    LaunchFailed,
    Timeout,
    OutOfMemory,
    /// Host code followed a device pointer.
    HostTouch,
    Other,
}

impl DeviceError {
    pub fn other(text: impl Into<String>) -> Self {
        Self { kind: DeviceErrorKind::Other, text: text.into() }
    }
}

impl DeviceErrorKind {
    /// A stable identifier.
    pub fn reason(self) -> &'static str {
        match self {
            Self::IllegalAddress => "illegal_address",
            Self::MisalignedAddress => "misaligned_address",
            Self::IllegalInstruction => "illegal_instruction",
            Self::Assert => "assert",
            Self::LaunchFailed => "launch_failed",
            Self::Timeout => "launch_timeout",
            Self::OutOfMemory => "out_of_gpu_memory",
            Self::HostTouch => "host_touched_device_memory",
            Self::Other => "device_failed",
        }
    }

    /// What it means, where the driver's words do not say it.
    pub fn meaning(self) -> Option<&'static str> {
        match self {
            Self::IllegalAddress => Some("a kernel read or wrote where no memory is"),
            Self::MisalignedAddress => {
                Some("a kernel accessed an address that is no multiple of the access's size")
            }
            Self::IllegalInstruction => {
                Some("a kernel ran into something that is no instruction (a wild jump, `trap`?)")
            }
            Self::Assert => Some("an assert of a kernel failed (what it printed says which)"),
            Self::LaunchFailed => Some("a kernel ended with an exception (`__trap()`?)"),
            Self::Timeout => Some("a kernel ran too long for a GPU that drives a screen"),
            Self::OutOfMemory => Some("the GPU has too little memory left"),
            Self::HostTouch => Some("host code crashed with a segmentation fault (SIGSEGV)"),
            Self::Other => None,
        }
    }

    /// Whether running the same file on the emulator tells where it happened.
    pub fn emulator_knows(self) -> bool {
        !matches!(self, Self::Timeout | Self::OutOfMemory | Self::HostTouch | Self::Other)
    }
}

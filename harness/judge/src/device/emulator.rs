//! nibble's own GPU, seen from the solution's process: its CUDA calls reach a device in another.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use cudart::connection::Connection;
use cudart::protocol::segment::{Segment, Side};
use cudart::session::{self, Complaints};

use super::entry::offsets;
use super::{Argument, Buffer, Call, Device, DeviceError, Entry, Lent};
use timing::Transfers;

pub struct Emulator {
    entry: Entry,
}

impl Emulator {
    /// Starts a session and opens the library in it: its constructors register its kernels.
    pub fn open(library: &Path, segment: OwnedFd) -> Result<Box<dyn Device>, String> {
        connect(segment, None)?;
        Ok(Box::new(Self { entry: Entry::open(library)? }))
    }
}

/// Starts a session: from here on CUDA runtime calls of this process reach the device that has the segment,
/// and that has the other end of `lifeline` while it lives.
pub fn connect(segment: OwnedFd, lifeline: Option<OwnedFd>) -> Result<(), String> {
    let segment = Segment::map(segment, Side::Client);
    let connection = segment.and_then(|segment| Connection::open(segment, lifeline));
    session::start(connection.map_err(|error| format!("no emulated device: {error}"))?);
    Ok(())
}

impl Device for Emulator {
    /// What happened on the device, the device says, and to the judge.
    fn call(
        &mut self,
        memory: Lent<'_>,
        buffers: &[Buffer],
        arguments: &[Argument],
        _: Duration,
    ) -> Call {
        let Lent::Device(base) = memory else {
            return Call::Failed(DeviceError::other("its buffers are not on the device"));
        };
        session::complaints();
        self.entry.call(&offsets(base, buffers), arguments);
        let Complaints { unsupported, errors, .. } = session::complaints();
        Call::Returned {
            sample: None,
            launches: Vec::new(),
            transfers: Transfers::default(),
            profiles: Vec::new(),
            unsupported,
            errors,
        }
    }
}

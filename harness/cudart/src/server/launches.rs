//! Launches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use emulator::{Fault, FaultKind, LaunchConfig};

use super::{Device, LaunchRecord};
use crate::error::{Code, Failure};
use crate::protocol::launch::{Allowance, Extents, Launch};
use crate::protocol::segment::{HALF, Segment};
use crate::protocol::{Launched, Piece};

impl Device {
    /// A fault shows in the calls that follow, not in this one: on a GPU the launch has returned
    /// before the kernel begins.
    pub(super) fn launch(
        &mut self,
        launch: &Launch,
        segment: &Segment,
    ) -> Result<Launched, Failure> {
        let configuration = self.checked(launch)?;
        let start = Instant::now();
        let machine = AssertUnwindSafe(&self.machine);
        let profiles = self.options.profile;
        let parameters = &launch.parameters;
        let result = catch_unwind(|| match profiles {
            true => {
                machine.profile(&configuration, parameters).map(|(all, each)| (all, Some(each)))
            }
            false => machine.launch(&configuration, parameters).map(|counters| (counters, None)),
        });
        let host_ns = start.elapsed().as_nanos() as u64;
        self.printed.extend(self.machine.take_output());
        let broken = match result {
            Ok(Ok((counters, profile))) => {
                profile.into_iter().for_each(|profile| self.report.add(profile));
                let record = LaunchRecord {
                    kernel: configuration.kernel.name.clone(),
                    grid: configuration.grid,
                    block: configuration.block,
                    dynamic_shared: configuration.dynamic_shared,
                    counters,
                    host_ns,
                };
                let model = self.options.time.as_ref();
                self.clock += model.map_or(host_ns as f64, |model| model(&record));
                self.report.launches.push(record);
                self.report.transfers.bus_bytes += self.machine.memory().touched_host_bytes();
                None
            }
            Ok(Err(fault)) => {
                let code = code_of(&fault);
                self.report.fault.get_or_insert(*fault);
                Some(code.because(String::new()))
            }
            Err(_) => Some(Code::LAUNCH_FAILURE.because("the emulator itself failed")),
        };
        self.broken = broken.as_ref().map(|failure| failure.code);
        Ok(Launched { clock: self.clock, printed: self.output(segment), broken })
    }

    fn checked(&self, launch: &Launch) -> Result<LaunchConfig, Failure> {
        let Launch { kernel, grid, block, dynamic_shared, cluster, cooperative, ref parameters } =
            *launch;
        let (kernel, info) = self.kernel_of(kernel)?;
        if parameters.len() != info.param_bytes as usize {
            return Err(Code::INVALID_VALUE.because("they are not the kernel's parameters"));
        }
        let shared = dynamic_shared as usize;
        let extents = Extents { grid, block, dynamic_shared: shared, cluster, cooperative };
        extents.check()?;
        let most = Allowance::most(self.limits(), self.machine.config().sms, &info);
        let cluster = extents.check_for(&info, most)?;
        Ok(LaunchConfig { kernel, grid, block, dynamic_shared, cluster, cooperative })
    }

    /// Puts as much of what kernels have printed as there is room for into the staging area.
    pub(super) fn output(&mut self, segment: &Segment) -> usize {
        let (to, room) = segment.staging(Piece { start: 0, bytes: HALF });
        let bytes = room.min(self.printed.len());
        // SAFETY: the staging area has the room.
        unsafe { to.copy_from_nonoverlapping(self.printed.as_ptr(), bytes) };
        self.printed.drain(..bytes);
        bytes
    }
}

/// What the runtime would call a fault.
fn code_of(fault: &Fault) -> Code {
    match fault.kind {
        FaultKind::OutOfBounds { .. } | FaultKind::ReadOnly { .. } => Code::ILLEGAL_ADDRESS,
        FaultKind::Misaligned { .. } => Code::MISALIGNED_ADDRESS,
        FaultKind::Illegal { .. } => Code::ILLEGAL_INSTRUCTION,
        FaultKind::Trap { message: Some(_) } => Code::ASSERT,
        FaultKind::Budget { .. } | FaultKind::Deadlock { .. } => Code::LAUNCH_TIMEOUT,
        _ => Code::LAUNCH_FAILURE,
    }
}

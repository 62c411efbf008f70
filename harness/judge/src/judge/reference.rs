//! References that are kernels, each with a judge of its own.
//!
//! A reference runs where a solution does, in a worker on the emulator, but never in the
//! solution's: it is another process, started by the judge, that the solution cannot reach.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use problems::{Direction, Expected, ReferenceCall, ReferenceKernels};

use super::Judge;
use super::bytes::Bytes;
use super::content::Content;

/// A compiled reference.
#[derive(Debug)]
pub struct EmulatedReference {
    /// Of the problem whose signature the reference has.
    judge: Mutex<Judge>,
    /// How long one call may take.
    limit: Duration,
}

impl EmulatedReference {
    pub fn new(judge: Judge, limit: Duration) -> Self {
        Self { judge: Mutex::new(judge), limit }
    }
}

impl ReferenceKernels for EmulatedReference {
    fn run(&self, call: &ReferenceCall<'_>) -> Result<Vec<Vec<u8>>, String> {
        let inputs = call.inputs.iter().map(|bytes| {
            let mut own = Bytes::zeroed(bytes.len());
            own.as_mut_slice().copy_from_slice(bytes);
            own
        });
        let content = Content {
            inputs: inputs.collect(),
            scalars: call.scalars.clone(),
            expected: Expected::of(Vec::new()),
        };
        let mut judge = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
        let written = judge
            .outputs(call.case, &content, self.limit)
            .map_err(|error| error.to_string())?
            .map_err(|why| format!("{}: {why}", call.kernel.file))?;
        let buffers = judge.buffers(call.case).map_err(|error| error.to_string())?;
        let mut rest = written.as_slice();
        let outs = buffers.iter().filter(|buffer| buffer.direction == Direction::Out);
        let outputs = outs.map(|buffer| {
            let (output, behind) = rest.split_at_checked(buffer.bytes)?;
            rest = behind;
            Some(output.to_vec())
        });
        outputs.collect::<Option<_>>().ok_or_else(|| "it wrote too little".to_owned())
    }
}

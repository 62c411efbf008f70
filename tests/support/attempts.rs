//! A leaderboard with attempts in it, made without running a kernel.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use leaderboard::{
    Attempt, AttemptId, Store, Submission,
    attempt::{
        Case, Counters, Device, DeviceKind, Environment, Kernel, Outcome, Samples, Size, Time,
        Toolchain, Verdict,
    },
};

/// An attempt at `mxfp4_quantize` by ana; what a test is about is said by the methods.
pub struct Made(Submission);

impl Made {
    /// Accepted, with that time at 1024x1024 and ten times that at 4096x8192.
    pub fn accepted(file: &str, us: f64) -> Self {
        let geomean = us * 10_f64.sqrt();
        let sizes = vec![size("1024x1024", us, 0.66), size("4096x8192", us * 10.0, 21.2)];
        Self(Submission {
            created: Timestamp::now() - SignedDuration::from_hours(72),
            problem: "mxfp4_quantize".into(),
            revision: problems::find("mxfp4_quantize").expect("known").manifest().revision,
            author: "ana".into(),
            message: None,
            file: format!("solutions/mxfp4_quantize/{file}"),
            parent: None,
            confirms: None,
            batch: None,
            values: [].into(),
            source: format!("// {file}\nextern \"C\" void solution() {{ run({us}); }}\n").into(),
            outcome: Outcome {
                device: Device {
                    kind: DeviceKind::Emulator,
                    name: "B200".into(),
                    arch: "sm_100a".into(),
                },
                verdict: Verdict::Accepted,
                modelled: true,
                toolchain: Toolchain {
                    nibble: "0.1.0".into(),
                    nvcc: Some("13.0.88".into()),
                    flags: vec!["--use_fast_math".into()],
                },
                kernels: vec![Kernel {
                    name: "quantize(const float*, uint8_t*, uint8_t*, size_t)".into(),
                    registers: 40,
                    spill_bytes: 0,
                    shared_bytes: 2048,
                }],
                geomean: Some(Time::exact(geomean)),
                sizes,
                cases: vec![case("128x256 uniform", Verdict::Accepted)],
                environment: Environment::default(),
                fault: None,
            },
            samples: vec![Samples { size: "1024x1024".into(), samples_us: vec![us] }],
        })
    }

    /// It rounds ties away from zero.
    pub fn wrong(file: &str) -> Self {
        let mut made = Self::accepted(file, 1.0);
        let outcome = &mut made.0.outcome;
        outcome.verdict = Verdict::WrongAnswer;
        outcome.geomean = None;
        outcome.sizes.clear();
        made.0.samples.clear();
        outcome.cases = vec![
            case("128x256 uniform", Verdict::Accepted),
            Case {
                mismatches: 512,
                reasons: vec!["ties_away_from_zero".into()],
                explanation: Some("512 of 1,024 codes differ.\nTies go to the even code.".into()),
                ..case("128x256 ties", Verdict::WrongAnswer)
            },
        ];
        made
    }

    pub fn by(mut self, author: &str) -> Self {
        self.0.author = author.into();
        self
    }

    pub fn message(mut self, message: &str) -> Self {
        self.0.message = Some(message.into());
        self
    }

    pub fn registers(mut self, registers: u32) -> Self {
        self.0.outcome.kernels[0].registers = registers;
        self
    }

    pub fn source(mut self, source: &str) -> Self {
        self.0.source = source.into();
        self
    }

    pub fn after(mut self, parent: &AttemptId) -> Self {
        self.0.parent = Some(parent.clone());
        self
    }

    /// Of that revision of the problem.
    pub fn revision(mut self, revision: u32) -> Self {
        self.0.revision = revision;
        self
    }

    /// Timed on the scripted device of [`super::mock`].
    pub fn scripted(self) -> Self {
        let mut made = self.measured(0.01);
        made.0.outcome.device.kind = DeviceKind::Mock;
        made.0.outcome.device.name = "Scripted GPU".into();
        made
    }

    /// Hours before now.
    pub fn hours_old(mut self, hours: i64) -> Self {
        self.0.created = Timestamp::now() - SignedDuration::from_hours(hours);
        self
    }

    /// Timed on a GPU, each time within that share.
    pub fn measured(mut self, share: f64) -> Self {
        let outcome = &mut self.0.outcome;
        outcome.modelled = false;
        outcome.device.kind = DeviceKind::Cuda;
        outcome.device.name = "NVIDIA B200".into();
        for size in &mut outcome.sizes {
            size.counters = None;
        }
        let times = outcome.sizes.iter_mut().map(|size| &mut size.median);
        for time in times.chain(&mut outcome.geomean) {
            time.interval_us = (time.us * (1.0 - share), time.us * (1.0 + share));
        }
        self
    }

    /// What no other method says.
    pub fn with(mut self, change: impl FnOnce(&mut Submission)) -> Self {
        change(&mut self.0);
        self
    }

    /// Records it in the leaderboard of a test's folder.
    pub fn record(self, folder: &Path) -> Attempt {
        Store::at(folder.join("leaderboard")).record(self.0).expect("it can be recorded")
    }
}

fn size(name: &str, us: f64, sol_us: f64) -> Size {
    Size {
        name: name.into(),
        median: Time::exact(us),
        sol_us,
        sol_percent: sol_us / us * 100.0,
        counters: Some(Counters {
            dram_bytes: (us * 1e6) as u64,
            sectors_per_request: Some(4.0),
            warp_instructions: (us * 24_500.0) as u64,
            active_lanes: Some(31.5),
            occupancy: Some(0.75),
        }),
    }
}

fn case(name: &str, verdict: Verdict) -> Case {
    Case { name: name.into(), verdict, mismatches: 0, reasons: vec![], explanation: None }
}

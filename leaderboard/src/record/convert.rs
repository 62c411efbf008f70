//! From an attempt to its record and back, field by field: what is missing here does not compile.

use toml::value::Datetime;

use super::{
    AttemptRecord, CaseRecord, CountersRecord, DeviceRecord, EnvironmentRecord, FormatVersion,
    KernelRecord, MemberRecord, SizeRecord, ToolchainRecord,
};
use crate::Member;
use crate::attempt::{
    Attempt, Case, Counters, Device, Environment, Kernel, Outcome, Size, Time, Toolchain,
};

pub(super) fn to_record(attempt: &Attempt) -> AttemptRecord {
    let outcome = &attempt.outcome;
    let plain = outcome.cases.iter().filter(|case| case.is_plain());
    let remarkable = outcome.cases.iter().filter(|case| !case.is_plain());
    AttemptRecord {
        format: FormatVersion::CURRENT,
        id: attempt.id.clone(),
        problem: attempt.problem.clone(),
        revision: attempt.revision,
        created: datetime(attempt.created),
        author: attempt.author.clone(),
        message: attempt.message.clone(),
        file: attempt.file.clone(),
        parent: attempt.parent.clone(),
        confirms: attempt.confirms.clone(),
        source_hash: attempt.source_hash.clone(),
        verdict: outcome.verdict,
        modelled: outcome.modelled,
        geomean_us: outcome.geomean.map(|time| time.us),
        geomean_interval_us: outcome.geomean.map(|time| time.interval_us),
        fault: outcome.fault.clone(),
        values: attempt.values.clone(),
        batch: attempt.batch.clone().map(|Member { run, index }| MemberRecord { run, index }),
        device: DeviceRecord {
            kind: outcome.device.kind,
            name: outcome.device.name.clone(),
            arch: outcome.device.arch.clone(),
        },
        toolchain: ToolchainRecord {
            nibble: outcome.toolchain.nibble.clone(),
            nvcc: outcome.toolchain.nvcc.clone(),
            flags: outcome.toolchain.flags.clone(),
        },
        environment: EnvironmentRecord {
            gpu_uuid: outcome.environment.gpu_uuid.clone(),
            driver: outcome.environment.driver.clone(),
            sm_clock_mhz: outcome.environment.sm_clock_mhz,
            memory_clock_mhz: outcome.environment.memory_clock_mhz,
            temperature_c: outcome.environment.temperature_c,
            power_w: outcome.environment.power_w,
            throttled: outcome.environment.throttled.clone(),
        },
        kernels: outcome.kernels.iter().map(kernel_to_record).collect(),
        sizes: outcome.sizes.iter().map(size_to_record).collect(),
        passed: plain.map(|case| case.name.clone()).collect(),
        cases: remarkable.map(case_to_record).collect(),
    }
}

pub(super) fn from_record(record: AttemptRecord) -> Result<Attempt, String> {
    let geomean = match (record.geomean_us, record.geomean_interval_us) {
        (Some(us), Some(interval_us)) => Some(Time { us, interval_us }),
        (None, None) => None,
        _ => return Err("geomean_us and geomean_interval_us go together".into()),
    };
    let created = record.created.to_string();
    let passed = record.passed.into_iter().map(Case::plain);
    let remarkable = record.cases.into_iter().map(case_from_record);
    Ok(Attempt {
        id: record.id,
        created: created.parse().map_err(|_| format!("created: {created} is no moment"))?,
        problem: record.problem,
        revision: record.revision,
        author: record.author,
        message: record.message,
        file: record.file,
        parent: record.parent,
        confirms: record.confirms,
        batch: record.batch.map(|MemberRecord { run, index }| Member { run, index }),
        values: record.values,
        source_hash: record.source_hash,
        outcome: Outcome {
            device: Device {
                kind: record.device.kind,
                name: record.device.name,
                arch: record.device.arch,
            },
            verdict: record.verdict,
            modelled: record.modelled,
            toolchain: Toolchain {
                nibble: record.toolchain.nibble,
                nvcc: record.toolchain.nvcc,
                flags: record.toolchain.flags,
            },
            kernels: record.kernels.into_iter().map(kernel_from_record).collect(),
            geomean,
            sizes: record.sizes.into_iter().map(size_from_record).collect(),
            cases: passed.chain(remarkable).collect(),
            environment: Environment {
                gpu_uuid: record.environment.gpu_uuid,
                driver: record.environment.driver,
                sm_clock_mhz: record.environment.sm_clock_mhz,
                memory_clock_mhz: record.environment.memory_clock_mhz,
                temperature_c: record.environment.temperature_c,
                power_w: record.environment.power_w,
                throttled: record.environment.throttled,
            },
            fault: record.fault,
        },
    })
}

fn kernel_to_record(kernel: &Kernel) -> KernelRecord {
    let Kernel { name, registers, spill_bytes, shared_bytes } = kernel.clone();
    KernelRecord { name, registers, spill_bytes, shared_bytes }
}

fn kernel_from_record(record: KernelRecord) -> Kernel {
    let KernelRecord { name, registers, spill_bytes, shared_bytes } = record;
    Kernel { name, registers, spill_bytes, shared_bytes }
}

fn size_to_record(size: &Size) -> SizeRecord {
    SizeRecord {
        name: size.name.clone(),
        median_us: size.median.us,
        interval_us: size.median.interval_us,
        sol_us: size.sol_us,
        sol_percent: size.sol_percent,
        counters: size.counters.map(|counters| CountersRecord {
            dram_bytes: counters.dram_bytes,
            sectors_per_request: counters.sectors_per_request,
            warp_instructions: counters.warp_instructions,
            active_lanes: counters.active_lanes,
            occupancy: counters.occupancy,
        }),
    }
}

fn size_from_record(record: SizeRecord) -> Size {
    Size {
        name: record.name,
        median: Time { us: record.median_us, interval_us: record.interval_us },
        sol_us: record.sol_us,
        sol_percent: record.sol_percent,
        counters: record.counters.map(|counters| Counters {
            dram_bytes: counters.dram_bytes,
            sectors_per_request: counters.sectors_per_request,
            warp_instructions: counters.warp_instructions,
            active_lanes: counters.active_lanes,
            occupancy: counters.occupancy,
        }),
    }
}

fn case_to_record(case: &Case) -> CaseRecord {
    let Case { name, verdict, mismatches, reasons, explanation } = case.clone();
    CaseRecord { name, verdict, mismatches, reasons, explanation }
}

fn case_from_record(record: CaseRecord) -> Case {
    let CaseRecord { name, verdict, mismatches, reasons, explanation } = record;
    Case { name, verdict, mismatches, reasons, explanation }
}

/// To the millisecond: finer is noise, and a TOML date-time holds it.
fn datetime(created: jiff::Timestamp) -> Datetime {
    let text = format!("{created:.3}");
    text.parse().expect("jiff prints RFC 3339, of which TOML's date-time is a form")
}

//! What a GPU of this machine did, beside what was counted.

use judge::{
    ncu::KernelProfile,
    profile::{KernelReport, Measured},
};

use super::super::{
    style,
    table::{Align, Table},
    words,
};
use super::{SECTOR, reason};

pub fn section(measured: &Measured, counted: &[KernelReport]) -> String {
    let title = format!("on {}, {}", measured.device.name, measured.device.arch);
    let mut text = format!("  {}\n", style::paint(style::BOLD, title));
    if let Some(us) = measured.call_us {
        text.push_str(&format!("  one cold call took {}\n", words::micros(us)));
    }
    if let Some(why) = &measured.why_not {
        let note = words::hanging(&format!("  not counted there: {why}"), 2);
        text.push_str(&format!("{}\n", style::paint(style::DIM, note)));
    }
    for hardware in &measured.kernels {
        // ncu writes parameters and template arguments out.
        let bare = |name: &str| name.split(['(', '<']).next().unwrap_or(name).to_owned();
        let ends = |one: &&KernelReport| bare(&hardware.kernel).ends_with(&bare(&one.name));
        text.push_str(&table(hardware, counted.iter().find(ends)).to_string());
    }
    text
}

/// Both of one launch.
fn table(hardware: &KernelProfile, counted: Option<&KernelReport>) -> Table {
    let mut table = Table::new([
        (format!("kernel {}", words::cut(&hardware.kernel, 32)), Align::Left),
        ("ncu".to_owned(), Align::Right),
        ("emulator".to_owned(), Align::Right),
    ]);
    let mut row = |name: &str, show: fn(f64) -> String, ncu: f64, own: fn(&KernelReport) -> f64| {
        table.row(vec![
            (style::DIM, name.into()),
            (style::BOLD, show(ncu)),
            (style::PLAIN, counted.map(|kernel| show(own(kernel))).unwrap_or_default()),
        ]);
    };
    row("time", words::micros, hardware.duration_us, |k| k.modelled_us / k.launches as f64);
    row("DRAM read", bytes, hardware.dram_read_bytes, |k| {
        per(k.counters.dram_read_sectors * SECTOR, k.launches)
    });
    row("DRAM written", bytes, hardware.dram_write_bytes, |k| {
        per(k.counters.dram_write_sectors * SECTOR, k.launches)
    });
    row("sectors a load", tenths, hardware.load_sectors_per_request, |k| {
        per(k.counters.global_load_sectors, k.counters.global_load_requests)
    });
    row("sectors a store", tenths, hardware.store_sectors_per_request, |k| {
        per(k.counters.global_store_sectors, k.counters.global_store_requests)
    });
    row("warp instructions", words::short_count, hardware.warp_instructions, |k| {
        per(k.counters.warp_instructions, k.launches)
    });
    row("active lanes", tenths, hardware.active_lanes, |k| {
        per(k.counters.thread_instructions, k.counters.warp_instructions)
    });
    row("bank conflicts", words::short_count, hardware.shared_bank_conflicts, |k| {
        per(reason::conflicts(k), k.launches)
    });
    // Over the time in which an SM has any, so that a short launch may have as many as a long one.
    row("occupancy", share, hardware.occupancy, |k| {
        k.residency.present / f64::from(k.residency.most_warps.max(1))
    });
    table
}

fn per(a: u64, b: u64) -> f64 {
    a as f64 / b.max(1) as f64
}

fn bytes(n: f64) -> String {
    words::bytes(n as u64)
}

fn tenths(n: f64) -> String {
    format!("{n:.1}")
}

fn share(n: f64) -> String {
    words::percent(100.0 * n)
}

//! The lines of a kernel that cost most, with their text.

use judge::profile::{KernelReport, LineReport};

use super::super::{
    style,
    table::{Align, Table},
    words,
};
use super::SECTOR;
use timing::model::Limiter;

/// Columns between line and text; those that say nothing of any line take no room.
pub fn table(kernel: &KernelReport, file: &str, most: usize) -> String {
    let shown: Vec<&LineReport> =
        kernel.lines.iter().filter(|line| line.cost > 0.0).take(most).collect();
    if shown.is_empty() {
        return String::new();
    }
    let of = |cell: fn(&LineReport) -> String| -> Vec<String> {
        shown.iter().map(|line| cell(line)).collect()
    };
    let columns = [
        (kernel.limiter.name(), of(|line| words::percent(100.0 * line.cost))),
        ("issued", of(|line| words::percent(100.0 * line.shares.issue))),
        ("sectors", of(sectors)),
        ("used", of(used)),
        ("banks", of(banks)),
        ("split", of(split)),
    ];
    // Where issuing is the limit, the two would be the same.
    let columns: Vec<_> = columns
        .into_iter()
        .filter(|(name, _)| {
            *name != "issued" || kernel.limiter != Limiter::Issue || kernel.narrow_unit.is_some()
        })
        .filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()))
        .collect();
    let heading = [("line", Align::Right)]
        .into_iter()
        .chain(columns.iter().map(|(name, _)| (*name, Align::Right)))
        .chain([("source", Align::Left)]);
    let mut table = Table::new(heading);
    for (index, line) in shown.iter().enumerate() {
        let mut cells = vec![(style::DIM, place(line, file))];
        cells.extend(columns.iter().enumerate().map(|(column, (_, texts))| {
            (if column == 0 { style::BOLD } else { style::PLAIN }, texts[index].clone())
        }));
        cells.push((style::PLAIN, line.text.clone()));
        table.row(cells);
    }
    format!("\n{table}")
}

/// The line's number, with the file's name where that is another.
fn place(line: &LineReport, file: &str) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    match line.line {
        0 => "–".to_owned(),
        number if name(&line.file) == name(file) => number.to_string(),
        number => format!("{}:{number}", words::cut(&name(&line.file), 16)),
    }
}

/// Sectors for each request to global memory.
fn sectors(line: &LineReport) -> String {
    let (load, store) = (line.counts.traffic.load, line.counts.traffic.store);
    ratio(load.sectors + store.sectors, load.requests + store.requests)
}

/// What lanes asked for, of what these sectors hold. More than all, where lanes share.
fn used(line: &LineReport) -> String {
    let (load, store) = (line.counts.traffic.load, line.counts.traffic.store);
    match (load.sectors + store.sectors) * SECTOR {
        0 => String::new(),
        moved => words::percent(100.0 * (load.bytes + store.bytes) as f64 / moved as f64),
    }
}

/// Passes over the banks for each request to shared memory.
fn banks(line: &LineReport) -> String {
    ratio(line.counts.traffic.shared_wavefronts, line.counts.traffic.shared_requests)
}

/// Branches whose lanes disagreed.
fn split(line: &LineReport) -> String {
    match line.counts.divergent_branches {
        0 => String::new(),
        split => words::percent(100.0 * split as f64 / line.counts.branches.max(1) as f64),
    }
}

fn ratio(a: u64, b: u64) -> String {
    if b == 0 { String::new() } else { format!("{:.1}", a as f64 / b as f64) }
}

//! A sweep: its variants by time, what failed and why, and what each value did.

use std::{collections::BTreeMap, path::Path};

use judge::{
    Identity,
    report::{DeviceInfo, Verdict},
    sweep::{Axis, Effect, Values, effects},
};
use leaderboard::{Attempt, AttemptId, ShortIds, Summary};
use serde::Serialize;

use super::{
    json, style,
    table::{Align, Table},
    words,
};
use crate::record;

/// Variants and reasons that a screen shows; `--json` has all.
const SHOWN: usize = 20;
const REASONS: usize = 6;

#[derive(Serialize)]
pub struct Sweep<'a> {
    schema: u32,
    problem: &'a str,
    file: String,
    device: DeviceInfo,
    /// Fastest first, those that were not accepted last.
    variants: Vec<Variant>,
    /// Of variants that were not measured, by the model.
    modelled: Vec<Variant>,
    effects: Vec<Effect>,
    /// The fastest, if it is recorded.
    best: Option<AttemptId>,
    #[serde(skip)]
    names: Vec<&'a str>,
}

#[derive(Serialize)]
struct Variant {
    values: Values,
    verdict: Verdict,
    /// Why it was not accepted, in one line.
    reason: Option<String>,
    geomean_us: Option<f64>,
    sol_percent: Option<f64>,
    registers: Option<u32>,
    attempt: Option<AttemptId>,
}

impl Variant {
    fn of((values, attempt): &(Values, Attempt)) -> Self {
        let summary = Summary::from(attempt);
        let verdict = record::reported(summary.verdict);
        Self {
            values: values.clone(),
            verdict,
            reason: (verdict != Verdict::Accepted).then(|| reason(attempt, verdict)),
            geomean_us: summary.geomean.map(|time| time.us),
            sol_percent: summary.sol_percent,
            registers: summary.facts.registers,
            attempt: attempt.batch.is_some().then(|| attempt.id.clone()),
        }
    }
}

/// "compile error: k.cu(12): error: too much shared data".
fn reason(attempt: &Attempt, verdict: Verdict) -> String {
    let outcome = &attempt.outcome;
    let fault = outcome.fault.as_deref().unwrap_or_default();
    let told = fault.lines().find(|line| line.contains("error")).or_else(|| fault.lines().next());
    let failed = outcome.cases.iter().find(|case| !case.reasons.is_empty());
    let known = failed.map(|case| case.reasons.join(", "));
    let explained = outcome.cases.iter().find_map(|case| case.explanation.as_ref()?.lines().next());
    let why = told.map(str::to_owned).or(known).or(explained.map(str::to_owned));
    match why {
        Some(why) => format!("{}: {}", style::words(verdict), why.trim()),
        None => style::words(verdict).to_owned(),
    }
}

impl<'a> Sweep<'a> {
    pub fn new(
        identity: &'a Identity,
        file: &Path,
        axes: &'a [Axis],
        tried: &[(Values, Attempt)],
        modelled: &[(Values, Attempt)],
        best: Option<AttemptId>,
    ) -> Self {
        // Of a GPU only a few were measured, and those are no fair sample: the model saw all.
        let all = if modelled.is_empty() { tried } else { modelled };
        let times: Vec<(Values, Option<f64>)> = all
            .iter()
            .map(|(values, one)| (values.clone(), one.outcome.geomean.map(|time| time.us)))
            .collect();
        let sorted = |tried: &[(Values, Attempt)]| {
            let mut variants: Vec<Variant> = tried.iter().map(Variant::of).collect();
            let time = |variant: &Variant| variant.geomean_us.unwrap_or(f64::INFINITY);
            variants.sort_by(|a, b| time(a).total_cmp(&time(b)));
            variants
        };
        Self {
            schema: json::SCHEMA,
            problem: &identity.problem,
            file: file.display().to_string(),
            device: identity.device.clone(),
            variants: sorted(tried),
            modelled: sorted(modelled),
            effects: effects(axes, &times),
            best,
            names: axes.iter().map(|axis| axis.name.as_str()).collect(),
        }
    }

    pub fn accepted(&self) -> bool {
        self.variants.iter().any(|variant| variant.geomean_us.is_some())
    }

    pub fn screen(&self, ids: &ShortIds) -> String {
        let head = format!(
            "{}\n  {} on {}, {}\n",
            style::paint(style::BOLD, &self.file),
            self.problem,
            self.device.name,
            self.device.arch
        );
        let mut text = head;
        if self.accepted() {
            text.push_str(&format!("\n{}", self.fastest(ids)));
        }
        text.push_str(&self.failed());
        if self.accepted() {
            text.push_str(&format!(
                "\n  {}\n{}",
                style::paint(style::DIM, self.over()),
                self.did()
            ));
        }
        let accepted = self.variants.iter().filter(|one| one.verdict == Verdict::Accepted).count();
        let count = words::count(self.variants.len() as u64, "variant");
        text.push_str(&format!("\n{} of {count} accepted\n", words::grouped(accepted as u64)));
        if let Some(best) = &self.best {
            let command = format!("nibble attempt {}", ids.of(best));
            let (next, command) =
                (style::paint(style::DIM, "next:"), style::paint(style::ACCENT, command));
            text.push_str(&format!(
                "{next} {command}  {}\n",
                style::paint(style::DIM, "the fastest")
            ));
        }
        text
    }

    fn fastest(&self, ids: &ShortIds) -> String {
        let mut columns = vec![("".to_owned(), Align::Right), ("id".to_owned(), Align::Left)];
        columns.extend(self.names.iter().map(|name| (words::cut(name, 12), Align::Right)));
        columns.extend(
            ["geomean", "behind", "% SOL", "registers"].map(|name| (name.to_owned(), Align::Right)),
        );
        let mut table = Table::new(columns);
        let accepted = self.variants.iter().filter(|one| one.geomean_us.is_some());
        let best = self.variants.first().and_then(|one| one.geomean_us).unwrap_or(f64::NAN);
        for (place, one) in accepted.enumerate().take(SHOWN) {
            let us = one.geomean_us.unwrap_or(f64::NAN);
            let id = one.attempt.as_ref().map(|id| ids.of(id).to_owned());
            let mut cells = vec![
                (style::PLAIN, (place + 1).to_string()),
                (style::ACCENT, id.unwrap_or_default()),
            ];
            let value = |name: &&str| one.values.get(*name).cloned().unwrap_or_default();
            cells
                .extend(self.names.iter().map(|name| (style::PLAIN, words::cut(&value(name), 12))));
            let behind = if place == 0 { String::new() } else { words::change(best, us) };
            cells.push((style::BOLD, words::micros(us)));
            cells.push((style::PLAIN, behind));
            cells.push((style::PLAIN, one.sol_percent.map(words::percent).unwrap_or_default()));
            cells.push((style::PLAIN, one.registers.map(|n| n.to_string()).unwrap_or_default()));
            table.row(cells);
        }
        let all = self.variants.iter().filter(|one| one.geomean_us.is_some()).count();
        let more = match all.saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("     and {} more\n", words::grouped(more as u64)),
        };
        format!("{table}{more}")
    }

    /// One reason for all that it ended.
    fn failed(&self) -> String {
        let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let all = self.variants.iter().chain(&self.modelled);
        for one in all {
            if let Some(reason) = &one.reason {
                let values = one.values.iter().map(|(name, value)| format!("{name}={value}"));
                let values: Vec<String> = values.collect();
                reasons.entry(reason).or_default().push(values.join(" "));
            }
        }
        let mut text = String::new();
        for (reason, variants) in reasons.iter().take(REASONS) {
            let shown = style::paint(style::BAD, format!("✗ {}", words::cut(reason, 74)));
            text.push_str(&format!("\n  {shown}\n"));
            let list = match variants.len() {
                n if n > REASONS => {
                    format!("{} and {} more", variants[..REASONS].join(", "), n - REASONS)
                }
                _ => variants.join(", "),
            };
            text.push_str(&format!("{}\n", words::hanging(&format!("    {list}"), 4)));
        }
        if reasons.len() > REASONS {
            text.push_str(&format!("\n  and {} other reasons\n", reasons.len() - REASONS));
        }
        text
    }

    fn over(&self) -> &'static str {
        match self.modelled.is_empty() {
            true => "what each value did, all others being equal",
            false => "what each value did by the model, all others being equal",
        }
    }

    fn did(&self) -> String {
        let mut table = Table::new([
            ("", Align::Left),
            ("", Align::Right),
            ("geomean", Align::Right),
            ("", Align::Right),
            ("accepted", Align::Right),
        ]);
        for effect in &self.effects {
            for (at, level) in effect.levels.iter().enumerate() {
                let behind = match level.behind {
                    Some(0.0) => "best".to_owned(),
                    Some(behind) => words::change(1.0, 1.0 + behind),
                    None => String::new(),
                };
                let good = if level.behind == Some(0.0) { style::GOOD } else { style::PLAIN };
                let name = if at == 0 { words::cut(&effect.name, 20) } else { String::new() };
                table.row(vec![
                    (style::BOLD, name),
                    (style::PLAIN, words::cut(&level.value, 16)),
                    (style::PLAIN, level.geomean_us.map(words::micros).unwrap_or_default()),
                    (good, behind),
                    (style::DIM, format!("{} of {}", level.accepted, level.tried)),
                ]);
            }
        }
        table.to_string()
    }
}

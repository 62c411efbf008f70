//! What predictions of calls are worth.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use timing::model::APART;

use crate::call::Call;

/// Logarithms of a kernel's geometric means over its sizes.
struct Kernel {
    measured: f64,
    modelled: f64,
}

/// Pairs of kernels this far apart when measured should come out in order.
const COUNTED: f64 = 0.05;

/// A line for each problem, and one for all.
pub fn report(predicted: &[(&Call, f64)]) -> String {
    let mut text = format!(
        "{:<20} {:>7} {:>6} {:>15} {:>6} {:>7}  among 5\n",
        "problem", "kernels", "tau-b", "pairs in order", "error", "regret"
    );
    let (mut right, mut all, mut errors) = (0, 0, Vec::new());
    let problems: BTreeSet<&str> = predicted.iter().map(|(call, _)| call.family.as_str()).collect();
    for problem in problems {
        let own: Vec<_> = predicted.iter().filter(|(call, _)| call.family == problem).collect();
        let kernels = kernels(own.iter().copied());
        let (ordered, apart) = pairs(&kernels);
        let each: Vec<f64> =
            own.iter().map(|(call, us)| (us / call.measured - 1.0).abs()).collect();
        let (regret, among) = choice(&kernels);
        let _ = writeln!(
            text,
            "{problem:<20} {:>7} {:>6.2} {:>15} {:>5.1}% {:>6.1}%  {}",
            kernels.len(),
            tau(&kernels),
            format!("{ordered} of {apart}"),
            100.0 * mean(&each),
            100.0 * regret,
            if among { "yes" } else { "no" },
        );
        (right, all) = (right + ordered, all + apart);
        errors.extend(each);
    }
    let (close, far) = by_ratio(predicted);
    let share = 100.0 * f64::from(right) / f64::from(all);
    let _ = writeln!(text, "all: {share:.1}% of {all} pairs, error {:.1}%", 100.0 * mean(&errors));
    let apart = 100.0 * APART;
    let _ = writeln!(
        text,
        "modelled less than {apart:.0}% apart: {} of {} pairs in order",
        close.0, close.1
    );
    let _ = writeln!(text, "modelled further apart: {} of {} pairs in order", far.0, far.1);
    text
}

/// Of all pairs of kernels of one problem, whatever they differ by when measured: those in order, and all,
/// where the model has less than [`APART`] between them, and where it has more.
pub fn by_ratio(predicted: &[(&Call, f64)]) -> ((u32, u32), (u32, u32)) {
    let problems: BTreeSet<&str> = predicted.iter().map(|(call, _)| call.family.as_str()).collect();
    let (mut close, mut far) = ((0, 0), (0, 0));
    for problem in problems {
        let kernels = kernels(predicted.iter().filter(|(call, _)| call.family == problem));
        for (measured, modelled) in each_pair(&kernels) {
            let of = if modelled.abs() < APART.ln_1p() { &mut close } else { &mut far };
            of.0 += u32::from(measured * modelled > 0.0);
            of.1 += 1;
        }
    }
    (close, far)
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len().max(1) as f64
}

fn kernels<'a>(calls: impl Iterator<Item = &'a (&'a Call, f64)>) -> Vec<Kernel> {
    let mut sizes = BTreeMap::<&str, Vec<(f64, f64)>>::new();
    for (call, us) in calls {
        sizes.entry(&call.kernel).or_default().push((call.measured.ln(), us.ln()));
    }
    let geomean = |sizes: Vec<(f64, f64)>| {
        let (measured, modelled): (Vec<f64>, Vec<f64>) = sizes.into_iter().unzip();
        Kernel { measured: mean(&measured), modelled: mean(&modelled) }
    };
    sizes.into_values().map(geomean).collect()
}

fn each_pair(kernels: &[Kernel]) -> impl Iterator<Item = (f64, f64)> {
    let with = |(index, a)| kernels[..index].iter().map(move |b| (a, b));
    let pairs = kernels.iter().enumerate().flat_map(with);
    pairs.map(|(a, b): (&Kernel, &Kernel)| (a.measured - b.measured, a.modelled - b.modelled))
}

/// Of those apart: in the model's order, and all.
fn pairs(kernels: &[Kernel]) -> (u32, u32) {
    let apart = each_pair(kernels).filter(|(measured, _)| measured.abs() > COUNTED.ln_1p());
    apart.fold((0, 0), |(right, all), (measured, modelled)| {
        (right + u32::from(measured * modelled > 0.0), all + 1)
    })
}

/// Kendall's tau-b: pairs in order less pairs out of order, ties of either side taken out.
fn tau(kernels: &[Kernel]) -> f64 {
    let (mut sum, mut measured, mut modelled) = (0.0, 0.0_f64, 0.0_f64);
    for (a, b) in each_pair(kernels) {
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        sum += sign(a) * sign(b);
        measured += sign(a).abs();
        modelled += sign(b).abs();
    }
    sum / (measured * modelled).sqrt()
}

/// How much longer than the fastest the kernel takes that the model ranks first, and whether the fastest is
/// among the model's first five.
fn choice(kernels: &[Kernel]) -> (f64, bool) {
    let mut order: Vec<&Kernel> = kernels.iter().collect();
    order.sort_by(|a, b| a.modelled.total_cmp(&b.modelled));
    let best = kernels.iter().map(|kernel| kernel.measured).fold(f64::INFINITY, f64::min);
    let among = order.iter().take(5).any(|kernel| kernel.measured == best);
    ((order[0].measured - best).exp_m1(), among)
}

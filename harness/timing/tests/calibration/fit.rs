//! Figures from measured calls: least squares of logarithms, by Levenberg and Marquardt's method.
//!
//! Every figure is positive and is moved by a factor, so that all have the same scale. The fit starts from
//! what microbenchmarks and data sheets say (`start.toml`) and is drawn towards it a little, which decides
//! where the calls do not: without it two figures that always come together would run away in opposite
//! directions. Calls that no term explains count less the further off they are (the "soft l1" loss), so that
//! no figure bends to make up for what the model does not have.

use serde_json::{Map, Value};
use timing::Figures;
use timing::gpus::Gpu;

use crate::call::Call;
use crate::half::Half;

/// An error from which on a call counts less.
const OUTLIER: f64 = 0.15;
/// How much e-fold of a figure from its start is worth, as an error of one call.
const DRAWN: f64 = 0.15;
/// Weight of calls that belong to no problem.
const BESIDES: f64 = 0.7;
const ROUNDS: usize = 60;
/// Of all figures, those that calls on one GPU say nothing of.
const GIVEN: [&str; 1] = ["l2_cost"];

/// `gpu` with figures that fit these calls.
pub fn fitted(gpu: &Gpu, calls: &[&Call]) -> Gpu {
    let start: Map<String, Value> = map(&toml::from_str(include_str!("start.toml")).unwrap());
    let names: Vec<&String> = start.keys().filter(|name| !GIVEN.contains(&name.as_str())).collect();
    let with = |by: &[f64]| {
        let mut figures = start.clone();
        for (name, by) in names.iter().zip(by) {
            let figure = start[*name].as_f64().unwrap() * by.exp();
            figures.insert((*name).clone(), figure.into());
        }
        Gpu { figures: serde_json::from_value(Value::Object(figures)).unwrap(), ..gpu.clone() }
    };
    let errors = |by: &[f64]| {
        let gpu = with(by);
        let error = |call: &&Call| weight(call) * (call.modelled(&gpu) / call.measured).ln();
        calls.iter().map(error).chain(by.iter().map(|by| DRAWN * by)).collect()
    };
    with(&least(vec![0.0; names.len()], errors))
}

fn map(figures: &Figures) -> Map<String, Value> {
    match serde_json::to_value(figures) {
        Ok(Value::Object(map)) => map,
        _ => panic!("figures are an object"),
    }
}

/// As `h200.toml` has them: four digits, more than two runs of the card agree in.
pub fn text(gpu: &Gpu) -> String {
    let header =
        "# Fitted to calibration/h200.jsonl and written by tests/calibration: do not edit.\n";
    let round = |figure: f64| format!("{figure:.3e}").parse::<f64>().unwrap();
    let line = |(name, figure): (&String, &Value)| {
        format!("{name} = {:?}\n", round(figure.as_f64().unwrap()))
    };
    map(&gpu.figures).iter().map(line).fold(header.to_owned(), |text, line| text + &line)
}

fn weight(call: &Call) -> f64 {
    if Half::of(&call.family).is_some() { 1.0 } else { BESIDES }
}

/// Where the sum over 2 OUTLIER² (√(1 + (e / OUTLIER)²) − 1) of the errors `e` is least.
fn least(mut at: Vec<f64>, errors: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let loss = |errors: &[f64]| -> f64 {
        errors
            .iter()
            .map(|e| 2.0 * OUTLIER.powi(2) * ((1.0 + (e / OUTLIER).powi(2)).sqrt() - 1.0))
            .sum()
    };
    let mut now = errors(&at);
    let mut damping = 1e-2;
    for _ in 0..ROUNDS {
        let slopes: Vec<Vec<f64>> = (0..at.len())
            .map(|index| {
                let mut aside = at.clone();
                aside[index] += STEP;
                let changed = errors(&aside);
                changed.iter().zip(&now).map(|(there, here)| (there - here) / STEP).collect()
            })
            .collect();
        // The weights that make a square of the loss, to first order.
        let weights: Vec<f64> =
            now.iter().map(|e| 1.0 / (1.0 + (e / OUTLIER).powi(2)).sqrt()).collect();
        let product = |a: &[f64], b: &[f64]| -> f64 {
            weights.iter().zip(a.iter().zip(b)).map(|(weight, (a, b))| weight * a * b).sum()
        };
        let before = loss(&now);
        let mut found = false;
        while !found && damping < 1e6 {
            let rows = slopes.iter().enumerate().map(|(index, a)| {
                let mut row: Vec<f64> = slopes.iter().map(|b| product(a, b)).collect();
                row[index] *= 1.0 + damping;
                row.push(-product(a, &now));
                row
            });
            let step = solve(rows.collect());
            let there: Vec<f64> =
                at.iter().zip(step).map(|(at, step)| at + step.clamp(-1.0, 1.0)).collect();
            let then = errors(&there);
            found = loss(&then) < before;
            if found {
                (at, now) = (there, then);
                damping = (damping / 5.0).max(1e-9);
            } else {
                damping *= 4.0;
            }
        }
        if before - loss(&now) < 1e-6 * before {
            break;
        }
    }
    at
}

/// A system of linear equations by elimination; the last column is its right side.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let count = rows.len();
    for column in 0..count {
        let largest =
            |a: &usize, b: &usize| rows[*a][column].abs().total_cmp(&rows[*b][column].abs());
        let pivot = (column..count).max_by(largest).unwrap();
        rows.swap(column, pivot);
        let (above, below) = rows.split_at_mut(column + 1);
        let pivot = &above[column];
        for row in below {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(pivot).skip(column).for_each(|(a, b)| *a -= factor * b);
        }
    }
    let mut solution = vec![0.0; count];
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|column| rows[row][column] * solution[column]).sum();
        solution[row] = (rows[row][count] - known) / rows[row][row];
    }
    solution
}

//! `nibble compare A B`: both built and timed now, in turn, and which is faster.

use std::time::SystemTime;

use jiff::Timestamp;
use judge::{Report, Stage, report::Verdict};
use leaderboard::{
    Attempt, AttemptId,
    compare::{self, Call, Comparison, Options, SizeRounds, SizeTimes, a_first},
    facts::side_by_side,
};

use timing::model::APART;

use super::{attempts, solution::Solution, solve};
use crate::{
    args::{self, FailIf},
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    record::{self, Provenance},
    render::compare::{Compared, Side},
};

pub fn run(arguments: &args::Compare, config: &Config) -> Result<Exit> {
    let solutions = [Solution::find(&arguments.a, config)?, Solution::find(&arguments.b, config)?];
    let interrupt = interrupt::install();
    let mut runs = solutions.each_ref().map(|one| one.configured(Stage::Bench, &interrupt, config));
    let archs: Vec<String> = runs.iter().filter_map(|run| run.arch.clone()).collect();
    for run in &mut runs {
        // What an attempt was built for is what the file beside it is built for.
        run.arch = run.arch.take().or_else(|| archs.first().cloned());
        run.problem = run.problem.take().or_else(|| arguments.problem.clone());
    }
    let seed = arguments.seed.unwrap_or_else(any_seed);
    let order = a_first(arguments.pairs.into(), seed);
    let compared = {
        let progress = config.terminal.progress();
        judge::compare([&runs[0], &runs[1]], &order, &mut |event| progress.event(&event))
    };
    if interrupt.raised() {
        return Err(Failure::interrupted());
    }
    let compared = compared?;
    let comparison = judged(&compared)?;
    let [a, b] = [&compared.a, &compared.b].map(attempt);
    let ids = attempts::short_ids(config)?;
    let side = |index: usize, report| Side {
        typed: [&arguments.a, &arguments.b][index],
        attempt: solutions[index].attempt.as_ref(),
        report,
    };
    let shown = Compared {
        a: side(0, &compared.a),
        b: side(1, &compared.b),
        comparison: comparison.as_ref(),
        pairs: arguments.pairs,
        seed,
        facts: side_by_side(&a, &b),
    };
    config.terminal.print(&match config.json {
        true => shown.object(),
        false => shown.screen(&ids),
    })?;
    let Some(comparison) = comparison else {
        return Ok(solve::exit(compared.a.verdict).max(solve::exit(compared.b.verdict)));
    };
    let call = comparison.geomean.call;
    let fails = match arguments.fail_if {
        None => false,
        Some(FailIf::Slower) => call == Call::Slower,
        Some(FailIf::NotFaster) => call != Call::Faster,
    };
    Ok(if fails { Exit::Failed } else { Exit::Accepted })
}

fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| u64::from(now.subsec_nanos()) ^ now.as_secs())
}

/// Absent where one of them is not accepted.
fn judged(compared: &judge::compare::Compared) -> Result<Option<Comparison>> {
    let judge::compare::Compared { a, b, sizes } = compared;
    if [a, b].iter().any(|report| report.verdict != Verdict::Accepted) {
        return Ok(None);
    }
    let comparison = if a.modelled {
        let sizes = a.bench.iter().zip(&b.bench).map(|(a, b)| SizeTimes {
            size: a.name.clone(),
            a_us: a.median_us,
            b_us: b.median_us,
        });
        compare::modelled(&sizes.collect::<Vec<_>>(), APART)
    } else {
        let pair =
            |[a_us, b_us]: &[Vec<f64>; 2]| compare::Pair { a_us: a_us.clone(), b_us: b_us.clone() };
        let sizes = sizes.iter().map(|(size, rounds)| SizeRounds {
            size: size.clone(),
            rounds: rounds.iter().map(|round| round.iter().map(pair).collect()).collect(),
        });
        compare::compare(&sizes.collect::<Vec<_>>(), Options::default())
    };
    comparison.map(Some).map_err(Failure::machine)
}

/// The report as an attempt that is not recorded, for its facts.
fn attempt(report: &Report) -> Attempt {
    let provenance = Provenance {
        author: String::new(),
        message: None,
        source: Vec::new(),
        parent: None,
        confirms: None,
        batch: None,
    };
    record::submission(report, provenance).attempt(AttemptId::new(Timestamp::now(), 0))
}

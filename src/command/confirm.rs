//! `nibble leaderboard confirm ATTEMPT…`: another author's attempts, run again on this machine.

use leaderboard::Store;

use super::{attempts, solution::Solution, solve, submit};
use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    record::{self, Provenance},
    render::{style, words},
};

pub fn run(ids: &[String], author: Option<&str>, config: &Config) -> Result<Exit> {
    let author = submit::author(author);
    let store = Store::at(config.leaderboard()?);
    // All are looked at before the first one runs.
    let mut chosen = Vec::new();
    for typed in ids {
        let attempt = store.attempt(&attempts::find(config, typed)?)?;
        if attempt.author == author {
            let short = attempt.id.tail();
            return Err(Failure::usage(format!("attempt {short} is your own, {author}"))
                .next("another author confirms it; --author says who you are"));
        }
        if attempt.outcome.verdict != leaderboard::attempt::Verdict::Accepted {
            let short = attempt.id.tail();
            return Err(Failure::usage(format!("attempt {short} was not accepted"))
                .next("only a time can be confirmed"));
        }
        chosen.push(attempt);
    }
    let interrupt = interrupt::install();
    let mut worst = Exit::Accepted;
    for first in chosen {
        let report = Solution::attempt(&first.id, config)?.run_again(&interrupt, config)?;
        let provenance = Provenance {
            author: author.clone(),
            message: None,
            source: store.source(&first.id)?,
            parent: None,
            confirms: Some(first.id.clone()),
            batch: None,
        };
        let new = store.record(record::submission(&report, provenance))?;
        let verdict = style::paint(style::of(report.verdict), style::symbol(report.verdict));
        let time = match (first.outcome.geomean, new.outcome.geomean) {
            (Some(first), Some(new)) => {
                let change = words::change(first.us, new.us);
                format!(
                    "{} here, {} there: {change}",
                    words::micros(new.us),
                    words::micros(first.us)
                )
            }
            _ => style::words(report.verdict).to_owned(),
        };
        let ids = attempts::short_ids(config)?;
        let line = format!("{verdict} {} by {}  {time}", ids.of(&first.id), first.author);
        config.terminal.note(&words::hanging(&line, 2));
        worst = worst.max(solve::exit(report.verdict));
    }
    Ok(worst)
}

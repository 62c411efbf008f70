//! What a submission meant: its place, and how it compares with the last one and the best.

use jiff::Timestamp;
use leaderboard::{
    Attempt, AttemptId, ShortIds, Summary,
    attempt::Verdict,
    board::{BoardKey, Standing},
};

use super::{board, facts, style, words};

/// What a submission is compared with, as far as there is something.
pub struct Context<'a> {
    pub standing: Option<Standing<'a>>,
    /// The author's attempt at this solution before.
    pub parent: Option<Attempt>,
    /// The fastest of the board before, where it is not the parent.
    pub best: Option<Attempt>,
    /// The earliest attempt with the same source.
    pub same_source: Option<Summary>,
    pub ids: ShortIds,
}

pub fn screen(attempt: &Attempt, context: &Context<'_>) -> String {
    let id = |id: &AttemptId| context.ids.of(id).to_owned();
    let key = BoardKey {
        problem: attempt.problem.clone(),
        revision: attempt.revision,
        device: attempt.outcome.device.clone(),
        modelled: attempt.outcome.modelled,
    };
    let mut text = format!("{}\n", place(attempt, &key, context));
    if let Some(same) = &context.same_source {
        let whose = format!("  the source is that of {}, by {}", id(&same.id), same.author);
        text.push_str(&format!("{}\n", style::paint(style::WARNING, words::hanging(&whose, 4))));
    }
    if let Some(standing) = &context.standing {
        let excerpt = board::excerpt(&key, &standing.near, &context.ids, Timestamp::now());
        text.push_str(&format!("\n{excerpt}"));
    }

    let this = facts::Column { name: id(&attempt.id), attempt };
    let mut others = Vec::new();
    if let Some(parent) = &context.parent {
        others.push(facts::Column { name: format!("{} before", id(&parent.id)), attempt: parent });
    }
    if let Some(best) = &context.best {
        others.push(facts::Column { name: format!("{} best", id(&best.id)), attempt: best });
    }
    if !others.is_empty() && attempt.outcome.verdict == Verdict::Accepted {
        text.push_str(&format!("\n{}", facts::table(&this, &others, false)));
    }
    let (command, why) = next(attempt, context);
    text.push_str(&format!(
        "\n{} {}  {}\n",
        style::paint(style::DIM, "next:"),
        style::paint(style::ACCENT, command),
        style::paint(style::DIM, why)
    ));
    text
}

/// "🥇 new first of 3 solutions", and below it the attempt and its board.
fn place(attempt: &Attempt, key: &BoardKey, context: &Context<'_>) -> String {
    let rank = match &context.standing {
        None => "  recorded, not ranked: only what was accepted is".to_owned(),
        Some(Standing { rank, of, own_best, new_first, .. }) => {
            let of = words::count(*of as u64, "solution");
            match (new_first, own_best) {
                (true, _) => style::paint(style::GOOD.bold(), format!("🥇 new first of {of}")),
                (_, true) => style::paint(style::BOLD, format!("  place {rank} of {of}")),
                _ => format!("  not faster than your best, which keeps place {rank} of {of}"),
            }
        }
    };
    let id = style::paint(style::ACCENT, context.ids.of(&attempt.id));
    format!("{rank}\n{}", words::hanging(&format!("  attempt {id}, {}", board::place(key)), 4))
}

/// The one command that most want now.
fn next(attempt: &Attempt, context: &Context<'_>) -> (String, &'static str) {
    let id = context.ids.of(&attempt.id);
    let accepted = attempt.outcome.verdict == Verdict::Accepted;
    match &context.parent {
        Some(parent) if !accepted && parent.outcome.verdict == Verdict::Accepted => {
            (format!("nibble diff {id}"), "what changed since it was right")
        }
        Some(parent) if accepted && parent.source_hash != attempt.source_hash => {
            (format!("nibble diff {id}"), "what changed, and what it did")
        }
        _ if accepted => (format!("nibble leaderboard {}", attempt.problem), "the whole board"),
        _ => (format!("nibble show {}", attempt.problem), "what is asked for"),
    }
}

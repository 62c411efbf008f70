//! `nibble leaderboard verify`, `nibble leaderboard repair`: is all still there that was recorded?

use leaderboard::{Finding, Store};
use serde::Serialize;

use super::{confirm, merge};
use crate::{
    args::LeaderboardAction,
    config::Config,
    exit::{Exit, Result},
    render::{json, style, words},
};

#[derive(Serialize)]
struct Audited {
    mended: Vec<Finding>,
    /// What is there now.
    findings: Vec<Finding>,
}

pub fn run(action: &LeaderboardAction, config: &Config) -> Result<Exit> {
    let store = Store::at(config.leaderboard()?);
    let audited = match action {
        LeaderboardAction::Merge { folders } => return merge::run(folders, config),
        LeaderboardAction::Confirm { ids, author } => {
            return confirm::run(ids, author.as_deref(), config);
        }
        LeaderboardAction::Verify => {
            Audited { mended: Vec::new(), findings: store.verify()?.findings }
        }
        LeaderboardAction::Repair => {
            let repair = store.repair()?;
            Audited { mended: repair.mended, findings: repair.left }
        }
    };
    config.terminal.print(&match config.json {
        true => json::line(&audited),
        false => screen(&audited),
    })?;
    Ok(if audited.findings.is_empty() { Exit::Accepted } else { Exit::Failed })
}

fn screen(audited: &Audited) -> String {
    let line = |style, sign: &str, finding: &Finding| {
        let text = format!("  {}: {}", finding.path.display(), finding.flaw);
        format!("{}{}\n", style::paint(style, sign), words::hanging(&text, 4))
    };
    let mut text = String::new();
    for finding in &audited.mended {
        text.push_str(&line(style::GOOD, "✓ removed", finding));
    }
    for finding in &audited.findings {
        text.push_str(&line(style::BAD, "✗", finding));
    }
    if audited.findings.is_empty() {
        text.push_str(&format!("{} all is as recorded\n", style::paint(style::GOOD, "✓")));
    }
    if audited.findings.iter().any(|finding| finding.flaw.mendable()) {
        let repair = style::paint(style::ACCENT, "nibble leaderboard repair");
        text.push_str(&format!("{} {repair}\n", style::paint(style::DIM, "next:")));
    }
    text
}

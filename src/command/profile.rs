//! `nibble profile FILE`: where the time goes. One call, no check and no record.

use judge::{
    Stage,
    profile::{self, Size},
};

use super::{bench, solution::Solution, solve};
use crate::{
    args::Profile,
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::profile as render,
};

pub fn run(arguments: &Profile, config: &Config) -> Result<Exit> {
    let solution = Solution::find(&arguments.solution, config)?;
    let size = match arguments.size.as_deref() {
        None => Size::Largest,
        Some(typed) if typed.contains('=') => Size::Of(bench::size(typed)?),
        Some(name) => Size::Named(name.to_owned()),
    };
    let interrupt = interrupt::install();
    let mut run = solution.configured(Stage::Check, &interrupt, config);
    if arguments.problem.is_some() {
        run.problem.clone_from(&arguments.problem);
    }
    let profiled = {
        let progress = config.terminal.progress();
        profile::profile(&run, &size, &mut |event| progress.event(&event))
    };
    if interrupt.raised() {
        return Err(Failure::interrupted());
    }
    let profile = profiled?;
    config.terminal.print(&match config.json {
        true => render::object(&profile),
        false => render::screen(&profile, arguments.lines),
    })?;
    Ok(solve::exit(profile.verdict))
}

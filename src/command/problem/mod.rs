//! `nibble problem new NAME` and `nibble problem check FOLDER`: problems of one's own.

mod check;
mod template;

use crate::{
    args::ProblemAction,
    config::Config,
    exit::{Exit, Result},
};

pub fn run(action: &ProblemAction, config: &Config) -> Result<Exit> {
    match action {
        ProblemAction::New { name } => template::write(name, config),
        ProblemAction::Check { folder } => check::run(folder, config),
    }
}

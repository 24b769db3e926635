//! One subcommand a file.

mod check;
mod encode;
mod explain;
mod find;
mod guard;

use anyhow::Result;

pub(crate) use check::Tally;
pub(crate) use explain::Explanation;
pub(crate) use guard::Other;

use crate::args::Command;
use crate::render::Output;

/// How a command ended, when it could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to complain about.
    Clean,
    /// Something was found.
    Findings,
}

/// Does what was asked for.
pub(crate) fn run(command: Command, out: &mut Output) -> Result<Outcome> {
    match command {
        Command::Check(args) => check::run(&args, out),
        Command::Encode(args) => encode::run(&args, out),
        Command::Explain(args) => explain::run(&args, out),
        _ => Ok(Outcome::Clean),
    }
}

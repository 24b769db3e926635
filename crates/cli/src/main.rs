//! The `keyplan` command.
//!
//! [`args`] says what was typed, [`command`] does one subcommand a file, and [`render`] owns every byte printed.
//! Exit codes: 0 clean, 1 findings, 2 could not run.

mod args;
mod command;
mod input;
mod interrupt;
mod render;

use std::process::ExitCode;

use clap::Parser;
use keyplan_database::words::placed;

use crate::args::{Args, Command};
use crate::command::Outcome;
use crate::render::Output;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let args = match Args::try_parse_from(placed(words.clone())) {
        Ok(args) => args,
        Err(error) => return render::refused(&error, &words),
    };
    args.color.write_global();
    input::allow(args.imports.into());
    let done = match args.command {
        // It has standard output to itself: its answers are written by another thread.
        Command::Lsp => command::serve_editor(),
        command => {
            let mut out = Output::stdout();
            command::run(command, &mut out).and_then(|outcome| {
                out.flush()?;
                Ok(outcome)
            })
        }
    };
    match done {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        // Whoever read the output has seen enough.
        Err(error) if render::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            render::fatal(&error);
            ExitCode::from(2)
        }
    }
}

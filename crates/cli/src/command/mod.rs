//! One subcommand a file.

mod check;
mod db;
mod decompose;
mod demo;
mod doc;
mod encode;
mod evolve;
mod expand;
mod explain;
#[cfg(feature = "explore")]
mod explore;
mod fmt;
mod generate;
mod infer;
mod init;
mod man;
mod registry;
mod vectors;
mod verify;
mod watch;

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Args, Command};
use crate::render::Output;

/// The reference of the plan language.
const LANGUAGE: &str = keyplan_lsp::REFERENCE;

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
        Command::Verify(args) => verify::run(&args, out),
        Command::Encode(args) => encode::run(&args, out),
        Command::Explain(args) => match &args.decompose {
            Some(file) => decompose::run(file, args.format, out),
            None => explain::run(&args, out),
        },
        #[cfg(feature = "explore")]
        Command::Explore(args) => explore::run(&args, out),
        Command::Release(args) => evolve::release(&args, out),
        Command::Migrate(command) => evolve::migrate(&command, out),
        Command::Fmt(args) => fmt::run(&args, out),
        Command::Infer(args) => infer::run(&args, out),
        Command::Doc(args) => doc::run(&args, out),
        Command::Registry(args) => registry::run(&args, out),
        Command::Expand(args) => expand::run(&args, out),
        Command::Generate(args) => generate::run(&args, out),
        Command::Vectors(command) => vectors::run(&command, out),
        Command::Db(command) => db::run(command, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Init(args) => init::run(&args, out),
        Command::Man { output } => man::run(output.as_deref(), out),
        Command::Lsp => serve_editor(),
        Command::Language => {
            out.raw(LANGUAGE.as_bytes())?;
            Ok(Outcome::Clean)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "keyplan", &mut script);
            out.raw(&script)?;
            Ok(Outcome::Clean)
        }
    }
}

/// Serves an editor on standard input and output, which nothing else may hold.
pub(crate) fn serve_editor() -> Result<Outcome> {
    let (connection, threads) = lsp_server::Connection::stdio();
    keyplan_lsp::serve(&connection).map_err(|error| anyhow::anyhow!("{error}"))?;
    // Its threads end with the connection.
    drop(connection);
    threads.join()?;
    Ok(Outcome::Clean)
}

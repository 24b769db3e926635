//! `keyplan db load`: rows from JSON lines or from a binary dump.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use anyhow::{Result, anyhow};
use keyplan_database::{LoadOptions, is_url, load, on_engine};
use keyplan_report::files::reason;
use keyplan_store::Access;

use super::opened;
use crate::args::db::Load;
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Writes rows from a file or from standard input.
pub(super) fn run(args: &Load, out: &mut Output) -> Result<Outcome> {
    let (from, size): (Box<dyn BufRead>, _) = if args.input == "-" {
        (Box::new(BufReader::with_capacity(1 << 18, io::stdin())), None)
    } else {
        let unreadable = |error: io::Error| anyhow!("cannot read `{}`: {}", args.input, reason(&error));
        let file = File::open(&args.input).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        (Box::new(BufReader::with_capacity(1 << 18, file)), Some(size))
    };
    let (database, plan) = opened(&args.target, Access::ReadWrite)?;
    // On a server there is no directory to keep the place in.
    let directory = Some(args.target.directory.as_path()).filter(|directory| !is_url(directory));
    let options = LoadOptions {
        bind: args.bind.clone(),
        batch: args.batch,
        allow_unknown: args.allow_unknown,
        resume: args.resume,
    };
    let progress = Progress::bytes("loading; when interrupted, --resume continues", size);
    let mut told = |bytes| {
        progress.set(bytes);
        interrupt::goes_on()
    };
    let done = on_engine!(&database, store => load(store, &plan, from, directory, &options, &mut told))?;
    progress.end();
    out.line(&render::loaded(done.rows, done.before))?;
    Ok(Outcome::Clean)
}

use std::ops::ControlFlow;

use anyhow::Result;
use keyplan_report::statistics::Census;
use keyplan_store::Access;

use super::server::Server;
use super::{Database, on_engine};
use crate::args::db::{RowFormat, Stats};
use crate::command::Outcome;
use crate::render::{self, Output, Progress};

/// Counts rows and bytes.
pub(super) fn run(args: &Stats, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        return server.stats(args.source.url.as_deref(), args, out);
    }
    let target = args.source.target();
    let (database, plan) = Database::open(&target, Access::ReadOnly)?;
    let progress = Progress::rows("counting");
    let told = |done| {
        progress.set(done);
        ControlFlow::Continue(())
    };
    let census = on_engine!(&database, store => Census::take(store, &plan, told)?);
    progress.end();
    match args.format {
        RowFormat::Text => out.text(&render::census(&target.directory, &census))?,
        RowFormat::Json => out.json(&render::census_json(&census))?,
    }
    Ok(Outcome::Clean)
}

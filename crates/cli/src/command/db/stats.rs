use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use keyplan_report::statistics::Census;
use keyplan_store::Access;

use super::foreign::Foreign;
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
    if let Some(foreign) = Foreign::open(&args.source)? {
        return of_foreign(&foreign, args, out);
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
    print(Path::new(&super::shown(&target.directory)), &census, args, out)
}

/// Counts rows and bytes of a source that has no plan in it.
fn of_foreign(foreign: &Foreign, args: &Stats, out: &mut Output) -> Result<Outcome> {
    let progress = Progress::rows("counting");
    let told = |done| {
        progress.set(done);
        ControlFlow::Continue(())
    };
    let census = Census::of_source(&*foreign.source, &foreign.plan, &foreign.binding, told)?;
    progress.end();
    let typed =
        [args.source.directory.as_deref(), args.source.plan.as_deref()].map(Option::unwrap_or_default);
    print(Path::new(&typed.join(" --plan ")), &census, args, out)
}

fn print(typed: &Path, census: &Census, args: &Stats, out: &mut Output) -> Result<Outcome> {
    match args.format {
        RowFormat::Text => out.text(&render::census(typed, census))?,
        RowFormat::Json => out.json(&render::census_json(census))?,
    }
    Ok(Outcome::Clean)
}

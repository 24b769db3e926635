use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use keyplan_database::{on_engine, shown};
use keyplan_report::growth;
use keyplan_report::statistics::{Census, CensusError};
use keyplan_store::{Access, StoreError};

use super::server::Server;
use super::{foreign, opened};
use crate::args::db::{RowFormat, Stats};
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output, Progress};

/// Counts rows and bytes.
pub(super) fn run(args: &Stats, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        return server.stats(args.source.url.as_deref(), args, out);
    }
    let progress = Progress::rows("counting");
    let told = |done| {
        progress.set(done);
        interrupt::goes_on()
    };
    if let Some(foreign) = foreign(&args.source)? {
        let census = Census::of_source(&*foreign.source, &foreign.plan, &foreign.binding, told);
        let typed =
            [args.source.directory.as_deref(), args.source.plan.as_deref()].map(Option::unwrap_or_default);
        let census = census.map_err(stopped)?;
        progress.end();
        return print(Path::new(&typed.join(" --plan ")), &census, args, out);
    }
    let target = args.source.target();
    let (database, plan) = opened(&target, Access::ReadOnly)?;
    let census = on_engine!(&database, store => Census::take(store, &plan, told)).map_err(stopped)?;
    progress.end();
    print(Path::new(&shown(&target.directory)), &census, args, out)
}

fn print(typed: &Path, census: &Census, args: &Stats, out: &mut Output) -> Result<Outcome> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let growth = args.since.as_deref().map(|path| growth::since(path, census, now)).transpose()?;
    match args.format {
        RowFormat::Text => {
            out.text(&render::census(typed, census))?;
            if args.detail {
                out.text(&render::details(census))?;
            }
            if let Some(growth) = &growth {
                out.text(&render::growth(growth.as_ref()))?;
            }
        }
        RowFormat::Json => out.json(&render::census_json(census, growth.flatten().as_ref()))?,
    }
    Ok(Outcome::Clean)
}

fn stopped(error: CensusError) -> anyhow::Error {
    match error {
        CensusError::Stopped { .. } | CensusError::Store(StoreError::Stopped { .. }) => {
            interrupt::ended(error)
        }
        error => error.into(),
    }
}

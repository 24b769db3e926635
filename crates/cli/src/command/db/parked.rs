//! `keyplan db parked`: the rows that migrations have set aside.

use anyhow::Result;
use keyplan_database::{AnyEngine, Opening, on_any_engine};
use keyplan_store::engine::Engine;
use keyplan_store::migrate::visit_parked;

use crate::args::ExplainFormat;
use crate::args::evolve::DbParked;
use crate::command::Outcome;
use crate::render::{self, Output};

/// Lists them. The database may be in the middle of a migration.
pub(super) fn run(args: &DbParked, out: &mut Output) -> Result<Outcome> {
    let engine = AnyEngine::open(&args.directory, Opening::Read)?;
    on_any_engine!(engine, engine => list(&engine, args.format, out))
}

fn list<E: Engine>(engine: &E, format: ExplainFormat, out: &mut Output) -> Result<Outcome> {
    let mut written: Result<()> = Ok(());
    let rows = visit_parked(engine, |row| {
        if written.is_ok() {
            written = match format {
                ExplainFormat::Text => out.line(&render::parked(&row)).map_err(Into::into),
                ExplainFormat::Json => render::parked_json(&row)
                    .map_err(Into::into)
                    .and_then(|json| out.raw(&json).map_err(Into::into)),
            };
        }
    })?;
    written?;
    if format == ExplainFormat::Text {
        out.line(&render::parked_summary(rows))?;
    }
    Ok(Outcome::Clean)
}

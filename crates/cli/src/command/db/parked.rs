//! `keyplan db parked`: the rows that migrations have set aside.

use anyhow::{Context as _, Result, bail};
use keyplan_store::engine::{Engine, Fjall, FjallSettings, Lmdb, LmdbSettings, Redb, RedbSettings};
use keyplan_store::migrate::visit_parked;

use super::{Opening, on_remote};
use crate::args::ExplainFormat;
use crate::args::evolve::DbParked;
use crate::command::Outcome;
use crate::render::{self, Output};

/// Lists them. The database may be in the middle of a migration.
pub(super) fn run(args: &DbParked, out: &mut Output) -> Result<Outcome> {
    let directory = &args.directory;
    let refused = || format!("cannot open `{}`", super::shown(directory));
    if let Some(settings) = super::remote::settings(directory)? {
        return on_remote!(settings, Opening::Read, engine => {
            list(&engine.with_context(refused)?, args.format, out)
        });
    }
    if Fjall::exists(directory) {
        let engine = Fjall::open_read_only(directory, FjallSettings::default()).with_context(refused)?;
        list(&engine, args.format, out)
    } else if Redb::exists(directory) {
        let engine = Redb::open_read_only(directory, RedbSettings::default()).with_context(refused)?;
        list(&engine, args.format, out)
    } else if super::is_lmdb(directory) {
        let engine = Lmdb::open_read_only(directory, LmdbSettings::default()).with_context(refused)?;
        list(&engine, args.format, out)
    } else {
        bail!("`{}` is not a database; `keyplan db create {0} PLAN` makes one", directory.display());
    }
}

fn list<E: Engine>(engine: &E, format: ExplainFormat, out: &mut Output) -> Result<Outcome> {
    let mut written = Ok(());
    let rows = visit_parked(engine, |row| {
        if written.is_ok() {
            written = match format {
                ExplainFormat::Text => out.line(&render::parked(&row)).map_err(Into::into),
                ExplainFormat::Json => {
                    render::parked_json(&row).and_then(|json| out.raw(&json).map_err(Into::into))
                }
            };
        }
    })?;
    written?;
    if format == ExplainFormat::Text {
        out.line(&render::parked_summary(rows))?;
    }
    Ok(Outcome::Clean)
}

//! `keyplan db get`: one row.

use anyhow::{Result, anyhow};
use keyplan_database::structure::{self, Listed};
use keyplan_database::{Error, GotRow, RowQuery, find, get_row};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::Plan;
use keyplan_report::row::{ValueDigits, View, row_json};
use keyplan_report::structure::is_structured;
use keyplan_store::Access;

use super::scan::found;
use super::server::Server;
use super::structure::printed;
use super::{foreign, opened, planless};
use crate::args::db::{Get, RowFormat};
use crate::command::Outcome;
use crate::render::{self, Length, Output};

/// Reads one row.
pub(super) fn run(args: &Get, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        return server.get(args, out);
    }
    if let Some(typed) = &args.raw
        && let Some(source) = planless(&args.source)?
    {
        return super::raw::get(&*source, args, typed, out);
    }
    if let Some(foreign) = foreign(&args.source)? {
        if args.raw.is_none() {
            foreign.refuse_structures(find::family(&foreign.plan, family_name(args)?)?.0)?;
        }
        return row(args, &foreign.plan, |index, key| foreign.get(index, key), out);
    }
    let (database, plan) = opened(&args.source.target(), Access::ReadOnly)?;
    if args.raw.is_none() {
        let name = family_name(args)?;
        let (index, _) = find::family(&plan, name)?;
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            let read = database.structures(space)?;
            let take = &mut |listed: Listed<'_>| printed(listed, args.format, Length::Whole, out);
            return Ok(found(structure::get(&*read, &plan, name, &args.asked.values, take)?));
        }
    }
    let value = |index: usize, key: &[u8]| {
        let Some(space) = plan.spaces.get(index) else { return Ok(None) };
        database.get(space.engine_name(), key)
    };
    row(args, &plan, value, out)
}

fn family_name(args: &Get) -> Result<&str> {
    args.asked.family.as_deref().ok_or_else(|| anyhow!("name a family, and the arguments of its key"))
}

/// Finds and prints the row that was named.
fn row(
    args: &Get,
    plan: &Plan,
    value: impl Fn(usize, &[u8]) -> Result<Option<Vec<u8>>, Error>,
    out: &mut Output,
) -> Result<Outcome> {
    let query = match &args.raw {
        Some(key) => RowQuery::Raw { space: args.space.as_deref(), key },
        None => RowQuery::Typed { family: family_name(args)?, values: &args.asked.values },
    };
    match get_row(plan, &query, value)? {
        GotRow::NoRow { family, values, key } => render::message(&render::no_row(family, &values, &key)),
        GotRow::NoKey { space, key } => render::message(&render::no_raw_row(space, &key)),
        GotRow::Row { space: index, key, value, decoded } => {
            let space = plan.spaces.get(index).map_or("", |space| space.name.as_str());
            let view = View { space, key: &key, value: &value, decoded: &decoded };
            match args.format {
                RowFormat::Text if args.raw.is_some() => out.line(&render::row_text(&view, Length::Whole))?,
                RowFormat::Text => out.line(&render::value_text(&view, Length::Whole))?,
                RowFormat::Json => {
                    let mut line = Vec::new();
                    let whole = view.is_unambiguous(&Decoder::new(plan), index);
                    row_json(&mut line, &view, whole, ValueDigits::Decoded);
                    out.json(&line)?;
                }
            }
            return Ok(Outcome::Clean);
        }
    }
    Ok(Outcome::Findings)
}

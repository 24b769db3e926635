//! `keyplan db get`: one row.

use anyhow::{Result, anyhow, bail};
use keyplan_database::find;
use keyplan_database::structure::{self, Listed};
use keyplan_database::typed::{assignments, typed_key};
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::Plan;
use keyplan_report::key_text::{self, KeyText};
use keyplan_report::row::{ValueDigits, View, row_json};
use keyplan_report::structure::is_structured;
use keyplan_store::Access;

use super::scan::found;
use super::server::Server;
use super::structure::printed;
use super::{foreign, opened, planless};
use crate::args::db::{Get, RowFormat};
use crate::command::Outcome;
use crate::render::{self, Output};

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
        return row(args, &foreign.plan, |index, key| Ok(foreign.get(index, key)?), out);
    }
    let (database, plan) = opened(&args.source.target(), Access::ReadOnly)?;
    if args.raw.is_none() {
        let name = family_name(args)?;
        let (index, _) = find::family(&plan, name)?;
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            let read = database.structures(space)?;
            let take = &mut |listed: Listed<'_>| printed(listed, args.format, out);
            return Ok(found(structure::get(&*read, &plan, name, &args.asked.values, take)?));
        }
    }
    let value = |index: usize, key: &[u8]| -> Result<Option<Vec<u8>>> {
        let Some(space) = plan.spaces.get(index) else { return Ok(None) };
        Ok(database.get(space.engine_name(), key)?)
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
    value: impl Fn(usize, &[u8]) -> Result<Option<Vec<u8>>>,
    out: &mut Output,
) -> Result<Outcome> {
    if let Some(typed) = &args.raw {
        return raw(args, typed, plan, value, out);
    }
    let (index, family) = find::family(plan, family_name(args)?)?;
    let (key, values) = typed_key(plan, family, &assignments(&args.asked.values)?)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    let Some(value) = value(index, &key)? else {
        render::message(&render::no_row(family, &values, &key));
        return Ok(Outcome::Findings);
    };
    let decoded = Ok(Decoded { space, family, values });
    let view = View { space: &space.name, key: &key, value: &value, decoded: &decoded };
    print(args, plan, index, &view, out)
}

/// Reads the row with a key that is given in bytes.
fn raw(
    args: &Get,
    typed: &str,
    plan: &Plan,
    value: impl Fn(usize, &[u8]) -> Result<Option<Vec<u8>>>,
    out: &mut Output,
) -> Result<Outcome> {
    let index = match (&args.space, plan.spaces.len()) {
        (Some(name), _) => find::space(plan, name)?,
        (None, 1) => 0,
        (None, _) => bail!("plan `{}` has several spaces: name one with --space", plan.name),
    };
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    let mut key = Vec::new();
    key_text::read(typed.as_bytes(), KeyText::Hex, &mut key)
        .map_err(|error| anyhow!("`{typed}`: {error}"))?;
    let Some(value) = value(index, &key)? else {
        render::message(&render::no_raw_row(&space.name, &key));
        return Ok(Outcome::Findings);
    };
    let decoded = Decoder::new(plan).decode(index, &key);
    let view = View { space: &space.name, key: &key, value: &value, decoded: &decoded };
    if args.format == RowFormat::Text {
        out.line(&render::row_text(&view))?;
        return Ok(Outcome::Clean);
    }
    print(args, plan, index, &view, out)
}

fn print(args: &Get, plan: &Plan, index: usize, view: &View<'_, '_>, out: &mut Output) -> Result<Outcome> {
    match args.format {
        RowFormat::Text => out.line(&render::value_text(view))?,
        RowFormat::Json => {
            let mut line = Vec::new();
            let whole = view.is_unambiguous(&Decoder::new(plan), index);
            row_json(&mut line, view, whole, ValueDigits::Decoded);
            out.json(&line)?;
        }
    }
    Ok(Outcome::Clean)
}

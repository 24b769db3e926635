//! `keyplan db get`: one row.

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::Plan;
use keyplan_store::Access;

use super::foreign::{Foreign, planless};
use super::row::typed_key;
use super::server::Server;
use super::structure::{self, is_structured};
use super::{Database, View, on_engine};
use crate::args::InputFormat;
use crate::args::db::{Get, RowFormat};
use crate::command::encode::assignments;
use crate::command::{Outcome, find};
use crate::render::{self, Output};
use crate::{input, key_text};

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
    if let Some(foreign) = Foreign::open(&args.source)? {
        if args.raw.is_none() {
            foreign.refuse_structures(find::family(&foreign.plan, family_name(args)?)?.0)?;
        }
        return row(args, &foreign.plan, |index, key| foreign.get(index, key), out);
    }
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
    if args.raw.is_none() {
        let name = family_name(args)?;
        let (index, _) = find::family(&plan, name)?;
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            let read = database.structures(space)?;
            return structure::get(&*read, &plan, name, &args.asked.values, args.format, out);
        }
    }
    let value = |index: usize, key: &[u8]| -> Result<Option<Vec<u8>>> {
        let Some(space) = plan.spaces.get(index) else { return Ok(None) };
        on_engine!(&database, store => {
            let id = store.space(space.engine_name())?;
            Ok(store.snapshot()?.get(id, key)?.map(|value| value.to_vec()))
        })
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
        (Some(name), _) => input::space(plan, name)?,
        (None, 1) => 0,
        (None, _) => bail!("plan `{}` has several spaces: name one with --space", plan.name),
    };
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    let mut key = Vec::new();
    key_text::read(typed.as_bytes(), InputFormat::Hex, &mut key)
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
            render::row_json(&mut line, view, whole, render::ValueDigits::Decoded);
            out.json(&line)?;
        }
    }
    Ok(Outcome::Clean)
}

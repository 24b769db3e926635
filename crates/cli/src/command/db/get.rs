//! `keyplan db get`: one row.

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::Plan;
use keyplan_store::Access;

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
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
    if let Some(typed) = &args.raw {
        return raw(args, typed, &database, &plan, out);
    }
    let name =
        args.asked.family.as_deref().ok_or_else(|| anyhow!("name a family, and the arguments of its key"))?;
    let (index, family) = find::family(&plan, name)?;
    if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
        let read = database.structures(space)?;
        return structure::get(&*read, &plan, name, &args.asked.values, args.format, out);
    }
    let (key, values) = typed_key(&plan, family, &assignments(&args.asked.values)?)?;
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    let found = on_engine!(&database, store => {
        let id = store.space(space.engine_name())?;
        store.snapshot()?.get(id, &key)?.map(|value| value.to_vec())
    });
    let Some(value) = found else {
        render::message(&render::no_row(family, &values, &key));
        return Ok(Outcome::Findings);
    };
    let decoded = Ok(Decoded { space, family, values });
    let view = View { space: &space.name, key: &key, value: &value, decoded: &decoded };
    print(args, &plan, index, &view, out)
}

/// Reads the row with a key that is given in bytes.
fn raw(args: &Get, typed: &str, database: &Database, plan: &Plan, out: &mut Output) -> Result<Outcome> {
    let index = match (&args.space, plan.spaces.len()) {
        (Some(name), _) => input::space(plan, name)?,
        (None, 1) => 0,
        (None, _) => bail!("plan `{}` has several spaces: name one with --space", plan.name),
    };
    let Some(space) = plan.spaces.get(index) else { return Ok(Outcome::Findings) };
    let mut key = Vec::new();
    key_text::read(typed.as_bytes(), InputFormat::Hex, &mut key)
        .map_err(|error| anyhow!("`{typed}`: {error}"))?;
    let found = on_engine!(database, store => {
        let id = store.space(space.engine_name())?;
        store.snapshot()?.get(id, &key)?.map(|value| value.to_vec())
    });
    let Some(value) = found else {
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

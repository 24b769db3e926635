use anyhow::{Result, anyhow};
use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_store::Access;

use super::row::typed_key;
use super::server::Server;
use super::structure::{self, is_structured};
use super::{Database, View, on_engine};
use crate::args::db::{Get, RowFormat};
use crate::command::encode::assignments;
use crate::command::{Outcome, find};
use crate::render::{self, Output};

/// Reads one row.
pub(super) fn run(args: &Get, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        return server.get(args, out);
    }
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
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
    match args.format {
        RowFormat::Text => out.line(&render::value_text(&view))?,
        RowFormat::Json => {
            let mut line = Vec::new();
            let whole = view.is_unambiguous(&Decoder::new(&plan), index);
            render::row_json(&mut line, &view, whole, render::ValueDigits::Hex);
            out.json(&line)?;
        }
    }
    Ok(Outcome::Clean)
}

use anyhow::{Result, bail};
use keyplan_database::structure::refuse_structured;
use keyplan_database::typed::{assignments, divided, typed_key, typed_value};
use keyplan_database::{find, on_engine};
use keyplan_plan::dynamic::{Decoder, other_key};
use keyplan_store::Access;
use keyplan_store::engine::Durability;

use super::opened;
use crate::args::db::Put;
use crate::command::Outcome;
use crate::render::{self, Output};

/// Writes one row.
pub(super) fn run(args: &Put, out: &mut Output) -> Result<Outcome> {
    let (database, plan) = opened(&args.target, Access::ReadWrite)?;
    let (index, family) = find::family(&plan, &args.family)?;
    if let Some(why) = &family.retired {
        bail!("`{}` is retired: {why}", family.path);
    }
    refuse_structured(&plan, index, family)?;
    let given = assignments(&args.values)?;
    let (of_key, of_value) = divided(family, &given);
    let (key, values) = typed_key(&plan, family, &of_key)?;
    let value = typed_value(&plan, family, &of_value)?;
    if !args.unguarded
        && let Some(other) = other_key(&Decoder::new(&plan), index, family, &values, &key)
    {
        let help = "--unguarded writes it anyway";
        render::message(&render::refusal(&family.path, &family.key, &values, &key, &other, help));
        return Ok(Outcome::Findings);
    }
    let space = plan.spaces.get(index).map_or("", |space| space.engine_name());
    on_engine!(&database, store => {
        let mut batch = store.batch()?;
        batch.put_row(store.space(space)?, &key, &value);
        batch.commit(Durability::SyncAll)?;
    });
    out.line(&render::written(&family.path, key.len(), value.len()))?;
    Ok(Outcome::Clean)
}

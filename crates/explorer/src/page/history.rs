//! One key over all heights that are kept.

use std::sync::Arc;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::notation::hex;
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::show::{SHOWN, cut, preview};

/// How many changes are listed.
const MOST: usize = 500;

/// What became of a key, the latest first.
pub(super) fn history(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let Some(multistore) = &explorer.database.multistore else {
        let kind = explorer.database.source.kind();
        return Err(Problem::Absent(format!("a {kind} database keeps one state: there is no history")));
    };
    let key = params.hex("key")?.ok_or_else(|| Problem::Asked("`key` is missing".to_owned()))?;
    let name = params.need("space")?;
    let index = reading.plan.spaces.iter().position(|space| space.name == name);
    let index = index.ok_or_else(|| Problem::Absent(format!("there is no space `{name}` in the plan")))?;
    let source = explorer.source(0, None)?;
    let binding = explorer.binding(&reading, &*source)?;
    let bound = binding.pairs.iter().find(|(plan, _)| *plan == index).map(|(_, id)| *id);
    let store = bound
        .and_then(|id| source.spaces().into_iter().find(|space| source.space(&space.name) == Some(id)))
        .ok_or_else(|| Problem::Absent(format!("no space of the database is `{name}` of the plan")))?;
    let mut changes = multistore.at.history(&store.name, &key).map_err(Problem::failed)?;
    changes.reverse();
    let reader = Decoder::new(&reading.plan);
    let decoded = reader.decode(index, &key).ok();
    let layout = decoded.as_ref().and_then(|decoded| decoded.family.value.as_ref());
    let shown: Vec<Json> = changes
        .iter()
        .take(MOST)
        .map(|change| {
            let value = change.value.as_deref();
            json!({
                "version": change.version,
                "seen": change.seen,
                "length": value.map(<[u8]>::len),
                "value": value.map(|value| preview(layout, value)),
                "hex": value.map(|value| cut(&hex(value), SHOWN)),
            })
        })
        .collect();
    Ok(json!({
        "key": hex(&key), "space": name, "store": store.name, "changes": shown, "more": changes.len() > MOST,
        "first": multistore.heights.first(), "last": multistore.heights.last(),
    }))
}

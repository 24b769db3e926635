//! Keys that no family makes, and keys with two readings, in groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyplan_plan::notation::hex;
use keyplan_report::structure::{is_structured, row_key};
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::walk::{Group, Walk};

/// How many examples of a group are listed.
const SHOWN: usize = 5;

/// Keys that no family makes, by the byte where they break.
pub(super) fn unread(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let walk = explorer.walk(params)?;
    let tally = walk.tally();
    Ok(page(&walk, &tally.unread, tally.state.word(), tally.beyond))
}

/// Keys with two readings, by the families that make them.
pub(super) fn several(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let walk = explorer.walk(params)?;
    let tally = walk.tally();
    Ok(page(&walk, &tally.several, tally.state.word(), tally.beyond))
}

fn page(walk: &Walk, groups: &BTreeMap<(usize, String), Group>, state: &str, beyond: u64) -> Json {
    let mut all: Vec<&Group> = groups.values().collect();
    all.sort_by(|one, other| {
        other.counts.rows.cmp(&one.counts.rows).then_with(|| one.label.cmp(&other.label))
    });
    let shown: Vec<Json> = all.iter().map(|group| json_of(walk, group)).collect();
    let rows: u64 = all.iter().map(|group| group.counts.rows).sum();
    json!({ "state": state, "rows": rows, "groups": shown, "beyond": beyond })
}

fn json_of(walk: &Walk, group: &Group) -> Json {
    let space = walk.reading.plan.spaces.get(group.space);
    let structured = space.is_some_and(is_structured);
    let key = |row: &Vec<u8>| hex(if structured { row_key(row).unwrap_or(row) } else { row });
    json!({
        "space": space.map(|space| space.name.as_str()),
        "group": group.label,
        "families": group.families,
        "offset": group.offset,
        "message": group.message,
        "rows": group.counts.rows,
        "bytes": group.counts.bytes(),
        "shortest": group.shortest,
        "longest": group.longest,
        "examples": group.examples.iter().take(SHOWN).map(key).collect::<Vec<_>>(),
    })
}

//! The database, the plan and all families; how far the walk is.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyplan_plan::model::{Family, Space};
use keyplan_plan::notation::{Notation, first_sentence, hex};
use keyplan_report::structure::is_structured;
use serde_json::{Value as Json, json};

use super::scan;
use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::walk::{Counts, State};

/// How many families a page lists.
const FAMILIES: usize = 4000;

/// Everything that does not take a walk.
pub(super) fn overview(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let source = explorer.source(0, params.height()?)?;
    let binding = explorer.binding(&reading, &*source)?;
    let theirs = source.spaces();
    let mut room = FAMILIES;
    let spaces: Vec<Json> = reading
        .plan
        .spaces
        .iter()
        .enumerate()
        .map(|(index, space)| {
            let bound = binding.pairs.iter().find(|(plan, _)| *plan == index).map(|(_, id)| *id);
            let name = bound
                .and_then(|id| theirs.iter().find(|their| source.space(&their.name) == Some(id)))
                .map(|their| their.name.clone());
            let shown = space.families.len().min(room);
            room -= shown;
            json!({
                "name": space.name,
                "source_space": name,
                "doc": first_sentence(&space.doc),
                "structured": is_structured(space),
                "modules": space.modules.iter().map(|module| json!({
                    "path": module.path, "prefix": hex(&module.prefix), "doc": first_sentence(&module.doc),
                })).collect::<Vec<_>>(),
                "families": space.families.iter().take(shown).map(|one| family(&reading, space, one)).collect::<Vec<_>>(),
                "more": space.families.len() - shown,
            })
        })
        .collect();
    let heights = explorer.database.multistore.as_ref().map(|multistore| {
        let last = multistore.heights.len().saturating_sub(1000);
        json!({
            "all": multistore.heights.get(last..),
            "at": params.height().ok().flatten().unwrap_or_else(|| multistore.at.commit().version),
            "app_hash": const_hex::encode(multistore.at.commit().app_hash()),
        })
    });
    let file = reading.sources().files().first().map(|file| file.name.clone());
    Ok(json!({
        "version": 1,
        "name": explorer.database.name,
        "kind": source.kind(),
        "plan": {
            "name": reading.plan.name, "file": file, "fingerprint": reading.plan.fingerprint().to_string(),
            "draft": explorer.settings.draft, "doc": first_sentence(&reading.plan.doc),
        },
        "proof": proof(&reading),
        "heights": heights,
        "others": explorer.settings.others.iter().map(|other| json!({
            "name": other.name, "kind": other.source.kind(),
            "heights": other.multistore.as_ref().map(|multistore| multistore.heights.clone()),
        })).collect::<Vec<_>>(),
        "spaces": spaces,
        "unread_spaces": binding.unread,
        "absent_spaces": binding.absent,
        "writes": explorer.settings.write && explorer.settings.plan_file.is_some(),
        "notes": explorer.settings.notes.as_ref().map(|path| path.display().to_string()),
    }))
}

fn family(reading: &Reading, space: &Space, family: &Family) -> Json {
    let module = family.module.and_then(|id| space.modules.get(id.0)).map(|module| module.path.as_str());
    json!({
        "path": family.path,
        "name": family.name,
        "module": module,
        "kind": family.kind.keyword(),
        "doc": first_sentence(&family.doc),
        "layout": Notation::of(&reading.plan).parts(&family.key),
        "prefix": hex(&family.key.literal_prefix()),
        "retired": family.retired,
        "mark": mark(reading, family),
    })
}

/// The worst that is known of a family.
fn mark(reading: &Reading, family: &Family) -> &'static str {
    let mut worst = "proved";
    for statement in reading.statements(&family.path) {
        match scan::mark_of(&reading.plan, statement) {
            "refuted" => return "refuted",
            "unknown" => worst = "unknown",
            "accepted" if worst != "unknown" => worst = "accepted",
            _ => {}
        }
    }
    worst
}

/// How many statements hold.
pub(super) fn proof(reading: &Reading) -> Json {
    let mut marks: BTreeMap<&str, u64> = BTreeMap::new();
    for statement in reading.checked.statements() {
        *marks.entry(scan::mark_of(&reading.plan, statement)).or_default() += 1;
    }
    let count = |mark: &str| marks.get(mark).copied().unwrap_or_default();
    json!({
        "holds": count("proved"), "assumed": count("assumed"), "refuted": count("refuted"),
        "accepted": count("accepted"), "unknown": count("unknown"), "endless": count("endless"),
        "findings": reading.checked.findings.len(),
    })
}

fn counts(counts: Counts) -> Json {
    json!({
        "rows": counts.rows, "keys": counts.keys, "key_bytes": counts.key_bytes,
        "value_bytes": counts.value_bytes, "bytes": counts.bytes(),
    })
}

/// How far the walk is, and what it counted.
pub(super) fn walk(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let walk = explorer.walk(params)?;
    let tally = walk.tally();
    let plan = &walk.reading.plan;
    let mut families = Vec::new();
    for (index, space) in plan.spaces.iter().enumerate() {
        let whole = tally.whole.get(index).copied().unwrap_or_default();
        for (family, counted) in space.families.iter().zip(tally.families.get(index).into_iter().flatten()) {
            if counted.rows > 0 || plan.spaces.len() * space.families.len() < FAMILIES {
                let mut one = counts(*counted);
                if let Some(object) = one.as_object_mut() {
                    object.insert("path".to_owned(), json!(family.path));
                    object.insert("exact".to_owned(), json!(whole));
                }
                families.push(one);
            }
        }
    }
    let why = match &tally.state {
        State::Failed(why) => Some(why.clone()),
        _ => None,
    };
    Ok(json!({
        "state": tally.state.word(),
        "why": why,
        "took_ms": u64::try_from(tally.took.as_millis()).unwrap_or(u64::MAX),
        "total": counts(tally.total),
        "families": families,
        "unread": { "counts": counts(tally.unread_total()), "groups": tally.unread.len() },
        "several": { "counts": counts(tally.several_total()), "groups": tally.several.len() },
        "beyond": tally.beyond,
    }))
}

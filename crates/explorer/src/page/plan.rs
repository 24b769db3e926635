//! The plan: its text, what is proved of it, its findings and its allotments.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyplan_plan::model::{Module, ModuleId, Space};
use keyplan_plan::notation::hex;
use keyplan_report::findings::{Checked, finding_json};
use serde_json::{Value as Json, json};

use super::{overview, scan};
use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::show::{field, make_visible};

/// How many statements a page lists.
const STATEMENTS: usize = 5000;
/// How many findings.
const FINDINGS: usize = 200;

/// The whole page.
pub(super) fn plan(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let files: Vec<Json> = reading
        .sources()
        .files()
        .iter()
        .map(|file| json!({ "name": file.name, "text": file.text }))
        .collect();
    Ok(json!({
        "name": reading.plan.name,
        "fingerprint": reading.plan.fingerprint().to_string(),
        "files": files,
        "writes": explorer.settings.write && explorer.settings.plan_file.is_some(),
        "proof": overview::proof(&reading),
        "table": table(&reading),
        "findings": findings(&reading.checked),
        "allotments": reading.plan.spaces.iter().map(allotments).collect::<Vec<_>>(),
    }))
}

/// A line per family: the verdict on each guarantee, and every statement that is not simply proved.
pub(super) fn table(reading: &Reading) -> Json {
    let mut lines: BTreeMap<(usize, &str), BTreeMap<&str, &'static str>> = BTreeMap::new();
    let order: BTreeMap<&str, usize> =
        reading.plan.families().enumerate().map(|(at, (_, family))| (family.path.as_str(), at)).collect();
    let rank = |mark: &str| match mark {
        "refuted" => 4,
        "unknown" => 3,
        "accepted" => 2,
        "assumed" | "endless" => 1,
        _ => 0,
    };
    let mut claims = Vec::new();
    for statement in reading.checked.statements().take(STATEMENTS) {
        let mark = scan::mark_of(&reading.plan, statement);
        let at = order.get(statement.family.as_str()).copied().unwrap_or(usize::MAX);
        let line = lines.entry((at, statement.family.as_str())).or_default();
        let cell = line.entry(statement.guarantee.code()).or_insert("proved");
        if rank(mark) > rank(cell) {
            *cell = mark;
        }
        if mark != "proved" {
            claims.push(scan::claim(reading, statement));
        }
    }
    let lines: Vec<Json> =
        lines.into_iter().map(|((_, family), cells)| json!({ "family": family, "marks": cells })).collect();
    let codes: Vec<Json> = keyplan_prover::Guarantee::ALL
        .iter()
        .map(|guarantee| json!({ "code": guarantee.code(), "words": scan::words(guarantee.code()) }))
        .collect();
    json!({ "guarantees": codes, "families": lines, "claims": claims })
}

/// What is wrong, with both keys and what cures it.
pub(super) fn findings(checked: &Checked) -> Json {
    let (plan, sources) = (checked.compiled.plan.as_ref(), &checked.compiled.sources);
    let one = |found: &keyplan_prover::Found| {
        let mut json = json!(finding_json(plan, sources, found));
        make_visible(&mut json);
        json
    };
    checked.findings.iter().take(FINDINGS).map(one).collect()
}

/// What each number of the modules of a space is used for.
fn allotments(space: &Space) -> Json {
    let own = space.families.iter().filter(|family| family.module.is_none());
    let mut maps = vec![map(space, &space.name, &[], own.collect(), None)];
    for (index, module) in space.modules.iter().enumerate() {
        let families =
            space.families.iter().filter(|family| family.module == Some(ModuleId(index))).collect();
        maps.push(map(space, &module.path, &module.prefix, families, Some(module)));
    }
    json!({ "space": space.name, "maps": maps })
}

fn map(
    space: &Space,
    path: &str,
    prefix: &[u8],
    families: Vec<&keyplan_plan::model::Family>,
    module: Option<&Module>,
) -> Json {
    let mut cells: BTreeMap<u8, Json> = BTreeMap::new();
    for allotment in module.iter().flat_map(|module| &module.allotments) {
        for number in allotment.first..=allotment.last {
            cells.insert(number, json!({ "use": "set aside", "what": allotment.name }));
        }
    }
    let retired = module.map_or(&space.retired, |module| &module.retired);
    for one in retired {
        if let Some(number) = one.prefix.get(prefix.len()) {
            cells.insert(*number, json!({ "use": "retired", "what": one.why }));
        }
    }
    for inner in &space.modules {
        if inner.path != path
            && inner.prefix.starts_with(prefix)
            && let Some(number) = inner.prefix.get(prefix.len())
        {
            cells.insert(*number, json!({ "use": "module", "what": inner.path }));
        }
    }
    for family in families {
        let literal = family.key.literal_prefix();
        if let Some(number) = literal.get(prefix.len()).filter(|_| literal.starts_with(prefix)) {
            let what = match cells.get(number) {
                Some(taken) if field(taken, "use") == "family" => {
                    format!("{}, {}", field(taken, "what").as_str().unwrap_or_default(), family.path)
                }
                _ => family.path.clone(),
            };
            cells.insert(*number, json!({ "use": "family", "what": what }));
        }
    }
    let free = 256 - cells.len();
    json!({
        "path": path,
        "prefix": hex(prefix),
        "free": free,
        "numbers": cells.into_iter().map(|(number, mut cell)| {
            if let Some(cell) = cell.as_object_mut() {
                cell.insert("number".to_owned(), json!(number));
            }
            cell
        }).collect::<Vec<_>>(),
    })
}

//! Two databases, or two heights of one, row by row.

use std::convert::Infallible;
use std::sync::Arc;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::notation::hex;
use keyplan_report::diff::{Change, ChangeKind, diff, pairs_of_plan};
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::show::{CELL, cells, make_visible, preview};

/// How many changed rows of a family are kept; all are counted.
const KEPT: usize = 200;
/// How many changed rows are kept in all.
const KEPT_IN_ALL: usize = 5000;

/// `1@100` is the second database at height 100; `@100` the first at that height.
fn side(
    explorer: &Explorer,
    text: &str,
) -> Result<(Arc<dyn keyplan_store::source::Source>, String), Problem> {
    let (which, height) = text.split_once('@').map_or((text, None), |(which, height)| (which, Some(height)));
    let number = |text: &str| text.parse().map_err(|_| Problem::Asked(format!("`{text}` is not a number")));
    let which: usize = if which.is_empty() { 0 } else { number(which)? };
    let height: Option<u64> = match height {
        Some(text) => Some(text.parse().map_err(|_| Problem::Asked(format!("`{text}` is not a height")))?),
        None => None,
    };
    let source = explorer.source(which, height)?;
    let database = which.checked_sub(1).and_then(|other| explorer.settings.others.get(other));
    let name = &database.unwrap_or(&explorer.database).name;
    Ok((source, height.map_or_else(|| name.clone(), |height| format!("{name}@{height}"))))
}

/// Compares what `a` and `b` name.
pub(crate) fn ask(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let (a, b) = (params.get("a").unwrap_or("0"), params.need("b")?);
    let (before, before_name) = side(explorer, a)?;
    let (after, after_name) = side(explorer, b)?;
    let pairs = pairs_of_plan(
        &reading.plan,
        &explorer.binding(&reading, &*before)?,
        &explorer.binding(&reading, &*after)?,
    );
    let name = format!("diff a={a}&b={b}&{}", params.get("trial").unwrap_or_default());
    explorer.jobs.ask(name, params.flag("again"), move |told| {
        let decoder = Decoder::new(&reading.plan);
        let mut kept: std::collections::BTreeMap<String, Vec<Json>> = std::collections::BTreeMap::new();
        let mut room = KEPT_IN_ALL;
        let each = |change: &Change<'_, '_>| -> Result<(), Infallible> {
            let family = kept.entry(change.family().to_owned()).or_default();
            if family.len() < KEPT && room > 0 {
                room -= 1;
                family.push(changed(change));
            }
            Ok(())
        };
        let summary = diff(&*before, &*after, &pairs, Some(&decoder), each, |rows| told.rows(rows));
        let summary = summary.map_err(|error| error.to_string())?;
        let families: Vec<Json> = summary
            .families
            .iter()
            .map(|(family, counts)| {
                let columns = reading.family(family).map(|(_, family)| crate::page::columns(&reading, family));
                json!({
                    "family": family, "added": counts.added, "removed": counts.removed, "changed": counts.changed,
                    "columns": columns, "rows": kept.get(family),
                })
            })
            .collect();
        Ok(json!({
            "a": before_name, "b": after_name, "rows_a": summary.before, "rows_b": summary.after,
            "same": summary.same, "families": families,
        }))
    })
}

fn changed(change: &Change<'_, '_>) -> Json {
    let kind = match change.kind() {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
    };
    let decoded = change.decoded.as_ref();
    let layout = decoded.and_then(|decoded| decoded.family.value.as_ref());
    let shown = |bytes: Option<&[u8]>| bytes.map(|bytes| preview(layout, bytes));
    let (mut before, mut after) = (shown(change.before), shown(change.after));
    if before == after && before.is_some() {
        // What differs is not in what is shown: the bytes themselves are.
        let raw = |bytes: Option<&[u8]>| bytes.map(|bytes| crate::show::cut(&hex(bytes), CELL));
        (before, after) = (raw(change.before), raw(change.after));
    }
    let mut fields = json!(change.fields());
    make_visible(&mut fields);
    json!({
        "kind": kind,
        "space": change.space,
        "key": hex(change.key),
        "cells": decoded.map(|decoded| cells(&decoded.family.key, &decoded.values)),
        "fields": fields,
        "before": before,
        "after": after,
    })
}

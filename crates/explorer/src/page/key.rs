//! Everything about one key: what it means, which bytes are what, and its value.

use std::sync::Arc;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::explain::{explain, front};
use keyplan_plan::notation::{Notation, assignments, escaped, first_sentence, hex};
use keyplan_report::explain_json::why;
use keyplan_report::structure::{is_structured, kind};
use keyplan_store::source::View;
use serde_json::{Value as Json, json};

use super::{Place, columns};
use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::show::{SHOWN, arguments, cells, cut, field, lanes, value};

/// The longest key that is taken apart.
const LONGEST: usize = 1 << 16;
/// How many bytes of a value are sent at once.
const CHUNK: usize = 1 << 16;

/// A key in one space, or in all.
pub(super) fn key(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let key = params.hex("key")?.ok_or_else(|| Problem::Asked("`key` is missing".to_owned()))?;
    if key.len() > LONGEST {
        return Err(Problem::Asked(format!(
            "a key of {} bytes is longer than any that is looked at",
            key.len()
        )));
    }
    let source = explorer.source(0, params.height()?)?;
    let view = source.view().map_err(Problem::failed)?;
    let reader = Decoder::new(&reading.plan);
    let mut spaces = Vec::new();
    for (index, space) in reading.plan.spaces.iter().enumerate() {
        if params.get("space").is_some_and(|name| name != space.name) {
            continue;
        }
        let place = Place::of_space(explorer, &reading, &*source, index).ok();
        let one = in_space(&reading, &reader, (index, place), &*view, &key, params.get("as"))?;
        spaces.push((rank(&one), one));
    }
    // Where the key is, then where it could be, then where it comes closest.
    spaces.sort_by_key(|(rank, _)| *rank);
    let best = spaces.first().map_or(3, |(rank, _)| *rank);
    let kept = spaces.into_iter().filter(|(rank, _)| *rank == best || (best < 2 && *rank < 2)).take(8);
    Ok(json!({
        "key": hex(&key),
        "length": key.len(),
        "text": cut(&escaped(&key), SHOWN),
        "height": params.height()?,
        "heights": explorer.database.multistore.is_some(),
        "spaces": kept.map(|(_, one)| one).collect::<Vec<_>>(),
    }))
}

fn rank(one: &Json) -> u8 {
    let read = field(one, "readings").as_array().is_some_and(|readings| !readings.is_empty());
    match (*field(one, "found") == true, read) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    }
}

fn in_space(
    reading: &Reading,
    reader: &Decoder<'_>,
    (index, place): (usize, Option<Place>),
    view: &dyn View,
    key: &[u8],
    form: Option<&str>,
) -> Result<Json, Problem> {
    let notation = Notation::of(&reading.plan);
    let found = explain(reader, &[index], key);
    let structured = reading.plan.spaces.get(index).is_some_and(is_structured);
    let row = match place {
        None => None,
        Some(place) if structured => {
            let value = Place { tag: Some(1), ..place };
            match view.get(place.space, &value.raw(key)).map_err(Problem::failed)? {
                Some(bytes) => Some((bytes, false)),
                None => view
                    .get(place.space, &place.raw(key))
                    .map_err(Problem::failed)?
                    .map(|bytes| (bytes, true)),
            }
        }
        Some(place) => view.get(place.space, key).map_err(Problem::failed)?.map(|bytes| (bytes, false)),
    };
    let layout = found.readings.first().and_then(|first| first.decoded.family.value.as_ref());
    let shown = match &row {
        Some((bytes, false)) => {
            value(layout, layout.map(|layout| notation.value_layout(layout)).as_deref(), bytes, form)
        }
        _ => Json::Null,
    };
    let readings: Vec<Json> = found
        .readings
        .iter()
        .map(|one| {
            let decoded = &one.decoded;
            json!({
                "family": decoded.family.path,
                "kind": decoded.family.kind.keyword(),
                "holds": kind(decoded.family.kind).word(),
                "doc": first_sentence(&decoded.family.doc),
                "args": arguments(&decoded.family.key, &decoded.values),
                "cells": cells(&decoded.family.key, &decoded.values),
                "columns": columns(reading, decoded.family),
                "typed": cut(&assignments(&decoded.family.key, &decoded.values), 2000),
                "lanes": lanes(&one.pieces(key).unwrap_or_default()),
                "plan": reading.declaration(decoded.family),
            })
        })
        .collect();
    let nearest: Vec<Json> = found
        .nearest
        .iter()
        .map(|near| {
            json!({
                "family": near.family.path,
                "offset": near.failure.offset,
                "segment": cut(&near.failure.segment, 200),
                "message": cut(&why(&near.failure), 400),
                "sound": near.sound(key).iter().map(|span| json!([span.start, span.end])).collect::<Vec<_>>(),
                "layout": notation.parts(&near.family.key),
                "plan": reading.declaration(near.family),
                "front_of": front(near.family, key).map(|front| json!({
                    "args": assignments(&near.family.key, &front.values),
                    "scan": front.scan().map(|scan| scan.id.to_string()),
                })),
            })
        })
        .collect();
    let space = reading.plan.spaces.get(index).map(|space| space.name.as_str());
    Ok(json!({
        "space": space,
        "found": row.is_some(),
        "structure": row.as_ref().is_some_and(|(_, structure)| *structure),
        "readings": readings,
        "more": found.more,
        "nearest": nearest,
        "value": shown,
    }))
}

/// The raw bytes of a value from an offset on.
pub(super) fn bytes(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let name = params.need("space")?;
    let index = reading.plan.spaces.iter().position(|space| space.name == name);
    let index = index.ok_or_else(|| Problem::Absent(format!("there is no space `{name}` in the plan")))?;
    let source = explorer.source(0, params.height()?)?;
    let mut place = Place::of_space(explorer, &reading, &*source, index)?;
    if place.tag.is_some() {
        place.tag = Some(1);
    }
    let key = params.hex("key")?.unwrap_or_default();
    let view = source.view().map_err(Problem::failed)?;
    let value = view.get(place.space, &place.raw(&key)).map_err(Problem::failed)?;
    let value = value.ok_or_else(|| Problem::Absent("there is no such row".to_owned()))?;
    let from = params.number("from", 0, usize::MAX)?.min(value.len());
    let to = from.saturating_add(params.number("limit", SHOWN, CHUNK)?).min(value.len());
    let part = value.get(from..to).unwrap_or_default();
    Ok(json!({ "from": from, "to": to, "length": value.len(), "hex": hex(part) }))
}

//! What a key of a structure holds: fields, members by score, and what waits, is held and has failed in a queue.

use std::sync::Arc;

use keyplan_plan::dynamic::{Decoder, readings};
use keyplan_plan::model::{Family, Sequence};
use keyplan_plan::notation::hex;
use keyplan_report::structure::{QUEUE_ITEM, kind, queue_item, size};
use keyplan_store::Direction;
use keyplan_store::structure::{Kind, QueueItem, QueueState, ScoreRange, SetScore, StructureRead};
use serde_json::{Value as Json, json};

use super::Place;
use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::show::{cells, plain, preview};

/// How many parts are shown at once.
const SHOWN: usize = 200;
/// How many items of a queue are looked at for those that workers hold.
const LOOKED: usize = 20_000;

/// What is under a key.
pub(super) fn structure(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let path = params.need("family")?;
    let found = reading.family(path);
    let (index, family) = found.ok_or_else(|| Problem::Absent(format!("there is no family `{path}`")))?;
    let key = params.hex("key")?.ok_or_else(|| Problem::Asked("`key` is missing".to_owned()))?;
    let (Some(opener), Some(space)) = (&explorer.database.structures, reading.plan.spaces.get(index)) else {
        return Err(Problem::Absent("only a database of Keyplan's own has structures".to_owned()));
    };
    let read = opener(space).map_err(Problem::failed)?;
    let holds = kind(family.kind);
    let skip = params.number("skip", 0, 1 << 20)?;
    let most = params.number("limit", SHOWN, SHOWN)?;
    let direction = if params.flag("rev") { Direction::Descending } else { Direction::Ascending };
    let count = size(&*read, holds, &key).map_err(Problem::failed)?;
    let parts = match holds {
        Kind::Value | Kind::Queue => Vec::new(),
        Kind::Hash => fields(&*read, family, &key, skip, most)?,
        Kind::Set => members(&*read, family, &key, skip, most)?,
        Kind::Zset => scored(&*read, family, &key, direction, skip, most)?,
    };
    let queue = if holds == Kind::Queue {
        let source = explorer.source(0, None)?;
        let place = Place::of(explorer, &reading, &*source, path)?;
        let view = source.view().map_err(Problem::failed)?;
        queue(&*read, family, &key, most, &*view, place)?
    } else {
        Json::Null
    };
    let decoded = Decoder::new(&reading.plan).decode(index, &key).ok();
    Ok(json!({
        "family": path,
        "key": hex(&key),
        "cells": decoded.map(|decoded| cells(&decoded.family.key, &decoded.values)),
        "holds": holds.word(),
        "count": count,
        "skip": skip,
        "parts": parts,
        "queue": queue,
    }))
}

/// Bytes under a layout, in a line.
fn line(layout: Option<&Sequence>, bytes: &[u8]) -> String {
    let read = layout.and_then(|layout| readings(layout, bytes, 1).ok()?.readings.pop().map(|v| (layout, v)));
    match read {
        Some((layout, values)) if layout.arguments().count() == 1 => cells(layout, &values).join(" "),
        Some(_) => preview(layout, bytes),
        None => plain(bytes),
    }
}

fn fields(
    read: &dyn StructureRead,
    family: &Family,
    key: &[u8],
    skip: usize,
    most: usize,
) -> Result<Vec<Json>, Problem> {
    let mut out = Vec::new();
    for pair in read.hash_all(key).map_err(Problem::failed)?.skip(skip).take(most) {
        let (field, value) = pair.map_err(Problem::failed)?;
        let known = family.decode_field(&field);
        let layout = known.as_ref().and_then(|(known, _)| known.value.as_ref());
        let name = known.as_ref().map(|(known, values)| {
            let arguments = cells(&known.key, values);
            if arguments.is_empty() {
                known.name.clone()
            } else {
                format!("{} {}", known.name, arguments.join(" "))
            }
        });
        out.push(json!({
            "field": name.unwrap_or_else(|| plain(&field)), "hex": hex(&field), "value": preview(layout, &value),
            "length": value.len(),
        }));
    }
    Ok(out)
}

fn members(
    read: &dyn StructureRead,
    family: &Family,
    key: &[u8],
    skip: usize,
    most: usize,
) -> Result<Vec<Json>, Problem> {
    let mut out = Vec::new();
    for member in read.set_members(key).map_err(Problem::failed)?.skip(skip).take(most) {
        let member = member.map_err(Problem::failed)?;
        out.push(json!({ "member": line(family.member.as_ref(), &member), "hex": hex(&member) }));
    }
    Ok(out)
}

fn scored(
    read: &dyn StructureRead,
    family: &Family,
    key: &[u8],
    direction: Direction,
    skip: usize,
    most: usize,
) -> Result<Vec<Json>, Problem> {
    let rows = read.zset_rows(key, &ScoreRange::ALL, direction, None).map_err(Problem::failed)?;
    let mut out = Vec::new();
    for row in rows.skip(skip).take(most) {
        let row = row.map_err(Problem::failed)?;
        out.push(json!({
            "member": line(family.member.as_ref(), &row.member), "hex": hex(&row.member), "score": score(row.score),
        }));
    }
    Ok(out)
}

fn score(score: SetScore) -> String {
    match score {
        SetScore::Number(number) => number.to_string(),
        SetScore::Place(place) => format!("{place:?}"),
    }
}

/// What waits, what workers hold, and what was given up.
fn queue(
    read: &dyn StructureRead,
    family: &Family,
    key: &[u8],
    most: usize,
    view: &dyn keyplan_store::source::View,
    place: Place,
) -> Result<Json, Problem> {
    let sizes = read.queue_size(key).map_err(Problem::failed)?;
    let waiting: Vec<Json> = read
        .queue_peek(key, most)
        .map_err(Problem::failed)?
        .into_iter()
        .map(|row| json!({ "member": line(family.member.as_ref(), &row.member), "score": score(row.score) }))
        .collect();
    let mut dead = Vec::new();
    for item in read.queue_dead(key).map_err(Problem::failed)?.take(most) {
        dead.push(item_json(family, &item.map_err(Problem::failed)?));
    }
    let mut held = Vec::new();
    if sizes.claimed > 0 {
        // The rows of items are in the order of their members: those that are held lie among the others.
        let range = keyplan_store::engine::OwnedKeyRange::prefix(&[QUEUE_ITEM]);
        let mut walk =
            view.walk(place.space, range.borrow(), Direction::Ascending).map_err(Problem::failed)?;
        let mut looked = 0;
        while let Some(row) = walk.next().map_err(Problem::failed)? {
            looked += 1;
            if looked > LOOKED || held.len() >= most || held.len() as u64 >= sizes.claimed {
                break;
            }
            let Some((of, member)) = queue_item(row.key) else { continue };
            if of != key {
                continue;
            }
            let item = read.queue_item(key, member).map_err(Problem::failed)?;
            if let Some(item) = item.filter(|item| matches!(item.state, QueueState::Claimed { .. })) {
                held.push(item_json(family, &item));
            }
        }
    }
    Ok(json!({
        "waiting": { "count": sizes.waiting, "items": waiting },
        "held": { "count": sizes.claimed, "items": held },
        "failed": { "count": sizes.dead, "items": dead },
    }))
}

fn item_json(family: &Family, item: &QueueItem) -> Json {
    let until = match item.state {
        QueueState::Claimed { until, .. } => Some(until),
        _ => None,
    };
    json!({
        "member": line(family.member.as_ref(), &item.member), "score": score(item.score),
        "attempts": item.attempts, "until": until,
    })
}

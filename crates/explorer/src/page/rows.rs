//! Rows, a page at a time, from one key to the next.

use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use keyplan_plan::dynamic::{Decoder, readings};
use keyplan_plan::explain::Reading as Explained;
use keyplan_plan::model::Family;
use keyplan_plan::notation::hex;
use keyplan_report::audit;
use keyplan_report::structure::{is_structured, row_key};
use keyplan_store::Direction;
use keyplan_store::engine::OwnedKeyRange;
use keyplan_store::source::RowRef;
use serde_json::{Value as Json, json};

use super::{Place, columns, scan, value_columns};
use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::show::{cells, cut, field, lanes, plain, preview};
use crate::walk::reading_text;

/// How many rows a page has at most.
const MOST: usize = 500;
/// How many rows a page has.
const ROWS: usize = 100;
/// How many rows a page looks at before it says how far it got.
const LOOKED: usize = 50_000;
/// How long a page looks.
const TIME: Duration = Duration::from_millis(200);
/// How many values of one key of a multimap a page goes on for.
const SAME_KEY: usize = 2000;

/// What is wanted of all rows.
enum Wanted<'r> {
    /// Those of a family.
    Family(&'r Family),
    /// Keys that no family makes, of a group or of all.
    Unread(Option<String>),
    /// Keys with two readings.
    Several(Option<String>),
    /// All.
    Any,
}

/// Reads `family` with its scan, or `space` with `only=unread` or `only=several` and a `group`.
pub(super) fn rows(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let source = explorer.source(0, params.height()?)?;
    let (place, wanted, range, about) = question(explorer, &reading, &*source, params)?;
    let limit = params.number("limit", ROWS, MOST)?.max(1);
    let reverse = params.flag("rev");
    // A page before a row is read against the order and turned around.
    let back = params.hex("before")?;
    let (direction, range) = match (&back, params.hex("after")?) {
        (Some(key), _) if reverse => (Direction::Ascending, range.after(key)),
        (Some(key), _) => (Direction::Descending, range.before(key)),
        (None, Some(key)) if reverse => (Direction::Descending, range.before(&key)),
        (None, Some(key)) => (Direction::Ascending, range.after(&key)),
        (None, None) => (if reverse { Direction::Descending } else { Direction::Ascending }, range),
    };
    let decoder = Decoder::new(&reading.plan);
    let page = Page { reading: &reading, decoder: &decoder, place, wanted: &wanted };
    let view = source.view().map_err(Problem::failed)?;
    let mut walk = view.walk(place.space, range.borrow(), direction).map_err(Problem::failed)?;
    let begun = Instant::now();
    let (mut looked, mut shown) = (0_usize, Vec::new());
    let (mut last, mut more, mut cut_short) = (Vec::new(), false, false);
    while let Some(row) = walk.next().map_err(Problem::failed)? {
        let same = !last.is_empty() && last == row.key;
        if shown.len() >= limit && !(same && shown.len() < limit + SAME_KEY) {
            more = true;
            break;
        }
        if !same && (looked >= LOOKED || (looked.is_multiple_of(256) && begun.elapsed() > TIME && looked > 0))
        {
            (more, cut_short) = (true, true);
            break;
        }
        looked += 1;
        last.clear();
        last.extend_from_slice(row.key);
        if let Some(json) = page.row(row) {
            shown.push(json);
        }
    }
    // Where the next page begins: after what was looked at, whether it was shown or not.
    let end = more.then(|| hex(&last));
    let first = shown.first().and_then(|row: &Json| field(row, "raw").as_str().map(str::to_owned));
    let (next, before) = if back.is_some() {
        shown.reverse();
        (first, end)
    } else {
        let is_first = params.get("after").is_none();
        (end, first.filter(|_| !is_first))
    };
    let mut out = about;
    if let Some(object) = out.as_object_mut() {
        object.insert("rows".to_owned(), json!(shown));
        object.insert("next".to_owned(), json!(next));
        object.insert("before".to_owned(), json!(before));
        object.insert("looked".to_owned(), json!(looked));
        object.insert("cut_short".to_owned(), json!(cut_short));
        object.insert("height".to_owned(), json!(params.height()?));
    }
    Ok(out)
}

type Question<'r> = (Place, Wanted<'r>, OwnedKeyRange, Json);

fn question<'r>(
    explorer: &Explorer,
    reading: &'r Reading,
    source: &dyn keyplan_store::source::Source,
    params: &Params,
) -> Result<Question<'r>, Problem> {
    if let Some(path) = params.get("family") {
        let place = Place::of(explorer, reading, source, path)?;
        let (_, family) =
            reading.family(path).ok_or_else(|| Problem::Absent(format!("there is no family `{path}`")))?;
        let asked = scan::asked(family, params)?;
        let mut range = place.range(&asked.prefix);
        if let Some(from) = asked.from {
            range.start = Bound::Included(place.raw(&from));
        }
        if let Some(to) = asked.to {
            range.end = Bound::Excluded(place.raw(&to));
        }
        let about = json!({
            "family": family.path,
            "space": reading.plan.spaces.get(place.index).map(|space| space.name.as_str()),
            "kind": family.kind.keyword(),
            "columns": columns(reading, family),
            "scan": asked.scan.map(|scan| scan.id.to_string()),
            "prefix": hex(&asked.prefix),
        });
        return Ok((place, Wanted::Family(family), range, about));
    }
    let name = params.need("space")?;
    let index = reading.plan.spaces.iter().position(|space| space.name == name);
    let index = index.ok_or_else(|| Problem::Absent(format!("there is no space `{name}` in the plan")))?;
    let mut place = Place::of_space(explorer, reading, source, index)?;
    // All rows are wanted, also those inside of structures.
    place.tag = None;
    let group = params.get("group").map(str::to_owned);
    let wanted = match params.get("only") {
        Some("unread") => Wanted::Unread(group),
        Some("several") => Wanted::Several(group),
        Some(other) => {
            return Err(Problem::Asked(format!("`only={other}`: there is `unread` and `several`")));
        }
        None => Wanted::Any,
    };
    let range = OwnedKeyRange::prefix(&params.hex("prefix")?.unwrap_or_default());
    let about =
        json!({ "space": name, "only": params.get("only"), "group": params.get("group"), "columns": [] });
    Ok((place, wanted, range, about))
}

/// What rows of a page are made with.
struct Page<'r> {
    reading: &'r Reading,
    decoder: &'r Decoder<'r>,
    place: Place,
    wanted: &'r Wanted<'r>,
}

impl Page<'_> {
    /// A row, if it is wanted.
    fn row(&self, row: RowRef<'_>) -> Option<Json> {
        let structured = self.reading.plan.spaces.get(self.place.index).is_some_and(is_structured);
        let key = match (self.place.tag, structured) {
            (None, true) => row_key(row.key),
            _ => self.place.key(row.key),
        };
        match self.wanted {
            Wanted::Family(family) => self.of_family(family, key?, row),
            Wanted::Unread(group) => match key.map(|key| (key, self.decoder.decode(self.place.index, key))) {
                Some((_, Ok(_))) => None,
                Some((key, Err(miss))) => {
                    let why = audit::unread(key, &miss);
                    let fits = group.as_ref().is_none_or(|group| *group == why.label);
                    fits.then(|| {
                        let nearest = miss.nearest_families();
                        let sound: Vec<Json> = nearest
                            .first()
                            .map(|(family, _)| keyplan_plan::explain::sound(&family.key, key))
                            .unwrap_or_default()
                            .iter()
                            .map(|span| json!({ "start": span.start, "end": span.end, "kind": "sound", "name": "", "label": "" }))
                            .collect();
                        json!({
                            "key": shown_key(key), "raw": hex(row.key), "why": cut(&why.message, 400), "offset": why.offset,
                            "nearest": why.family, "lanes": sound, "length": row.value.len(),
                            "value": plain(row.value.get(..row.value.len().min(200)).unwrap_or_default()),
                        })
                    })
                }
                None => Some(json!({
                    "key": shown_key(row.key), "raw": hex(row.key), "why": "the row is not of a structure", "offset": 0,
                    "lanes": [], "length": row.value.len(), "value": "",
                })),
            },
            Wanted::Several(group) => self.of_several(group.as_deref(), key?, row),
            Wanted::Any => {
                let key = key?;
                let decoded = self.decoder.decode(self.place.index, key).ok();
                Some(json!({
                    "key": shown_key(key), "raw": hex(row.key), "length": row.value.len(),
                    "text": decoded.as_ref().map(reading_text),
                    "family": decoded.as_ref().map(|decoded| decoded.family.path.as_str()),
                    "value": preview(decoded.and_then(|decoded| decoded.family.value.as_ref()), row.value),
                }))
            }
        }
    }

    fn of_family(&self, family: &Family, key: &[u8], row: RowRef<'_>) -> Option<Json> {
        let decoded = self.decoder.decode(self.place.index, key).ok()?;
        if decoded.family.path != family.path {
            return None;
        }
        let mut all = cells(&family.key, &decoded.values);
        let layout = value_columns(family).filter(|_| row.value.len() <= 1 << 16);
        let read = layout.and_then(|layout| readings(layout, row.value, 1).ok()?.readings.pop());
        if let Some((layout, values)) = layout.zip(read) {
            all.extend(cells(layout, &values));
        }
        let several = !self.reading.is_sure(family)
            && self
                .decoder
                .decode_all(self.place.index, key, 2)
                .is_ok_and(|found| found.readings.len() > 1 || found.more);
        let pieces = Explained { decoded }.pieces(key).unwrap_or_default();
        // The row of a structure's head says how much it holds; whoever opens the key sees what.
        let value =
            if self.place.tag == Some(2) { String::new() } else { preview(family.value.as_ref(), row.value) };
        Some(json!({
            "key": shown_key(key),
            "raw": hex(row.key),
            "cells": all,
            "lanes": lanes(&pieces),
            "length": row.value.len(),
            "value": value,
            "several": several,
        }))
    }

    fn of_several(&self, group: Option<&str>, key: &[u8], row: RowRef<'_>) -> Option<Json> {
        let decoded = self.decoder.decode(self.place.index, key).ok()?;
        if self.reading.is_sure(decoded.family) {
            return None;
        }
        let found = self.decoder.decode_all(self.place.index, key, 8).ok()?;
        if found.readings.len() < 2 {
            return None;
        }
        let mut families: Vec<&str> =
            found.readings.iter().take(2).map(|reading| reading.family.path.as_str()).collect();
        families.sort_unstable();
        families.dedup();
        if group.is_some_and(|group| group != families.join(" ")) {
            return None;
        }
        let readings: Vec<Json> = found
            .readings
            .into_iter()
            .map(|decoded| {
                let text = reading_text(&decoded);
                let pieces = Explained { decoded }.pieces(key).unwrap_or_default();
                json!({ "text": text, "lanes": lanes(&pieces) })
            })
            .collect();
        Some(json!({
            "key": shown_key(key), "raw": hex(row.key), "readings": readings, "more": found.more,
            "length": row.value.len(), "value": "",
        }))
    }
}

/// A key in hex; of a very long one, its beginning is what a table shows, and its address is in `raw`.
fn shown_key(key: &[u8]) -> String {
    hex(key)
}

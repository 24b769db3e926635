//! The values of one argument: the most frequent, the least and the greatest, how many there are, and the bytes of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyplan_plan::dynamic::{Decoder, Value};
use keyplan_plan::model::Shape;
use keyplan_plan::notation::argument_name;
use keyplan_store::Direction;
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::page::Place;
use crate::params::{Params, Problem};
use crate::show::{CELL, argument_text, cut};
use crate::walk::Counts;

/// How many values are kept apart.
const VALUES: usize = 1 << 16;
/// How many are shown.
const SHOWN: usize = 50;
/// The longest text of a value that is kept apart.
const LONGEST: usize = 512;

/// Counts the values of an argument of a family.
pub(crate) fn ask(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let path = params.need("family")?.to_owned();
    let (_, family) =
        reading.family(&path).ok_or_else(|| Problem::Absent(format!("there is no family `{path}`")))?;
    let name = match params.get("argument") {
        Some(name) => name.to_owned(),
        None => {
            family.key.arguments().next().map(|first| argument_name(first).to_owned()).unwrap_or_default()
        }
    };
    let Some(argument) = family.key.arguments().position(|argument| argument_name(argument) == name) else {
        return Err(Problem::Absent(format!("`{path}` has no argument `{name}`")));
    };
    let source = explorer.source(0, params.height()?)?;
    let place = Place::of(explorer, &reading, &*source, &path)?;
    let job = format!("facets {} {name}", params.canonical(&["again", "argument"]));
    explorer.jobs.ask(job, params.flag("again"), move |told| {
        let reader = Decoder::new(&reading.plan);
        let Some((index, family)) = reading.family(&path) else {
            return Err("the family is gone".to_owned());
        };
        let Some(shape) = family.key.arguments().nth(argument).map(|argument| &argument.shape) else {
            return Err("the argument is gone".to_owned());
        };
        let mut facets = Facets::default();
        let view = source.view().map_err(|error| error.to_string())?;
        let range = place.range(&family.key.literal_prefix());
        let walk = view.walk(place.space, range.borrow(), Direction::Ascending);
        let mut walk = walk.map_err(|error| error.to_string())?;
        let mut looked = 0_u64;
        while let Some(row) = walk.next().map_err(|error| error.to_string())? {
            looked += 1;
            if looked.is_multiple_of(4096) && told.rows(looked).is_break() {
                return Err(format!("stopped after {looked} rows"));
            }
            let Some(key) = place.key(row.key) else { continue };
            let Ok(decoded) = reader.decode(index, key) else { continue };
            if !std::ptr::eq(decoded.family, family) {
                continue;
            }
            if let Some(value) = decoded.values.get(argument) {
                facets.add(value, shape, row.key.len(), row.value.len());
            }
        }
        // Rows that go by is what the page tells.
        let _ = told.rows(looked);
        Ok(facets.json(&path, &name))
    })
}

#[derive(Default)]
struct Facets {
    values: BTreeMap<String, Counts>,
    rows: u64,
    /// Rows whose value found no room.
    others: u64,
    least: Option<(Value, String)>,
    greatest: Option<(Value, String)>,
}

impl Facets {
    fn add(&mut self, value: &Value, shape: &Shape, key: usize, bytes: usize) {
        self.rows += 1;
        let mut text = argument_text(value, shape);
        let is_long = text.len() > LONGEST;
        extreme(&mut self.least, value, &text, std::cmp::Ordering::is_lt);
        extreme(&mut self.greatest, value, &text, std::cmp::Ordering::is_gt);
        if is_long {
            text = cut(&text, CELL);
        }
        if !self.values.contains_key(&text) {
            if self.values.len() >= VALUES {
                self.others += 1;
                return;
            }
            self.values.insert(text.clone(), Counts::default());
        }
        if let Some(counts) = self.values.get_mut(&text) {
            counts.rows += 1;
            counts.key_bytes += key as u64;
            counts.value_bytes += bytes as u64;
        }
    }

    fn json(&self, family: &str, argument: &str) -> Json {
        let mut all: Vec<(&String, &Counts)> = self.values.iter().collect();
        all.sort_by(|(a, one), (b, other)| other.rows.cmp(&one.rows).then_with(|| a.cmp(b)));
        let shown = |(text, counts): &(&String, &Counts)| json!({ "value": cut(text, CELL), "typed": text, "rows": counts.rows, "bytes": counts.bytes() });
        let top: Vec<Json> = all.iter().take(SHOWN).map(shown).collect();
        all.sort_by(|(a, one), (b, other)| other.bytes().cmp(&one.bytes()).then_with(|| a.cmp(b)));
        let heaviest: Vec<Json> = all.iter().take(SHOWN).map(shown).collect();
        let end = |end: &Option<(Value, String)>| end.as_ref().map(|(_, text)| cut(text, CELL));
        json!({
            "family": family,
            "argument": argument,
            "rows": self.rows,
            "distinct": self.values.len(),
            // With no room left, new values were counted together: then there are at least so many.
            "exact": self.others == 0,
            "others": self.others,
            "least": end(&self.least),
            "greatest": end(&self.greatest),
            "top": top,
            "heaviest": heaviest,
        })
    }
}

/// Keeps the value that is furthest in one direction: numbers by size, all else by its text.
fn extreme(
    kept: &mut Option<(Value, String)>,
    value: &Value,
    text: &str,
    is_further: impl Fn(std::cmp::Ordering) -> bool,
) {
    let further = match kept {
        None => true,
        Some((known, known_text)) => is_further(match (value, &*known) {
            (Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
            (Value::Signed(a), Value::Signed(b)) | (Value::Time(a), Value::Time(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            _ => text.cmp(known_text.as_str()),
        }),
    };
    if further {
        *kept = Some((value.clone(), text.to_owned()));
    }
}

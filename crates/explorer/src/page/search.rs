//! Whatever was typed or pasted: a family, a key in any notation, a family with arguments, a note.

use std::sync::Arc;

use keyplan_plan::dynamic::{Decoder, encode};
use keyplan_plan::model::{Family, Plan};
use keyplan_plan::notation::{argument_name, first_sentence, hex};
use keyplan_report::key_text::{self, KeyText};
use serde_json::{Value as Json, json};

use super::{Place, scan};
use crate::explorer::Explorer;
use crate::notes;
use crate::params::{Params, Problem};
use crate::show::field;
use crate::walk::reading_text;

/// How many families are listed.
const FAMILIES: usize = 20;
/// The longest text that is looked at.
const LONGEST: usize = 1 << 17;

/// Looks for `q`.
pub(super) fn search(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let text = params.get("q").unwrap_or_default().trim();
    if text.len() > LONGEST {
        return Err(Problem::Asked("that is longer than any key".to_owned()));
    }
    let reading = explorer.reading_of(params)?;
    let lower = text.to_lowercase();
    let fits = |family: &Family| {
        family.path.to_lowercase().contains(&lower)
            || family.key.arguments().any(|argument| argument_name(argument).to_lowercase() == lower)
    };
    let families: Vec<Json> = reading
        .plan
        .families()
        .map(|(_, family)| family)
        .filter(|family| !text.is_empty() && fits(family))
        .take(FAMILIES)
        .map(|family| json!({ "family": family.path, "doc": first_sentence(&family.doc) }))
        .collect();
    let mut keys = Vec::new();
    let mut why = None;
    match typed(&reading.plan, text) {
        Some(Ok((space, key))) => keys.push(json!({
            "key": hex(&key), "space": space, "notation": "arguments", "text": text,
        })),
        Some(Err(problem)) => why = Some(problem.to_string()),
        None if text.is_empty() => {}
        None => match pasted(explorer, params, text)? {
            Ok(found) => keys = found,
            Err(problem) => why = Some(problem),
        },
    }
    // A word that names a family is not a key that happens to be text.
    if !families.is_empty()
        && keys.iter().all(|key| field(key, "found") == false && *field(key, "families") == json!([]))
    {
        keys.clear();
    }
    let notes = notes::matching(explorer, &lower);
    Ok(json!({ "q": text, "families": families, "keys": keys, "notes": notes, "why": why }))
}

/// `cl.tick pool_id=7 tick=-100`: a family and arguments; `None` if it is nothing like that.
fn typed(plan: &Plan, text: &str) -> Option<Result<(String, Vec<u8>), Problem>> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let given: Option<Vec<(&str, &str)>> = words.map(|word| word.split_once('=')).collect();
    let given = given.filter(|given| !given.is_empty())?;
    let found = plan.find(name);
    let (space, family) = found.first()?;
    let value = |argument: &keyplan_plan::model::Argument| {
        let name = argument_name(argument);
        let (_, text) = given
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| Problem::Asked(format!("`{}` also needs `{name}`", family.path)))?;
        scan::typed(argument, text.trim_matches('"'))
    };
    let values: Result<Vec<_>, Problem> = family.key.arguments().map(value).collect();
    let key = values.and_then(|values| {
        let mut key = Vec::new();
        encode(&family.key, &values, &mut key).map_err(|error| Problem::Asked(error.to_string()))?;
        Ok(key)
    });
    Some(key.map(|key| (space.name.clone(), key)))
}

/// Bytes in each notation that the text can be, with where they are and what they mean.
fn pasted(
    explorer: &Arc<Explorer>,
    params: &Params,
    text: &str,
) -> Result<Result<Vec<Json>, String>, Problem> {
    let reading = explorer.reading_of(params)?;
    let source = explorer.source(0, params.height()?)?;
    let view = source.view().map_err(Problem::failed)?;
    let decoder = Decoder::new(&reading.plan);
    let mut found: Vec<(bool, usize, Json)> = Vec::new();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut why = String::new();
    for (name, notation) in [("hex", KeyText::Hex), ("base64", KeyText::Base64), ("text", KeyText::Text)] {
        let mut key = Vec::new();
        if let Err(error) = key_text::read(text.as_bytes(), notation, &mut key) {
            if notation == KeyText::Hex {
                why = error.to_string();
            }
            continue;
        }
        if key.is_empty() || seen.contains(&key) {
            continue;
        }
        let mut families = Vec::new();
        let mut is_there = false;
        for (index, _) in reading.plan.spaces.iter().enumerate() {
            let Ok(place) = Place::of_space(explorer, &reading, &*source, index) else { continue };
            let rows: Vec<Vec<u8>> = match place.tag {
                None => vec![key.clone()],
                Some(_) => vec![Place { tag: Some(1), ..place }.raw(&key), place.raw(&key)],
            };
            for row in rows {
                is_there |= view.get(place.space, &row).map_err(Problem::failed)?.is_some();
            }
            if let Ok(decoded) = decoder.decode(index, &key) {
                families.push(reading_text(&decoded));
            }
        }
        let rank = families.len();
        found.push((is_there, rank, json!({
            "key": hex(&key), "notation": name, "found": is_there, "families": families, "length": key.len(),
        })));
        seen.push(key);
    }
    // What is there comes first, then what means something; hex before the others.
    found.sort_by_key(|(is_there, rank, _)| (!is_there, *rank == 0));
    if found.is_empty() {
        return Ok(Err(why));
    }
    Ok(Ok(found.into_iter().map(|(_, _, one)| one).collect()))
}

//! Values from JSON: what `render::json` writes, back.

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::{Value, parse};
use keyplan_plan::model::{Argument, Sequence, Shape};
use serde_json::{Map, Value as Json};

use crate::command::encode::name;

/// A value for each argument of a layout, from an object with their names.
pub(super) fn arguments(sequence: &Sequence, object: &Map<String, Json>) -> Result<Vec<Value>> {
    let names: Vec<&str> = sequence.arguments().map(name).collect();
    if let Some(extra) = object.keys().find(|key| !names.contains(&key.as_str())) {
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        bail!("there is no argument `{extra}`; there are: {has}");
    }
    let mut values = Vec::new();
    for argument in sequence.arguments() {
        let name = name(argument);
        let json = object.get(name).ok_or_else(|| anyhow!("the argument `{name}` is missing"))?;
        values.push(value(&argument.shape, json).map_err(|error| error.context(format!("`{name}`")))?);
    }
    Ok(values)
}

fn value(shape: &Shape, json: &Json) -> Result<Value> {
    match (shape, json) {
        (Shape::Bool(_), Json::Bool(value)) => Ok(Value::Bool(*value)),
        (Shape::Hashed { .. }, Json::Object(object)) if object.contains_key("digest") => {
            let digest = object.get("digest").and_then(Json::as_str).unwrap_or_default();
            Ok(parse(shape, &format!("digest:{digest}"))?)
        }
        (
            Shape::Framed { inner, .. }
            | Shape::Desc(inner)
            | Shape::Hashed { inner, .. }
            | Shape::HashConcat { inner, .. },
            json,
        ) => value(inner, json),
        (Shape::Text(_), Json::String(text)) => Ok(Value::Text(text.clone())),
        (Shape::Record(sequence), json) => Ok(Value::Record(body(sequence, json)?)),
        (Shape::Choice(alternatives), json) => {
            let (label, inner) = match json {
                Json::String(label) => (label, None),
                Json::Object(object) => match object.iter().collect::<Vec<_>>().as_slice() {
                    [(label, inner)] => (*label, Some(*inner)),
                    _ => bail!("a choice is its label, or an object with its label alone"),
                },
                _ => bail!("a choice is its label, or an object with its label alone"),
            };
            let found = alternatives.iter().enumerate().find(|(_, alternative)| alternative.label == *label);
            let Some((index, alternative)) = found else {
                let labels: Vec<&str> = alternatives.iter().map(|other| other.label.as_str()).collect();
                bail!("there is no alternative `{label}`; there are: {}", labels.join(", "));
            };
            let values = match inner {
                Some(inner) => body(&alternative.sequence, inner)?,
                None if alternative.sequence.argument_count() == 0 => Vec::new(),
                None => bail!("the alternative `{label}` has arguments"),
            };
            Ok(Value::Choice(index, values))
        }
        (Shape::Option(_), Json::Null) => Ok(Value::Option(None)),
        (Shape::Option(inner), json) => Ok(Value::Option(Some(Box::new(value(inner, json)?)))),
        (Shape::List { item, .. }, Json::Array(items)) => {
            Ok(Value::List(items.iter().map(|json| value(item, json)).collect::<Result<_>>()?))
        }
        // Numbers, bytes, times, scores and nibbles, as `encode` takes them.
        (shape, Json::String(text)) => Ok(parse(shape, text)?),
        (shape, Json::Number(number)) => Ok(parse(shape, &number.to_string())?),
        (_, json) => bail!("`{json}` does not belong here"),
    }
}

/// The arguments of a record or alternative; one without a name stands alone.
fn body(sequence: &Sequence, json: &Json) -> Result<Vec<Value>> {
    let mut all = sequence.arguments();
    match (all.next(), sequence.argument_count(), json) {
        (Some(Argument { name: None, shape, .. }), 1, json) => Ok(vec![value(shape, json)?]),
        (_, _, Json::Object(object)) => arguments(sequence, object),
        _ => bail!("an object with the arguments belongs here"),
    }
}

#[cfg(test)]
mod tests {
    use keyplan_plan::dynamic::Decoder;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_printed_reads_back(first in 0_u8..=0x0b, rest in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = include_str!("../../../tests/plans/shapes.keyplan");
            let plan = keyplan_plan::compile("shapes", text, |_| Err(String::new())).plan.unwrap();
            let decoder = Decoder::new(&plan);
            let key = [&[first][..], &rest].concat();
            for space in 0..plan.spaces.len() {
                let Ok(decoded) = decoder.decode(space, &key) else { continue };
                let mut line = Vec::new();
                crate::render::arguments(&mut line, &decoded.family.key, &decoded.values);
                let json: Map<String, Json> = serde_json::from_slice(&line).unwrap();
                let values = arguments(&decoded.family.key, &json).unwrap();
                let mut again = Vec::new();
                keyplan_plan::dynamic::encode(&decoded.family.key, &values, &mut again).unwrap();
                prop_assert_eq!(&again, &key);
            }
        }
    }
}

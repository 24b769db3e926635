//! The model against its JSON Schema.

use keyplan_codegen::model;
use keyplan_plan::Compiled;
use serde_json::Value;

use crate::made::of_the_repository;

pub(crate) fn schema() -> Value {
    serde_json::from_str(model::SCHEMA).unwrap()
}

/// What is wrong with a value under a schema. Words of the language of schemas that are not known here are not a schema of ours.
fn faults(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    // Those that say of which kind they are need not be looked into for another.
    let candidates = |rule: &Value| {
        let possible = |one: &Value| {
            let kind = resolved(root, one).pointer("/properties/kind/const");
            kind.is_none() || kind == value.get("kind")
        };
        rule.as_array().unwrap().iter().filter(|one| possible(one)).cloned().collect::<Vec<Value>>()
    };
    let among = |rule: &Value| {
        let fits = |one: &&Value| faults(root, one, value, path).is_empty();
        candidates(rule).iter().filter(fits).count()
    };
    for (word, rule) in schema.as_object().unwrap() {
        let number = || rule.as_u64().unwrap();
        let length = || value.as_array().map_or(0, |items| u64::try_from(items.len()).unwrap());
        let wrong = match word.as_str() {
            "$ref" => {
                all.extend(faults(root, resolved(root, schema), value, path));
                false
            }
            "type" => {
                let kinds = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                !kinds.iter().any(|kind| is(value, kind.as_str().unwrap()))
            }
            "const" => rule != value,
            "enum" => !rule.as_array().unwrap().contains(value),
            "anyOf" => among(rule) == 0,
            "oneOf" => among(rule) != 1,
            "minItems" => value.is_array() && length() < number(),
            "maxItems" => value.is_array() && length() > number(),
            "minimum" => value.as_u64().is_some_and(|found| found < number()),
            "maximum" => value.as_u64().is_some_and(|found| found > number()),
            "pattern" => {
                assert_eq!(rule, "^([0-9a-f]{2})*$", "a pattern that this test does not know");
                let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                value.as_str().is_some_and(|text| text.len() % 2 != 0 || !text.chars().all(hex))
            }
            "required" => {
                let mut names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                value.is_object() && names.any(|name| value.get(name).is_none())
            }
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    if let Some(rule) = rule.get(name) {
                        all.extend(faults(root, rule, inner, &format!("{path}/{name}")));
                    } else {
                        all.push(format!("{path}: {name} is not in the schema"));
                    }
                }
                false
            }
            "items" => {
                for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                    all.extend(faults(root, rule, inner, &format!("{path}/{index}")));
                }
                false
            }
            "title" | "$schema" | "$defs" => false,
            other => panic!("a word that this test does not know: {other}"),
        };
        if wrong {
            let mut shown = value.to_string();
            shown.truncate(300);
            all.push(format!("{path}: {shown} against {word} {rule}"));
        }
    }
    all
}

/// What a reference leads to, or the schema itself.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    match schema.get("$ref") {
        Some(place) => root.pointer(place.as_str().unwrap().trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type of JSON: {other}"),
    }
}

/// The model of a plan is of the schema, and is read as what was written.
pub(crate) fn fits(schema: &Value, name: &str, compiled: &Compiled) {
    let model = model::of_plan(compiled.plan.as_ref().unwrap());
    assert_eq!(faults(schema, schema, &model, ""), Vec::<String>::new(), "{name}");
    let text = format!("{model:#}\n");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), model, "{name}");
}

#[test]
fn the_models_of_the_repository_are_of_the_schema() {
    let schema = schema();
    for (name, _, compiled) in of_the_repository() {
        fits(&schema, &name, &compiled);
    }
}

/// Every object and array below a value, by its path.
fn places(value: &Value, path: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                all.push(format!("{path}/{name}"));
                places(inner, &format!("{path}/{name}"), all);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{path}/{index}"), all);
            }
        }
        _ => {}
    }
}

#[test]
fn a_model_that_lacks_something_or_has_something_else_is_refused() {
    let schema = schema();
    let (_, _, compiled) = of_the_repository().into_iter().find(|(name, ..)| name == "osmosiscl").unwrap();
    let model = model::of_plan(compiled.plan.as_ref().unwrap());
    let mut all = Vec::new();
    places(&model, "", &mut all);
    let (mut refused, mut tried) = (0, 0);
    for path in all.iter().step_by(211) {
        let (above, name) = path.rsplit_once('/').unwrap();
        let mut without = model.clone();
        without.pointer_mut(above).unwrap().as_object_mut().unwrap().remove(name);
        let mut other = model.clone();
        *other.pointer_mut(path).unwrap() = Value::from(1.5);
        for broken in [without, other] {
            tried += 1;
            refused += usize::from(!faults(&schema, &schema, &broken, "").is_empty());
        }
    }
    assert!(tried > 10, "{tried}");
    assert_eq!(refused, tried, "broken models that pass");
}

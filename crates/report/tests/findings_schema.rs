//! The schema of findings against findings of every rule.
#![cfg(test)]

use keyplan_prover::{Options, PAGES};
use keyplan_report::findings::{Checked, Repairs, finding_json};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/findings.schema.json")).unwrap()
}

/// What is wrong with a value under a schema, by the words of the language of schemas that ours uses.
fn faults(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (word, rule) in schema.as_object().unwrap() {
        match word.as_str() {
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap();
                all.extend(faults(root, target, value, path));
            }
            "type" => {
                let kinds: Vec<&str> = match rule {
                    Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
                    kind => vec![kind.as_str().unwrap()],
                };
                if !kinds.iter().any(|kind| is(value, kind)) {
                    all.push(format!("{path}: {value} is none of {kinds:?}"));
                }
            }
            "enum" if !rule.as_array().unwrap().contains(value) => {
                all.push(format!("{path}: {value} is not in {rule}"));
            }
            "anyOf" => {
                let fits = |one: &Value| faults(root, one, value, path).is_empty();
                if !rule.as_array().unwrap().iter().any(fits) {
                    all.push(format!("{path}: {value} fits none"));
                }
            }
            "required" => {
                let missing = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|name| value.get(name.as_str().unwrap()).is_none());
                all.extend(missing.map(|name| format!("{path}: {name} is missing")));
            }
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => all.extend(faults(root, rule, inner, &format!("{path}/{name}"))),
                        None => all.push(format!("{path}: {name} is not in the schema")),
                    }
                }
            }
            "items" => {
                for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                    all.extend(faults(root, rule, inner, &format!("{path}/{index}")));
                }
            }
            "enum" | "additionalProperties" | "description" | "title" | "$schema" | "$defs" => {}
            word => panic!("the test does not know `{word}`"),
        }
    }
    all
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    }
}

fn findings(text: &str) -> Vec<Value> {
    let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".to_owned()));
    let checked = Checked::new("demo.keyplan", compiled, Some(&Options::default()), Repairs::Wanted);
    let plan = checked.compiled.plan.as_ref();
    let all = checked.findings.iter().map(|found| finding_json(plan, &checked.compiled.sources, found));
    all.map(|finding| serde_json::to_value(finding).unwrap()).collect()
}

#[test]
fn findings_of_every_rule_fit_the_schema() {
    let schema = schema();
    let mut kinds = std::collections::BTreeSet::new();
    for page in PAGES {
        for finding in findings(page.example()) {
            assert_eq!(faults(&schema, &schema, &finding, ""), Vec::<String>::new(), "{}", page.code);
            kinds.extend(finding.pointer("/witness/kind").and_then(Value::as_str).map(str::to_owned));
        }
    }
    for kind in ["same_key", "row", "disorder", "number", "digest", "trespass", "too_long"] {
        assert!(kinds.contains(kind), "no example has a witness of kind {kind}: {kinds:?}");
    }
    for finding in findings("plan p; space s { key k = a: []byte, b: u8; }") {
        assert_eq!(faults(&schema, &schema, &finding, ""), Vec::<String>::new());
    }
}

#[test]
fn the_schema_refuses_what_is_no_finding() {
    let schema = schema();
    assert_eq!(faults(&schema, &schema, &json!({ "code": 5 }), "").len(), 7);
    assert_eq!(faults(&schema, &schema, &json!([]), "").len(), 8);
}

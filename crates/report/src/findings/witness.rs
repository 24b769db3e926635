//! The keys that refute a guarantee as JSON: their bytes, which of them are what, and the arguments as values.

use keyplan_plan::explain::{Piece, pieces};
use keyplan_plan::model::{Plan, Sequence};
use keyplan_plan::notation::{hex, write_json};
use keyplan_prover::{NumberFault, Side, Statement, Witness, layout};
use serde_json::{Value, json};

/// The keys of a witness, each side with its family, `args`, bytes as hex digits, and `segments` with byte offsets.
pub fn witness_json(plan: &Plan, statement: &Statement, witness: &Witness) -> Value {
    let side = |side: &Side| side_json(plan, statement, side);
    match witness {
        Witness::SameKey { first, second } => {
            json!({ "kind": "same_key", "first": side(first), "second": side(second) })
        }
        Witness::Row { scan, row } => json!({ "kind": "row", "scan": side(scan), "row": side(row) }),
        Witness::Disorder { first, second } => {
            json!({ "kind": "disorder", "first": side(first), "second": side(second) })
        }
        Witness::RangeEnd { end, row } => json!({ "kind": "range_end", "end": side(end), "row": side(row) }),
        Witness::Range { start, end, row } => json!({
            "kind": "range",
            "start": side(start),
            "end": { "hex": hex(&end.bytes), "included": end.included },
            "row": side(row),
        }),
        Witness::Number { number, fault, .. } => number_json(plan, statement, *number, fault),
        Witness::Digest { first, second, digest } => json!({
            "kind": "digest",
            "first": String::from_utf8_lossy(first),
            "second": String::from_utf8_lossy(second),
            "hex": hex(digest),
        }),
        Witness::Trespass { module, prefix, key } => {
            json!({ "kind": "trespass", "module": module, "prefix": hex(prefix), "key": side(key) })
        }
        Witness::TooLong { key, limit } => {
            json!({ "kind": "too_long", "limit": limit, "length": key.bytes.len(), "key": side(key) })
        }
        _ => Value::Null,
    }
}

fn number_json(plan: &Plan, statement: &Statement, number: u8, fault: &NumberFault) -> Value {
    // A family without a number has none to show.
    let shown = if *fault == NumberFault::Absent { Value::Null } else { json!(number) };
    let mut out = json!({ "kind": "number", "number": shown });
    let (name, value) = match fault {
        NumberFault::Taken { by } => ("taken_by", json!(by)),
        NumberFault::Outside { allotment } => ("outside", json!(allotment)),
        NumberFault::Nowhere => ("outside", Value::Null),
        NumberFault::Absent => ("absent", json!(true)),
        NumberFault::Retired { prefix, key } => {
            ("retired", json!({ "prefix": hex(prefix), "key": side_json(plan, statement, key) }))
        }
    };
    if let Some(out) = out.as_object_mut() {
        out.insert(name.to_owned(), value);
    }
    out
}

fn side_json(plan: &Plan, statement: &Statement, side: &Side) -> Value {
    let sequence = layout(plan, statement, &side.family);
    let mut text = Vec::new();
    match sequence {
        Some(sequence) => write_json(&mut text, sequence, &side.values),
        None => text.extend_from_slice(b"null"),
    }
    let arguments: Value = serde_json::from_slice(&text).unwrap_or_default();
    let segments = sequence.and_then(|sequence| segments(sequence, side));
    json!({ "family": side.family, "args": arguments, "hex": hex(&side.bytes), "segments": segments })
}

/// Which bytes of a side are what; nothing if they are cut somewhere inside of a segment.
fn segments(sequence: &Sequence, side: &Side) -> Option<Vec<Value>> {
    let whole = || pieces(sequence, &side.bytes, &side.values);
    // The prefix of a scan, or the end of a range: as much of the layout as its arguments decide.
    let cut = |count: usize| {
        let front = sequence.segments().get(..count)?.to_vec();
        pieces(&Sequence::new(front), &side.bytes, &side.values)
    };
    let bound = side.values.len();
    let scanned = sequence.scanned_segments(bound);
    let found = whole().or_else(|| (0..=scanned).rev().find_map(cut))?;
    Some(found.iter().map(|piece| segment(piece, &side.bytes)).collect())
}

fn segment(piece: &Piece, bytes: &[u8]) -> Value {
    json!({
        "start": piece.span.start,
        "end": piece.span.end,
        "kind": piece.kind.word(),
        "name": piece.name,
        "hex": hex(bytes.get(piece.span.clone()).unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use keyplan_plan::notation::arguments_from_json;
    use keyplan_prover::Verdict;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::tests::checked;
    use super::*;

    fn witness(text: &str, code: &str) -> Value {
        let checked = checked(text);
        let found = checked.statements().find(|statement| {
            statement.guarantee.code() == code && matches!(statement.verdict, Verdict::Fails(_))
        });
        let statement = found.expect("refuted");
        let Verdict::Fails(witness) = &statement.verdict else { panic!("{statement:?}") };
        witness_json(checked.compiled.plan.as_ref().unwrap(), statement, witness)
    }

    #[test]
    fn both_keys_have_their_bytes_segments_and_arguments() {
        let text = r#"plan p; space s { key pool = 0x03 a: text("a", 1..) b: text("a", 1..); }"#;
        let literal = json!({ "start": 0, "end": 1, "kind": "literal", "name": "", "hex": "03" });
        let argument = |start: usize, end: usize, name: &str, hex: &str| json!({ "start": start, "end": end, "kind": "argument", "name": name, "hex": hex });
        assert_eq!(
            witness(text, "KP0002"),
            json!({
                "kind": "same_key",
                "first": {
                    "family": "s.pool", "args": { "a": "a", "b": "aa" }, "hex": "03616161",
                    "segments": [literal, argument(1, 2, "a", "61"), argument(2, 4, "b", "6161")],
                },
                "second": {
                    "family": "s.pool", "args": { "a": "aa", "b": "a" }, "hex": "03616161",
                    "segments": [literal, argument(1, 3, "a", "6161"), argument(3, 4, "b", "61")],
                },
            })
        );
    }

    #[test]
    fn the_prefix_of_a_scan_has_segments() {
        let text = r#"plan p; space s { key pool = 0x03 a: text("a", 1..) "/" b: u8 scan by a; key q = 0x03 x: bytes; }"#;
        let scan = &witness(text, "KP0003")["scan"];
        let spans: Vec<(u64, u64)> = scan["segments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["start"].as_u64().unwrap(), one["end"].as_u64().unwrap()))
            .collect();
        assert_eq!(spans, [(0, 1), (1, 2), (2, 3)], "{scan}");
    }

    proptest! {
        /// What is printed of a witness makes the bytes that it says, whatever float it is about.
        #[test]
        fn floats_of_a_witness_make_its_own_hex(bits in any::<u64>()) {
            let float = f64::from_bits(bits);
            prop_assume!(!float.is_nan());
            let checked = checked("plan p; space s { key a = x: f64; key b = y: f64.ordered; }");
            let plan = checked.compiled.plan.as_ref().unwrap();
            let statement = checked.statements().find(|s| s.guarantee.code() == "KP0001").unwrap();
            for path in ["s.a", "s.b"] {
                let key = &plan.find(path)[0].1.key;
                let side = Side::key(path, key, &[keyplan_plan::dynamic::Value::Float(float)]).unwrap();
                let text = side_json(plan, statement, &side).to_string();
                let json: Value = serde_json::from_str(&text).unwrap();
                let values = arguments_from_json(key, json["args"].as_object().unwrap()).unwrap();
                let again = Side::key(path, key, &values).unwrap();
                prop_assert_eq!(json["hex"].as_str().unwrap(), hex(&again.bytes), "{}", text);
            }
        }
    }
}

//! What a key means, one JSON object per line. Nothing here allocates for a key that decodes.

use keyplan_plan::dynamic::{Failure, Readings};
use keyplan_plan::explain::{Explanation, Front, Reading, front};
use keyplan_plan::model::{Sequence, Shape};
use keyplan_plan::notation::{write_bytes, write_number, write_shown_json, write_string};

use crate::values::{is_by_wire, readable_json};

/// Appends the object of one key, and ends the line.
pub fn explanation_json(out: &mut Vec<u8>, key: &[u8], explanation: &Explanation<'_>) {
    out.extend_from_slice(b"{\"key\":");
    write_bytes(out, key);
    match explanation.readings.as_slice() {
        [] => {
            out.extend_from_slice(b",\"error\":{\"kind\":\"no_family\",\"nearest\":[");
            for (index, nearest) in explanation.nearest.iter().enumerate() {
                comma(out, index);
                out.extend_from_slice(b"{\"family\":");
                write_string(out, &nearest.family.path);
                out.push(b',');
                failure_fields(out, &nearest.failure);
                out.push(b'}');
            }
            out.push(b']');
            fronts(out, key, explanation);
            out.push(b'}');
        }
        [first, rest @ ..] => {
            out.push(b',');
            decoded(out, first);
            if !rest.is_empty() {
                out.extend_from_slice(b",\"readings\":[");
                for (index, reading) in explanation.readings.iter().enumerate() {
                    comma(out, index);
                    out.push(b'{');
                    decoded(out, reading);
                    out.push(b'}');
                }
                out.push(b']');
            }
            if explanation.more {
                out.extend_from_slice(b",\"more\":true");
            }
        }
    }
    out.extend_from_slice(b"}\n");
}

/// Of which families the bytes are the front, if of any.
fn fronts(out: &mut Vec<u8>, key: &[u8], explanation: &Explanation<'_>) {
    let fronts: Vec<Front<'_>> =
        explanation.nearest.iter().filter_map(|nearest| front(nearest.family, key)).collect();
    if fronts.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"prefix_of\":[");
    for (index, front) in fronts.iter().enumerate() {
        comma(out, index);
        out.extend_from_slice(b"{\"family\":");
        write_string(out, &front.family.path);
        out.extend_from_slice(b",\"args\":");
        write_shown_json(out, &front.family.key, &front.values);
        out.push(b'}');
    }
    out.push(b']');
}

/// Appends the object of a line that is not a key.
pub fn bad_line_json(out: &mut Vec<u8>, line: usize, why: &str) {
    out.extend_from_slice(b"{\"line\":");
    write_number(out, line);
    out.extend_from_slice(b",\"error\":{\"kind\":\"bad_input\",\"message\":");
    write_string(out, why);
    out.extend_from_slice(b"}}\n");
}

/// Appends the object of a value, field or member.
pub fn part_json(
    out: &mut Vec<u8>,
    title: &str,
    sequence: &Sequence,
    bytes: &[u8],
    found: &Result<Readings, Failure>,
) {
    out.extend_from_slice(b"{\"part\":");
    write_string(out, title);
    out.extend_from_slice(b",\"bytes\":");
    write_bytes(out, bytes);
    match found {
        Err(failure) => {
            out.extend_from_slice(b",\"error\":{");
            failure_fields(out, failure);
            out.push(b'}');
        }
        Ok(found) => {
            if let Some(first) = found.readings.first() {
                out.extend_from_slice(b",\"args\":");
                write_shown_json(out, sequence, first);
            }
            decoded_value(out, sequence, bytes);
            if found.readings.len() > 1 {
                out.extend_from_slice(b",\"readings\":[");
                for (index, values) in found.readings.iter().enumerate() {
                    comma(out, index);
                    write_shown_json(out, sequence, values);
                }
                out.push(b']');
            }
        }
    }
    out.extend_from_slice(b"}\n");
}

/// What is in a value of another format, and whether it was read without its schema.
fn decoded_value(out: &mut Vec<u8>, sequence: &Sequence, bytes: &[u8]) {
    let has_format = sequence.arguments().any(|argument| matches!(argument.shape, Shape::Opaque(_)));
    if let Some(decoded) = readable_json(sequence, bytes).filter(|_| has_format) {
        out.extend_from_slice(b",\"decoded\":");
        out.extend_from_slice(decoded.to_string().as_bytes());
        if is_by_wire(sequence) {
            out.extend_from_slice(b",\"by\":\"wire\"");
        }
    }
}

fn comma(out: &mut Vec<u8>, index: usize) {
    if index > 0 {
        out.push(b',');
    }
}

fn decoded(out: &mut Vec<u8>, Reading { decoded: reading, .. }: &Reading<'_>) {
    out.extend_from_slice(b"\"space\":");
    write_string(out, &reading.space.name);
    out.extend_from_slice(b",\"family\":");
    write_string(out, &reading.family.path);
    out.extend_from_slice(b",\"args\":");
    write_shown_json(out, &reading.family.key, &reading.values);
}

fn failure_fields(out: &mut Vec<u8>, failure: &Failure) {
    out.extend_from_slice(b"\"offset\":");
    write_number(out, failure.offset);
    out.extend_from_slice(b",\"segment\":");
    write_string(out, &failure.segment);
    out.extend_from_slice(b",\"message\":");
    write_string(out, &why(failure));
}

/// What is wrong, without where.
pub fn why(failure: &Failure) -> String {
    if failure.exhausted {
        "the layout allows too many splits of this key".to_owned()
    } else {
        failure.fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use keyplan_plan::dynamic::Decoder;
    use keyplan_plan::explain::explain;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const PLAN: &str = r#"plan p;
        space a {
            key one = 0x01 id: u16 name: text("a-z", 1..=4).len8;
            key two = 0x02 side: (left: 0x00 | right: 0x01 n: u8) rest: list(u16, 0..=3);
            key both = 0x03 a: text("a-z", 1..=3) b: text("a-z", 1..=3) accept ambiguous "a test";
        }
        space b { key one = 0x01 id: u16.le x: u8; }"#;

    /// Bytes that get past the first segment of some family, most of the time.
    fn keys() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![0u8..=0x0b, Just(b'/'), Just(b'1'), Just(b'a'), Just(0xff), any::<u8>()];
        (0u8..=0x04, prop::collection::vec(byte, 0..12)).prop_map(|(first, mut rest)| {
            rest.insert(0, first);
            rest
        })
    }

    proptest! {
        #[test]
        fn any_key_gives_one_line_of_json(key in keys()) {
            let plan = keyplan_plan::compile("p", PLAN, |_| Err(String::new())).plan.unwrap();
            let decoder = Decoder::new(&plan);
            for spaces in [vec![0], vec![0, 1]] {
                let explanation = explain(&decoder, &spaces, &key);
                let mut line = Vec::new();
                explanation_json(&mut line, &key, &explanation);
                prop_assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
                let object: Value = serde_json::from_slice(&line).unwrap();
                prop_assert_eq!(&object["key"], &json!(const_hex::encode(&key)));
                prop_assert_eq!(object.get("error").is_some(), explanation.readings.is_empty());
            }
        }
    }
}

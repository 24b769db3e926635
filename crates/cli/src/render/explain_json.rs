//! What a key stands for, one JSON object a line. Nothing here allocates for a key that decodes.

use keyplan_plan::dynamic::{Decoded, Failure, Readings};
use keyplan_plan::model::Sequence;

use super::json::{arguments, hex_string, number, string};
use crate::command::Explanation;

/// Appends the object of one key, and ends the line.
pub(crate) fn explanation_json(out: &mut Vec<u8>, key: &[u8], explanation: &Explanation<'_>) {
    out.extend_from_slice(b"{\"key\":");
    hex_string(out, key);
    match explanation.readings.as_slice() {
        [] => {
            out.extend_from_slice(b",\"error\":{\"kind\":\"no_family\",\"nearest\":[");
            for (index, (family, failure)) in explanation.nearest.iter().enumerate() {
                comma(out, index);
                out.extend_from_slice(b"{\"family\":");
                string(out, family);
                out.push(b',');
                failure_fields(out, failure);
                out.push(b'}');
            }
            out.extend_from_slice(b"]}");
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

/// Appends the object of a line that is no key.
pub(crate) fn bad_line_json(out: &mut Vec<u8>, line: usize, why: &str) {
    out.extend_from_slice(b"{\"line\":");
    number(out, line);
    out.extend_from_slice(b",\"error\":{\"kind\":\"bad_input\",\"message\":");
    string(out, why);
    out.extend_from_slice(b"}}\n");
}

/// Appends the object of a value, field or member.
pub(crate) fn part_json(
    out: &mut Vec<u8>,
    title: &str,
    sequence: &Sequence,
    bytes: &[u8],
    found: &Result<Readings, Failure>,
) {
    out.extend_from_slice(b"{\"part\":");
    string(out, title);
    out.extend_from_slice(b",\"bytes\":");
    hex_string(out, bytes);
    match found {
        Err(failure) => {
            out.extend_from_slice(b",\"error\":{");
            failure_fields(out, failure);
            out.push(b'}');
        }
        Ok(found) => {
            if let Some(first) = found.readings.first() {
                out.extend_from_slice(b",\"args\":");
                arguments(out, sequence, first);
            }
            if found.readings.len() > 1 {
                out.extend_from_slice(b",\"readings\":[");
                for (index, values) in found.readings.iter().enumerate() {
                    comma(out, index);
                    arguments(out, sequence, values);
                }
                out.push(b']');
            }
        }
    }
    out.extend_from_slice(b"}\n");
}

fn comma(out: &mut Vec<u8>, index: usize) {
    if index > 0 {
        out.push(b',');
    }
}

fn decoded(out: &mut Vec<u8>, reading: &Decoded<'_>) {
    out.extend_from_slice(b"\"space\":");
    string(out, &reading.space.name);
    out.extend_from_slice(b",\"family\":");
    string(out, &reading.family.path);
    out.extend_from_slice(b",\"args\":");
    arguments(out, &reading.family.key, &reading.values);
}

fn failure_fields(out: &mut Vec<u8>, failure: &Failure) {
    out.extend_from_slice(b"\"offset\":");
    number(out, failure.offset);
    out.extend_from_slice(b",\"segment\":");
    string(out, &failure.segment);
    out.extend_from_slice(b",\"message\":");
    string(out, &why(failure));
}

/// What is wrong, without where.
pub(super) fn why(failure: &Failure) -> String {
    if failure.exhausted {
        "the layout allows too many splits of this key".to_owned()
    } else {
        failure.fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use keyplan_plan::dynamic::Decoder;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::command::read;

    /// Bytes that get past the first segment of some family, most of the time.
    fn keys() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![0u8..=0x0b, Just(b'/'), Just(b'1'), Just(b'a'), Just(0xff), any::<u8>()];
        (0u8..=0x0b, prop::collection::vec(byte, 0..48)).prop_map(|(first, mut rest)| {
            rest.insert(0, first);
            rest
        })
    }

    proptest! {
        #[test]
        fn any_key_gives_one_line_of_json_and_a_picture(key in keys()) {
            let text = include_str!("../../tests/plans/shapes.keyplan");
            let plan = keyplan_plan::compile("shapes", text, |_| Err(String::new())).plan.unwrap();
            let decoder = Decoder::new(&plan);
            for spaces in [vec![0], vec![0, 1]] {
                let explanation = read(&decoder, &spaces, &key);
                let mut line = Vec::new();
                explanation_json(&mut line, &key, &explanation);
                prop_assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
                let object: Value = serde_json::from_slice(&line).unwrap();
                prop_assert_eq!(&object["key"], &json!(const_hex::encode(&key)));
                prop_assert_eq!(object.get("error").is_some(), explanation.readings.is_empty());
                let picture = crate::render::explanation(&plan, &spaces, &key, &explanation, 40);
                prop_assert!(!picture.is_empty());
            }
        }
    }
}

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::{Decoded, Decoder, Miss, Value, encode, other_key, readings};
use keyplan_plan::model::{Argument, Family, Opaque, Plan, Segment, Sequence, Shape};
use keyplan_plan::notation::{arguments_from_json, is_hidden, write_json};
use keyplan_values::{Format, Limits};

use crate::args::InputFormat;
use crate::command::encode::{complete, name};
use crate::key_text;
use crate::render::Notation;

/// What a value layout leaves to others, if it is nothing but that.
pub(crate) fn opaque(layout: &Sequence) -> Option<&Opaque> {
    match layout.segments() {
        [Segment::Argument(Argument { name: None, shape: Shape::Opaque(opaque), .. })] => Some(opaque),
        _ => None,
    }
}

/// A row as it is shown.
pub(crate) struct View<'r, 'p> {
    /// The name of its space in the plan.
    pub(crate) space: &'p str,
    /// Its key.
    pub(crate) key: &'r [u8],
    /// Its value.
    pub(crate) value: &'r [u8],
    /// What the key stands for, or why no family makes it.
    pub(crate) decoded: &'r Result<Decoded<'p>, Miss<'p>>,
}

impl<'p> View<'_, 'p> {
    /// The value as JSON that makes these bytes again when it is loaded: an object with its arguments, or the JSON that it
    /// is. `None` where only its bytes do.
    pub(crate) fn value_json(&self) -> Option<Vec<u8>> {
        let layout = self.decoded.as_ref().ok()?.family.value.as_ref()?;
        if let Some(opaque) = opaque(layout) {
            return match opaque {
                Opaque::Json => is_plain_json(self.value).then(|| self.value.to_vec()),
                Opaque::Cbor => cbor_json(self.value),
                _ => None,
            };
        }
        let found = readings(layout, self.value, 2).ok()?;
        let [values] = found.readings.as_slice() else { return None };
        let mut out = Vec::new();
        write_json(&mut out, layout, values);
        Some(out)
    }

    /// Whether its arguments are enough to make the key again: another reading would be refused.
    pub(crate) fn is_unambiguous(&self, decoder: &Decoder<'p>, space: usize) -> bool {
        self.decoded.as_ref().is_ok_and(|decoded| {
            decoded.family.accepts.is_empty()
                || other_key(decoder, space, decoded.family, &decoded.values, self.key).is_none()
        })
    }
}

/// An object or list of CBOR as JSON that makes these bytes again.
fn cbor_json(bytes: &[u8]) -> Option<Vec<u8>> {
    let node = keyplan_values::decode(Format::Cbor, bytes, &Limits::default()).ok()?;
    let json = keyplan_values::json(&node);
    if !(json.is_object() || json.is_array()) || keyplan_values::encode_cbor(&json) != bytes {
        return None;
    }
    let text = json.to_string();
    (!text.chars().any(is_hidden)).then(|| text.into_bytes())
}

/// Whether bytes are an object or a list of JSON on one line, which can be part of another without a change.
fn is_plain_json(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.starts_with(['{', '['])
        && text.ends_with(['}', ']'])
        && !text.contains(['\n', '\r'])
        && !text.chars().any(is_hidden)
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The key that is typed as arguments of a family.
pub(super) fn typed_key(
    plan: &Plan,
    family: &Family,
    given: &[(&str, &str)],
) -> Result<(Vec<u8>, Vec<Value>)> {
    let values = complete(Notation::of(plan), &family.key, given, &family.path)?;
    let mut key = Vec::new();
    encode(&family.key, &values, &mut key)?;
    Ok((key, values))
}

/// The value that is typed as arguments of a family's value; as hex digits where the plan gives it no layout.
pub(super) fn typed_value(plan: &Plan, family: &Family, given: &[(&str, &str)]) -> Result<Vec<u8>> {
    let title = format!("the value of {}", family.path);
    let mut bytes = Vec::new();
    let Some(layout) = &family.value else {
        let [("value", text)] = given else {
            bail!("{title} has no layout in the plan: write it as value=HEX");
        };
        key_text::read(text.as_bytes(), InputFormat::Hex, &mut bytes)
            .map_err(|error| anyhow!("`value={text}`: {error}"))?;
        return Ok(bytes);
    };
    if let ([("value", text)], Some(opaque)) = (given, opaque(layout)) {
        return opaque_value(opaque, text);
    }
    let values = match given {
        [("value", text)] if text.starts_with('{') && !is_value_typed(layout) => {
            let object = serde_json::from_str(text).map_err(|error| anyhow!("`value={text}`: {error}"))?;
            arguments_from_json(layout, &object).map_err(|error| anyhow!("`value={text}`: {error}"))?
        }
        given => complete(Notation::of(plan), layout, given, &title)?,
    };
    encode(layout, &values, &mut bytes)?;
    Ok(bytes)
}

/// Whether the layout has an argument that is itself called `value`, or has no name.
fn is_value_typed(layout: &Sequence) -> bool {
    layout.arguments().any(|argument| name(argument) == "value")
}

/// A value that the plan does not look into: JSON as it is or as CBOR, or hex digits.
fn opaque_value(opaque: &Opaque, text: &str) -> Result<Vec<u8>> {
    if *opaque == Opaque::Json && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return Ok(text.as_bytes().to_vec());
    }
    if let (Opaque::Cbor, true) = (opaque, text.starts_with(['{', '['])) {
        let json = serde_json::from_str(text).map_err(|error| anyhow!("`value={text}`: {error}"))?;
        return Ok(keyplan_values::encode_cbor(&json));
    }
    let mut bytes = Vec::new();
    key_text::read(text.as_bytes(), InputFormat::Hex, &mut bytes).map_err(|error| match opaque {
        Opaque::Json => anyhow!("`value={text}` is neither JSON nor hex digits"),
        _ => anyhow!("`value={text}`: {error}"),
    })?;
    Ok(bytes)
}

/// A name and what was typed for it.
type Given<'a> = (&'a str, &'a str);

/// The arguments of the key, and those of the value: what the key does not have, or what is called `value.…`.
pub(super) fn divided<'a>(family: &Family, given: &[Given<'a>]) -> (Vec<Given<'a>>, Vec<Given<'a>>) {
    let mut of_key = Vec::new();
    let mut of_value = Vec::new();
    for &(typed, text) in given {
        if let Some(name) = typed.strip_prefix("value.") {
            of_value.push((name, text));
        } else if family.key.arguments().any(|argument| name(argument) == typed) {
            of_key.push((typed, text));
        } else {
            of_value.push((typed, text));
        }
    }
    (of_key, of_value)
}

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::{Decoded, Decoder, Miss, Value, encode, other_key};
use keyplan_plan::model::{Argument, Family, Opaque, Plan, Segment, Sequence, Shape};
use keyplan_report::values::{bytes_of, opaque_bytes};

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
    /// The layout of its value, if the plan gives one.
    pub(crate) fn layout(&self) -> Option<&'p Sequence> {
        self.decoded.as_ref().ok()?.family.value.as_ref()
    }

    /// Whether its arguments are enough to make the key again: another reading would be refused.
    pub(crate) fn is_unambiguous(&self, decoder: &Decoder<'p>, space: usize) -> bool {
        self.decoded.as_ref().is_ok_and(|decoded| {
            decoded.family.accepts.is_empty()
                || other_key(decoder, space, decoded.family, &decoded.values, self.key).is_none()
        })
    }
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
            return bytes_of(layout, &object).map_err(|why| anyhow!("`value={text}`: {why}"));
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

/// A value in a format of its own: JSON as it is, JSON that another format has a form for, or hex digits.
pub(crate) fn opaque_value(opaque: &Opaque, text: &str) -> Result<Vec<u8>> {
    if *opaque == Opaque::Json && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return Ok(text.as_bytes().to_vec());
    }
    if !matches!(opaque, Opaque::Json | Opaque::Raw) && text.trim_start().starts_with(['{', '[', '"']) {
        let json = serde_json::from_str(text).map_err(|error| anyhow!("`value={text}`: {error}"))?;
        return opaque_bytes(opaque, &json).map_err(|why| anyhow!("`value={text}`: {why}"));
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

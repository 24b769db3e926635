use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::{Decoded, Decoder, Miss, Value, encode, other_key, readings};
use keyplan_plan::model::{Family, Plan};

use crate::args::InputFormat;
use crate::command::encode::{complete, name};
use crate::key_text;
use crate::render::Notation;

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
    /// The arguments of the value, if the plan gives it a layout and it has that layout; `None` where it gives none.
    pub(crate) fn value_arguments(&self) -> Option<Result<Vec<Value>, String>> {
        let layout = self.decoded.as_ref().ok()?.family.value.as_ref()?;
        Some(match readings(layout, self.value, 1) {
            Ok(mut found) => found.readings.pop().ok_or_else(|| "there is no reading".to_owned()),
            Err(failure) => Err(failure.to_string()),
        })
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
    let values = complete(Notation::of(plan), layout, given, &title)?;
    encode(layout, &values, &mut bytes)?;
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

//! Keys, values and scans as they are typed: `NAME=VALUE`, for the arguments of a layout.
//!
//! ```
//! use keyplan_database::typed::{assignments, typed_key};
//!
//! let text = "plan p; space s { key k = 0x01 id: u16; }";
//! let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.expect("sound");
//! let typed = ["id=7".to_owned()];
//! let (key, _) = typed_key(&plan, &plan.spaces[0].families[0], &assignments(&typed)?)?;
//! assert_eq!(key, [1, 0, 7]);
//! # Ok::<(), keyplan_database::Error>(())
//! ```

use keyplan_plan::dynamic::{Value, encode, prefix};
use keyplan_plan::model::{Argument, Family, Opaque, Plan, Scan, Segment, Sequence, Shape};
use keyplan_plan::notation::{self, Notation};
use keyplan_report::key_text::{self, KeyText};
use keyplan_report::row::opaque;
use keyplan_report::values::{bytes_of, opaque_bytes};

use crate::error::{Result, bail, refused};

/// `name=value`, taken apart.
pub fn assignments(typed: &[String]) -> Result<Vec<(&str, &str)>> {
    let mut given: Vec<(&str, &str)> = Vec::new();
    for text in typed {
        let Some((name, value)) = text.split_once('=') else {
            bail!("`{text}` is not an argument: write NAME=VALUE");
        };
        if given.iter().any(|(other, _)| *other == name) {
            bail!("the argument `{name}` is given twice");
        }
        given.push((name, value));
    }
    Ok(given)
}

/// What an argument is typed as.
pub fn name(argument: &Argument) -> &str {
    argument.name.as_deref().unwrap_or("value")
}

/// How a record is typed that has an argument of this name.
fn record_with(argument: &Argument, wanted: &str) -> Option<String> {
    let Shape::Record(record) = &argument.shape else { return None };
    let inside: Vec<&str> = record.arguments().filter_map(|inside| inside.name.as_deref()).collect();
    let typed: Vec<String> = inside.iter().map(|name| format!("{name}=…")).collect();
    inside.contains(&wanted).then(|| format!("{}=({})", name(argument), typed.join(", ")))
}

/// The values of the first arguments of a layout, as many as were given.
pub fn leading(sequence: &Sequence, given: &[(&str, &str)], title: &str) -> Result<Vec<Value>> {
    let names: Vec<&str> = sequence.arguments().map(name).collect();
    for (given, _) in given {
        if !names.contains(given) {
            if let Some(record) = sequence.arguments().find_map(|argument| record_with(argument, given)) {
                bail!("{title} has no argument `{given}`, but a record that has it: write '{record}'");
            }
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            bail!("{title} has no argument `{given}`; it has: {has}");
        }
    }
    let mut values = Vec::new();
    for argument in sequence.arguments() {
        let Some((name, text)) = given.iter().find(|(given, _)| *given == name(argument)) else { break };
        values.push(typed(argument, text).map_err(|error| refused!("`{name}={text}`: {error}"))?);
    }
    Ok(values)
}

/// A value as it was typed: in the form that the plan shows it in, or of another format as JSON.
pub fn typed(argument: &Argument, text: &str) -> Result<Value> {
    if let Shape::Opaque(opaque) = &argument.shape
        && text.trim_start().starts_with(['{', '['])
    {
        return opaque_value(opaque, text).map(Value::Bytes);
    }
    argument.parse(text).map_err(|error| refused!("{error}"))
}

/// A value for each argument of a layout.
pub fn complete(
    notation: Notation<'_>,
    sequence: &Sequence,
    given: &[(&str, &str)],
    title: &str,
) -> Result<Vec<Value>> {
    let values = leading(sequence, given, title)?;
    if values.len() < sequence.argument_count() {
        let missing: Vec<String> = sequence
            .arguments()
            .filter(|argument| given.iter().all(|(given, _)| *given != name(argument)))
            .map(|argument| format!("{} ({})", name(argument), notation.type_of(argument)))
            .collect();
        bail!("{title} also needs: {}", missing.join(", "));
    }
    Ok(values)
}

/// A key up to the last argument given, and nothing after that.
pub fn front(family: &Family, given: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<Value>)> {
    let values = leading(&family.key, given, &family.path)?;
    let segments = family.key.segments().iter().enumerate();
    let arguments = segments.filter(|(_, segment)| matches!(segment, Segment::Argument(_)));
    let behind = arguments.take(values.len()).last().map_or(0, |(index, _)| index + 1);
    let mut bytes = Vec::new();
    prefix(&family.key, behind, &values, &mut bytes)?;
    Ok((bytes, values))
}

/// The scan of a family that binds the arguments of these names, or as many.
pub fn scan_of<'f>(family: &'f Family, given: &[(&str, &str)]) -> Option<&'f Scan> {
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    family.scan_named(&names).or_else(|| family.scan_by(given.len()))
}

/// The prefix of the scan that binds exactly the arguments given.
pub fn scan_prefix(family: &Family, given: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<Value>)> {
    let scan = scan_of(family, given);
    let values = leading(scan.map_or(&family.key, |scan| scan.layout(&family.key)), given, &family.path)?;
    let Some(scan) = scan.filter(|_| values.len() == given.len()) else {
        let scans: Vec<String> = family.scans.iter().map(|scan| notation::scan(family, scan)).collect();
        let has = if scans.is_empty() { "none".to_owned() } else { scans.join("; ") };
        bail!("`{}` has no scan that binds just these arguments; its scans: {has}", family.path);
    };
    let mut bytes = Vec::new();
    scan.write(&family.key, &values, &mut bytes)?;
    Ok((bytes, values))
}

/// The key that is typed as arguments of a family.
pub fn typed_key(plan: &Plan, family: &Family, given: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<Value>)> {
    let values = complete(Notation::of(plan), &family.key, given, &family.path)?;
    let mut key = Vec::new();
    encode(&family.key, &values, &mut key)?;
    Ok((key, values))
}

/// The value that is typed as arguments of a family's value; as hex digits where the plan gives it no layout.
pub fn typed_value(plan: &Plan, family: &Family, given: &[(&str, &str)]) -> Result<Vec<u8>> {
    let title = format!("the value of {}", family.path);
    let mut bytes = Vec::new();
    let Some(layout) = &family.value else {
        let [("value", text)] = given else {
            bail!("{title} has no layout in the plan: write it as value=HEX");
        };
        key_text::read(text.as_bytes(), KeyText::Hex, &mut bytes)
            .map_err(|error| refused!("`value={text}`: {error}"))?;
        return Ok(bytes);
    };
    if let ([("value", text)], Some(opaque)) = (given, opaque(layout)) {
        return opaque_value(opaque, text);
    }
    let values = match given {
        [("value", text)] if text.starts_with('{') && !is_value_typed(layout) => {
            return bytes_of(layout, text).map_err(|why| refused!("`value={text}`: {why}"));
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
pub fn opaque_value(opaque: &Opaque, text: &str) -> Result<Vec<u8>> {
    if *opaque == Opaque::Json && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return Ok(text.as_bytes().to_vec());
    }
    if !matches!(opaque, Opaque::Json | Opaque::Raw) && text.trim_start().starts_with(['{', '[', '"']) {
        return opaque_bytes(opaque, text).map_err(|why| refused!("`value={text}`: {why}"));
    }
    let mut bytes = Vec::new();
    key_text::read(text.as_bytes(), KeyText::Hex, &mut bytes).map_err(|error| match opaque {
        Opaque::Json => refused!("`value={text}` is neither JSON nor hex digits"),
        _ => refused!("`value={text}`: {error}"),
    })?;
    Ok(bytes)
}

/// A name and what was typed for it.
type Given<'a> = (&'a str, &'a str);

/// The arguments of the key, and those of the value: what the key does not have, or what is called `value.…`.
pub fn divided<'a>(family: &Family, given: &[Given<'a>]) -> (Vec<Given<'a>>, Vec<Given<'a>>) {
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

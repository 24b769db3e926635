//! Values from JSON: what [`write_json`](super::write_json) writes, back.

use std::fmt;

use serde_json::{Map, Value as Json};

use super::argument_name;
use crate::dynamic::{ParseError, Value, parse};
use crate::model::{Argument, Sequence, Shape};

/// Why JSON does not hold the values of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The names that lead to the fault, the outermost first.
    pub path: Vec<String>,
    /// What is wrong there.
    pub message: String,
}

impl JsonError {
    fn within(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.iter().try_for_each(|name| write!(f, "`{name}`: "))?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsonError {}

impl From<ParseError> for JsonError {
    fn from(error: ParseError) -> Self {
        wrong(error.to_string())
    }
}

fn wrong(message: impl Into<String>) -> JsonError {
    JsonError { path: Vec::new(), message: message.into() }
}

/// A value for each argument of a layout, from an object with their names.
///
/// ```
/// use keyplan_plan::{dynamic::Value, notation::arguments_from_json};
///
/// let text = "plan demo; space s { key tick = 0x01 pool: u64 tick: i64.tick9; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let layout = &plan.find("tick")[0].1.key;
/// let object = serde_json::from_str(r#"{"pool": "7", "tick": -100}"#).expect("JSON");
/// assert_eq!(arguments_from_json(layout, &object), Ok(vec![Value::Unsigned(7), Value::Signed(-100)]));
/// ```
pub fn arguments_from_json(sequence: &Sequence, object: &Map<String, Json>) -> Result<Vec<Value>, JsonError> {
    arguments(sequence, object, Form::Shown)
}

/// As [`arguments_from_json`], of what [`write_json`](super::write_json) wrote: digits of bytes are the bytes in their order, even where
/// the plan shows them in another.
pub fn plain_arguments_from_json(
    sequence: &Sequence,
    object: &Map<String, Json>,
) -> Result<Vec<Value>, JsonError> {
    arguments(sequence, object, Form::Plain)
}

/// How a text is taken that can be read in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In the form that the plan shows the argument in.
    Shown,
    /// As any value of its shape.
    Plain,
}

fn arguments(sequence: &Sequence, object: &Map<String, Json>, form: Form) -> Result<Vec<Value>, JsonError> {
    let names: Vec<&str> = sequence.arguments().map(argument_name).collect();
    if let Some(extra) = object.keys().find(|key| !names.contains(&key.as_str())) {
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(wrong(format!("there is no argument `{extra}`; there are: {has}")));
    }
    let mut values = Vec::new();
    for argument in sequence.arguments() {
        let name = argument_name(argument);
        let json = object.get(name).ok_or_else(|| wrong(format!("the argument `{name}` is missing")))?;
        values.push(of_argument(argument, json, form).map_err(|error| error.within(name))?);
    }
    Ok(values)
}

/// A value in the form that the plan shows it in, or as any value of its shape.
fn of_argument(argument: &Argument, json: &Json, form: Form) -> Result<Value, JsonError> {
    match json {
        // What is in an option is not shown in a form.
        Json::String(text)
            if argument.shown.is_some() && !matches!(argument.shape.values(), Shape::Option(_)) =>
        {
            match form {
                Form::Shown => Ok(argument.parse(text)?),
                Form::Plain => value(&argument.shape, json, form).or_else(|_| Ok(argument.parse(text)?)),
            }
        }
        json => value(&argument.shape, json, form),
    }
}

fn value(shape: &Shape, json: &Json, form: Form) -> Result<Value, JsonError> {
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
        ) => value(inner, json, form),
        (Shape::Text(_), Json::String(text)) => Ok(Value::Text(text.clone())),
        (Shape::Record(sequence), json) => Ok(Value::Record(layout(sequence, json, form)?)),
        (Shape::Choice(alternatives), json) => {
            let (label, inner) = match json {
                Json::String(label) => (label, None),
                Json::Object(object) => match object.iter().collect::<Vec<_>>().as_slice() {
                    [(label, inner)] => (*label, Some(*inner)),
                    _ => return Err(wrong("a choice is its label, or an object with only its label")),
                },
                _ => return Err(wrong("a choice is its label, or an object with only its label")),
            };
            let found = alternatives.iter().enumerate().find(|(_, alternative)| alternative.label == *label);
            let Some((index, alternative)) = found else {
                let labels: Vec<&str> = alternatives.iter().map(|other| other.label.as_str()).collect();
                return Err(wrong(format!(
                    "there is no alternative `{label}`; there are: {}",
                    labels.join(", ")
                )));
            };
            let values = match inner {
                Some(inner) => layout(&alternative.sequence, inner, form)?,
                None if alternative.sequence.argument_count() == 0 => Vec::new(),
                None => return Err(wrong(format!("the alternative `{label}` has arguments"))),
            };
            Ok(Value::Choice(index, values))
        }
        (Shape::Option(_), Json::Null) => Ok(Value::Option(None)),
        // What an option holds may be `null` itself.
        (Shape::Option(inner), json) if inner.optional().is_some() => match json {
            Json::Array(items) if items.len() == 1 => {
                let inner =
                    items.iter().map(|json| value(inner, json, form)).collect::<Result<Vec<_>, _>>()?;
                Ok(Value::Option(inner.into_iter().next().map(Box::new)))
            }
            _ => Err(wrong("an option in an option is `null`, or a list of what is in the outer one")),
        },
        (Shape::Option(inner), json) => Ok(Value::Option(Some(Box::new(value(inner, json, form)?)))),
        (Shape::List { item, .. }, Json::Array(items)) => {
            Ok(Value::List(items.iter().map(|json| value(item, json, form)).collect::<Result<_, _>>()?))
        }
        // Numbers, bytes, times, scores and nibbles, as `encode` takes them.
        (shape, Json::String(text)) => Ok(parse(shape, text)?),
        (shape, Json::Number(number)) => Ok(parse(shape, &number.to_string())?),
        (_, json) => Err(wrong(format!("`{json}` does not belong here"))),
    }
}

/// A value for each argument of a record, an alternative or a value's layout; one without a name has no object around it.
pub fn layout_from_json(sequence: &Sequence, json: &Json) -> Result<Vec<Value>, JsonError> {
    layout(sequence, json, Form::Shown)
}

fn layout(sequence: &Sequence, json: &Json, form: Form) -> Result<Vec<Value>, JsonError> {
    let mut all = sequence.arguments();
    match (all.next(), sequence.argument_count(), json) {
        (Some(argument @ Argument { name: None, .. }), 1, json) => {
            Ok(vec![of_argument(argument, json, form)?])
        }
        (_, _, Json::Object(object)) => arguments(sequence, object, form),
        _ => Err(wrong("an object with the arguments belongs here")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dynamic::Decoder;

    #[test]
    fn an_option_in_an_option_reads_back_as_it_was() {
        let text = "plan p; space s { key k = 0x01 x: option(option(option(u8).len8).len8); }";
        let plan = crate::compile("p", text, |_| Err(String::new())).plan.unwrap();
        let layout = &plan.spaces[0].families[0].key;
        let some = |value| Value::Option(Some(Box::new(value)));
        let none = || Value::Option(None);
        let seven = some(some(some(Value::Unsigned(7))));
        let all =
            [(none(), "null"), (some(none()), "[null]"), (some(some(none())), "[[null]]"), (seven, "[[7]]")];
        for (value, wanted) in all {
            let mut line = Vec::new();
            super::super::write_json(&mut line, layout, std::slice::from_ref(&value));
            assert_eq!(String::from_utf8(line.clone()).unwrap(), format!("{{\"x\":{wanted}}}"));
            let json: Map<String, Json> = serde_json::from_slice(&line).unwrap();
            assert_eq!(arguments_from_json(layout, &json).unwrap(), [value]);
        }
        for wrong in ["7", "[7]", "[]", "[null, null]", "[[[7]]]"] {
            let json: Map<String, Json> = serde_json::from_str(&format!("{{\"x\":{wrong}}}")).unwrap();
            arguments_from_json(layout, &json).unwrap_err();
        }
    }

    #[test]
    fn what_a_plan_shows_in_a_form_reads_back_in_it_and_without() {
        let text = "plan p; type Tx = bytes(4).shown(reversed); space s { key k = 0x01 t: Tx o: option(Tx).len8 \
                    r: (t: Tx n: u8) l: list(Tx, 0..=2).count8 c: (a: 0x00 | b: 0x01 t: Tx) a: bytes(3).shown(bech32(\"osmo\")) \
                    s: u64.shown(seconds); }";
        let plan = crate::compile("p", text, |_| Err(String::new())).plan.unwrap();
        let layout = &plan.spaces[0].families[0].key;
        let bytes = || Value::Bytes(vec![1, 2, 3, 4]);
        let values = [
            bytes(),
            Value::Option(Some(Box::new(bytes()))),
            Value::Record(vec![bytes(), Value::Unsigned(7)]),
            Value::List(vec![bytes()]),
            Value::Choice(1, vec![bytes()]),
            Value::Bytes(vec![1, 2, 3]),
            Value::Unsigned(7),
        ];
        let object = |line: &[u8]| serde_json::from_slice::<Map<String, Json>>(line).unwrap();
        let (mut shown, mut raw) = (Vec::new(), Vec::new());
        super::super::write_shown_json(&mut shown, layout, &values);
        super::super::write_json(&mut raw, layout, &values);
        assert_eq!(object(&shown)["t"], "04030201");
        assert_eq!(object(&raw)["t"], "01020304");
        assert_eq!(arguments_from_json(layout, &object(&shown)).unwrap(), values);
        assert_eq!(plain_arguments_from_json(layout, &object(&raw)).unwrap(), values);
        // Other forms are like no plain value.
        let mut mixed = object(&raw);
        mixed.extend(["a", "s"].map(|name| (name.to_owned(), object(&shown)[name].clone())));
        assert_eq!(plain_arguments_from_json(layout, &mixed).unwrap(), values);
    }

    proptest! {
        #[test]
        fn floats_make_the_same_bytes_again(bits in any::<u64>()) {
            let text = "plan p; space s { key k = x: f64; }";
            let plan = crate::compile("p", text, |_| Err(String::new())).plan.unwrap();
            let layout = &plan.spaces[0].families[0].key;
            let mut line = Vec::new();
            super::super::write_json(&mut line, layout, &[Value::Float(f64::from_bits(bits))]);
            let json: Map<String, Json> = serde_json::from_slice(&line).unwrap();
            let values = arguments_from_json(layout, &json).unwrap();
            let mut key = Vec::new();
            crate::dynamic::encode(layout, &values, &mut key).unwrap();
            prop_assert_eq!(key, bits.to_be_bytes());
        }

        #[test]
        fn what_is_printed_reads_back(first in 0_u8..=0x0b, rest in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = include_str!("../../tests/shapes.keyplan");
            let plan = crate::compile("shapes", text, |_| Err(String::new())).plan.unwrap();
            let decoder = Decoder::new(&plan);
            let key = [&[first][..], &rest].concat();
            for space in 0..plan.spaces.len() {
                let Ok(decoded) = decoder.decode(space, &key) else { continue };
                let mut line = Vec::new();
                super::super::write_json(&mut line, &decoded.family.key, &decoded.values);
                let json: Map<String, Json> = serde_json::from_slice(&line).unwrap();
                let values = arguments_from_json(&decoded.family.key, &json).unwrap();
                let mut again = Vec::new();
                crate::dynamic::encode(&decoded.family.key, &values, &mut again).unwrap();
                prop_assert_eq!(&again, &key);
            }
        }
    }
}

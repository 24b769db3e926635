//! Values, members and scores, looked into as far as a plan says what is in them.
//!
//! ```
//! use keyplan_report::look::{Looked, look};
//!
//! let text = "plan p; space s { key k = 0x01 -> cbor; }";
//! let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.expect("sound");
//! let layout = plan.spaces[0].families[0].value.as_ref().expect("a value");
//! assert_eq!(look(layout, b"\x82\x01\x02"), Looked::Sound);
//! assert!(matches!(look(layout, b"\x82\x01"), Looked::Unsound(_)));
//! ```

use keyplan_plan::dynamic::{Value, readings};
use keyplan_plan::model::{IntRange, Opaque, Sequence, Shape};
use keyplan_plan::notation::argument_name;
use keyplan_store::structure::SetScore;
use serde::de::IgnoredAny;

use crate::values::{self, ValueFault};

/// What came of a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// It is one of the plan.
    Sound,
    /// It is none, and why.
    Unsound(String),
    /// Nobody can tell from the plan; this is what such things are called.
    Unseen(&'static str),
}

impl Looked {
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Sound => other(),
            Self::Unseen(what) => match other() {
                Self::Unsound(why) => Self::Unsound(why),
                _ => Self::Unseen(what),
            },
            unsound @ Self::Unsound(_) => unsound,
        }
    }
}

/// Looks at bytes under a layout.
pub fn look(layout: &Sequence, bytes: &[u8]) -> Looked {
    match readings(layout, bytes, 1) {
        Err(failure) => Looked::Unsound(failure.to_string()),
        Ok(found) => found.readings.first().map_or(Looked::Sound, |values| arguments(layout, values)),
    }
}

fn arguments(layout: &Sequence, values: &[Value]) -> Looked {
    layout.arguments().zip(values).fold(Looked::Sound, |looked, (argument, value)| {
        looked.and(|| match inside(&argument.shape, value) {
            Looked::Unsound(why) => Looked::Unsound(format!("`{}`: {why}", argument_name(argument))),
            other => other,
        })
    })
}

fn inside(shape: &Shape, value: &Value) -> Looked {
    let shape = shape.unwrapped();
    let row = |index: usize, values: &[Value]| {
        shape.rows().nth(index).map_or(Looked::Sound, |layout| arguments(layout, values))
    };
    let each = |values: &[Value]| {
        let all = shape.inner().into_iter().flat_map(|inner| values.iter().map(move |value| (inner, value)));
        all.fold(Looked::Sound, |looked, (inner, value)| looked.and(|| inside(inner, value)))
    };
    match (shape, value) {
        (Shape::Opaque(opaque), Value::Bytes(bytes)) => outside(opaque, bytes),
        (_, Value::Record(values)) => row(0, values),
        (_, Value::Choice(index, values)) => row(*index, values),
        (_, Value::Option(Some(value))) => each(std::slice::from_ref(&**value)),
        (_, Value::List(values)) => each(values),
        _ => Looked::Sound,
    }
}

/// What the plan leaves to another format.
fn outside(opaque: &Opaque, bytes: &[u8]) -> Looked {
    match opaque {
        Opaque::Raw => Looked::Sound,
        Opaque::Json => match serde_json::from_slice::<IgnoredAny>(bytes) {
            Ok(_) => Looked::Sound,
            Err(error) => Looked::Unsound(format!("it is not JSON: {error}")),
        },
        Opaque::Cbor | Opaque::Rlp | Opaque::Proto(_) | Opaque::Coded(_) => match values::read(opaque, bytes)
        {
            Some(Ok(seen)) if seen.by_wire => Looked::Unseen("the inside of protobuf values"),
            Some(Err(_)) | None if matches!(opaque, Opaque::Proto(_)) && !values::has_schema(opaque) => {
                Looked::Unseen("the inside of protobuf values")
            }
            Some(Err(fault)) if fault.is_limit() => Looked::Unseen("the inside of very large values"),
            Some(Err(fault)) => Looked::Unsound(format!("it is {}", ValueFault::broken(opaque, fault))),
            _ => Looked::Sound,
        },
    }
}

/// Looks at a score.
pub fn look_at_score(layout: &Sequence, score: SetScore) -> Looked {
    match score {
        SetScore::Number(number) => look_at_rank(layout, Some(number)),
        SetScore::Place(_) => look_at_rank(layout, None),
    }
}

/// Looks at the number by which something is ranked; at its place in chain order if it has none.
pub(crate) fn look_at_rank(layout: &Sequence, number: Option<f64>) -> Looked {
    let mut all = layout.arguments();
    let (Some(argument), None, 1) = (all.next(), all.next(), layout.segments().len()) else {
        return Looked::Unseen("scores of several parts");
    };
    let fits = match (&argument.shape, number) {
        (Shape::Int(int), Some(number)) => is_of(int.range, number),
        (Shape::Float(_), Some(_)) | (Shape::Score { .. }, _) => true,
        (_, None) => false,
        _ => return Looked::Unseen("scores that are not numbers in the plan"),
    };
    if fits {
        return Looked::Sound;
    }
    let shown = number.map_or_else(|| "of a place in chain order".to_owned(), |number| number.to_string());
    Looked::Unsound(format!("the score {shown} is not one of `{}`", argument_name(argument)))
}

/// Whether a float is a whole number of a range.
fn is_of(range: IntRange, number: f64) -> bool {
    if number.fract() != 0.0 || !number.is_finite() {
        return false;
    }
    // A float without a fraction is written as the integer that it is.
    let text = format!("{number:.0}");
    match range {
        IntRange::Unsigned { min, max } => text.parse().is_ok_and(|n: u128| (min..=max).contains(&n)),
        IntRange::Signed { min, max } => text.parse().is_ok_and(|n: i128| (min..=max).contains(&n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(value: &str) -> Sequence {
        let text = format!("plan p; space s {{ key k = 0x01 -> {value}; }}");
        let plan = keyplan_plan::compile("p", &text, |_| Err(String::new())).plan.unwrap();
        plan.spaces[0].families[0].value.clone().unwrap()
    }

    #[test]
    fn json_and_cbor_are_looked_into() {
        assert_eq!(look(&layout("json"), b"{\"a\":1}"), Looked::Sound);
        let why = "`value`: it is not JSON: expected value at line 1 column 1".to_owned();
        assert_eq!(look(&layout("json"), b"\xff"), Looked::Unsound(why));
        assert_eq!(look(&layout("cbor"), b"\x82\x01\x02"), Looked::Sound);
        assert_eq!(look(&layout("rlp"), b"\xc1\x80"), Looked::Sound);
        let why = "`value`: it is not RLP: byte 1: it ends too soon".to_owned();
        assert_eq!(look(&layout("rlp"), b"\xc1"), Looked::Unsound(why));
        let why = "`value`: it is not CBOR: byte 1: bytes follow the value".to_owned();
        assert_eq!(look(&layout("cbor"), b"\x01\x02"), Looked::Unsound(why));
        assert!(matches!(look(&layout("cbor"), b"\xff\x00\xff"), Looked::Unsound(_)), "a break by itself");
        assert_eq!(look(&layout("raw"), b"\xff"), Looked::Sound);
    }

    #[test]
    fn what_cannot_be_told_is_named() {
        assert_eq!(look(&layout("proto(\"a.B\")"), b"\xff"), Looked::Unseen("the inside of protobuf values"));
    }

    #[test]
    fn a_value_that_is_deeper_than_what_is_looked_at_is_not_called_wrong() {
        let mut deep = vec![0x81; 100];
        deep.push(0x01);
        assert_eq!(look(&layout("cbor"), &deep), Looked::Unseen("the inside of very large values"));
    }

    #[test]
    fn a_score_is_one_of_its_domain() {
        let at = |score: f64, domain: &str| {
            look_at_score(&layout(&format!("n: {domain}")), SetScore::Number(score))
        };
        assert_eq!(at(7.0, "u64"), Looked::Sound);
        assert_eq!(at(-1.5, "u64"), Looked::Unsound("the score -1.5 is not one of `n`".to_owned()));
        assert_eq!(at(-1.0, "u64"), Looked::Unsound("the score -1 is not one of `n`".to_owned()));
        assert_eq!(at(-1.0, "i64.signflip"), Looked::Sound);
        assert_eq!(at(256.0, "u8"), Looked::Unsound("the score 256 is not one of `n`".to_owned()));
        assert_eq!(at(0.5, "f64"), Looked::Sound);
    }
}

//! What the server answers, taken apart. An answer of another shape is an error.

use redis::Value;

use crate::structure::{Scored, SetScore, StructureError};

/// How much of an answer a message shows.
const SHOWN: usize = 120;

#[cold]
pub(super) fn unexpected(expected: &str, found: &Value) -> StructureError {
    let mut text = format!("{found:?}");
    if text.len() > SHOWN {
        text = text.chars().take(SHOWN).chain("…".chars()).collect();
    }
    StructureError::Answer { what: format!("expected {expected}, found {text}") }
}

pub(super) fn bytes(value: Value) -> Result<Vec<u8>, StructureError> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        other => Err(unexpected("bytes", &other)),
    }
}

pub(super) fn optional_bytes(value: Value) -> Result<Option<Vec<u8>>, StructureError> {
    match value {
        Value::Nil => Ok(None),
        other => bytes(other).map(Some),
    }
}

pub(super) fn word(value: Value) -> Result<String, StructureError> {
    match value {
        Value::Okay => Ok("OK".to_owned()),
        Value::SimpleString(word) => Ok(word),
        Value::BulkString(bytes) => match String::from_utf8(bytes) {
            Ok(word) => Ok(word),
            Err(error) => Err(unexpected("a word", &Value::BulkString(error.into_bytes()))),
        },
        other => Err(unexpected("a word", &other)),
    }
}

pub(super) fn count(value: &Value) -> Result<u64, StructureError> {
    match value {
        Value::Int(count) => u64::try_from(*count).map_err(|_| unexpected("a count", value)),
        other => Err(unexpected("a count", other)),
    }
}

pub(super) fn flag(value: &Value) -> Result<bool, StructureError> {
    match value {
        Value::Int(0) => Ok(false),
        Value::Int(1) => Ok(true),
        other => Err(unexpected("0 or 1", other)),
    }
}

pub(super) fn number<T: std::str::FromStr>(value: &Value) -> Result<T, StructureError> {
    let Value::BulkString(bytes) = value else { return Err(unexpected("a number", value)) };
    let number = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| unexpected("a number", value))
}

pub(super) fn score(value: &Value) -> Result<f64, StructureError> {
    let score: f64 = number(value)?;
    // Another program may have written −0.0.
    if score.is_nan() { Err(StructureError::NotANumber) } else { Ok(score + 0.0) }
}

pub(super) fn optional_score(value: Value) -> Result<Option<SetScore>, StructureError> {
    match value {
        Value::Nil => Ok(None),
        other => score(&other).map(SetScore::Number).map(Some),
    }
}

pub(super) fn array(value: Value) -> Result<Vec<Value>, StructureError> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(unexpected("an array", &other)),
    }
}

/// An array of as many values as are expected.
pub(super) fn values<const N: usize>(value: Value) -> Result<[Value; N], StructureError> {
    let values = array(value)?;
    values.try_into().map_err(|values| unexpected(&format!("an array of {N}"), &Value::Array(values)))
}

/// As many values as were asked for.
pub(super) fn exactly(value: Value, count: usize) -> Result<Vec<Value>, StructureError> {
    let values = array(value)?;
    if values.len() == count {
        Ok(values)
    } else {
        Err(unexpected(&format!("an array of {count}"), &Value::Array(values)))
    }
}

/// Pairs, one after the other.
pub(super) fn pairs(value: Value) -> Result<Vec<(Value, Value)>, StructureError> {
    let values = array(value)?;
    if values.len() % 2 != 0 {
        return Err(unexpected("pairs", &Value::Array(values)));
    }
    let mut pairs = Vec::with_capacity(values.len() / 2);
    let mut values = values.into_iter();
    while let (Some(first), Some(second)) = (values.next(), values.next()) {
        pairs.push((first, second));
    }
    Ok(pairs)
}

/// Members and scores, one after the other.
pub(super) fn scored(value: Value) -> Result<Vec<Scored>, StructureError> {
    let scored =
        |(member, found)| Ok(Scored { member: bytes(member)?, score: SetScore::Number(score(&found)?) });
    pairs(value)?.into_iter().map(scored).collect()
}

/// A cursor, and what the page holds.
pub(super) fn page(value: Value) -> Result<(Vec<u8>, Value), StructureError> {
    let [cursor, page] = values(value)?;
    Ok((bytes(cursor)?, page))
}

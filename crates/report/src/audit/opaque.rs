//! Whether the bytes of an opaque value are well-formed: JSON, CBOR and protobuf, each by its own grammar.

use keyplan_plan::model::Opaque;
use keyplan_values::{Format, Limits, decode};
use serde::de::IgnoredAny;

/// How deep messages in messages are looked into.
const MAX_DEPTH: usize = 64;

/// Says what is wrong with bytes that claim to be of this form.
pub(super) fn fault(form: &Opaque, bytes: &[u8]) -> Option<String> {
    match form {
        Opaque::Raw => None,
        Opaque::Json => match serde_json::from_slice::<IgnoredAny>(bytes) {
            Ok(_) => None,
            Err(error) => Some(format!("not JSON: {error}")),
        },
        Opaque::Cbor => cbor(bytes).err().map(|(offset, what)| format!("not CBOR: byte {offset}: {what}")),
        Opaque::Rlp => decode(Format::Rlp, bytes, &limits()).err().map(|fault| format!("not RLP: {fault}")),
        Opaque::Proto(_) => {
            proto(bytes).err().map(|(offset, what)| format!("not a protobuf message: byte {offset}: {what}"))
        }
    }
}

/// Large values are looked at as well: only depth is bounded.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.nodes = usize::MAX;
    limits.bytes = usize::MAX;
    limits
}

/// Where it breaks, and what is wrong there.
type Fault = (usize, &'static str);

/// A message is fields, each a tag and what its kind says.
fn proto(bytes: &[u8]) -> Result<(), Fault> {
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let tag = varint(bytes, &mut at)?;
        if tag >> 3 == 0 || tag >> 3 > 0x1fff_ffff {
            return Err((start, "a field has a number that none can have"));
        }
        let len = match tag & 7 {
            0 => {
                varint(bytes, &mut at)?;
                0
            }
            1 => 8,
            2 => varint(bytes, &mut at)?,
            5 => 4,
            3 | 4 => return Err((start, "a group, which is no longer written")),
            _ => return Err((start, "a field of a kind that there is not")),
        };
        skip(bytes, &mut at, len)?;
    }
    Ok(())
}

fn skip(bytes: &[u8], at: &mut usize, len: u64) -> Result<(), Fault> {
    let end = usize::try_from(len).ok().and_then(|len| at.checked_add(len)).filter(|&end| end <= bytes.len());
    *at = end.ok_or((*at, "it ends too soon"))?;
    Ok(())
}

fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Fault> {
    let start = *at;
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or((*at, "it ends too soon"))?;
        *at += 1;
        let group = u64::from(byte & 0x7f);
        if shift == 63 && group > 1 {
            break;
        }
        number |= group << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err((start, "a number of more than 64 bits"))
}

/// One item, and nothing after it.
fn cbor(bytes: &[u8]) -> Result<(), Fault> {
    let mut at = 0;
    item(bytes, &mut at, 0)?;
    if at < bytes.len() { Err((at, "bytes follow the item")) } else { Ok(()) }
}

fn item(bytes: &[u8], at: &mut usize, depth: usize) -> Result<(), Fault> {
    let start = *at;
    if depth > MAX_DEPTH {
        return Err((start, "items lie too deep in each other"));
    }
    let (major, argument) = head(bytes, at)?;
    let Some(argument) = argument else {
        return match major {
            2 | 3 => loop {
                if is_break(bytes, at) {
                    return Ok(());
                }
                let (part, len) = head(bytes, at)?;
                match len {
                    Some(len) if part == major => skip(bytes, at, len)?,
                    _ => return Err((*at, "a part of another kind than its string")),
                }
            },
            4 | 5 => loop {
                if is_break(bytes, at) {
                    return Ok(());
                }
                for _ in 0..if major == 4 { 1 } else { 2 } {
                    item(bytes, at, depth + 1)?;
                }
            },
            _ => Err((start, "a head that there is not")),
        };
    };
    match major {
        2 => skip(bytes, at, argument),
        3 => {
            let from = *at;
            skip(bytes, at, argument)?;
            let text = bytes.get(from..*at).unwrap_or_default();
            std::str::from_utf8(text)
                .map(|_| ())
                .map_err(|error| (from + error.valid_up_to(), "text that is not UTF-8"))
        }
        4 | 5 => {
            let items = if major == 4 { Some(argument) } else { argument.checked_mul(2) };
            // Each item takes a byte at least: a longer claim is refused before it is walked.
            let left = u64::try_from(bytes.len() - *at).unwrap_or(u64::MAX);
            let items = items.filter(|&items| items <= left).ok_or((start, "it ends too soon"))?;
            for _ in 0..items {
                item(bytes, at, depth + 1)?;
            }
            Ok(())
        }
        6 => item(bytes, at, depth + 1),
        _ => Ok(()),
    }
}

fn is_break(bytes: &[u8], at: &mut usize) -> bool {
    let is_break = bytes.get(*at) == Some(&0xff);
    *at += usize::from(is_break);
    is_break
}

/// The kind of an item and its argument; none if its end is marked.
fn head(bytes: &[u8], at: &mut usize) -> Result<(u8, Option<u64>), Fault> {
    let start = *at;
    let first = *bytes.get(*at).ok_or((*at, "it ends too soon"))?;
    *at += 1;
    let len = match first & 0x1f {
        small @ 0..=23 => return Ok((first >> 5, Some(small.into()))),
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        31 => return Ok((first >> 5, None)),
        _ => return Err((start, "a head that there is not")),
    };
    let from = *at;
    skip(bytes, at, len)?;
    let number = bytes
        .get(from..*at)
        .unwrap_or_default()
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte));
    Ok((first >> 5, Some(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_values_have_no_fault() {
        let proto = Opaque::Proto("T".to_owned());
        for (form, bytes) in [
            (&Opaque::Json, &b"{\"a\":[1,2]}"[..]),
            (&Opaque::Cbor, &[0x82, 0x18, 0x4b, 0xa1, 0x61, 0x6b, 0x41, 0x00]),
            (&Opaque::Cbor, &[0x9f, 0x01, 0x5f, 0x41, 0x07, 0xff, 0xff]),
            (&proto, &[0x0a, 0x01, 0x35, 0x10, 0x80, 0x01]),
            (&proto, &[]),
            (&Opaque::Raw, &[0xff]),
            (&Opaque::Rlp, &[0xc2, 0x01, 0x80]),
        ] {
            assert_eq!(fault(form, bytes), None, "{form:?} {bytes:?}");
        }
    }

    #[test]
    fn malformed_values_break_at_a_byte() {
        let proto = Opaque::Proto("T".to_owned());
        for (form, bytes, expected) in [
            (&Opaque::Json, &b"{"[..], "not JSON: EOF while parsing an object at line 1 column 1"),
            (&Opaque::Cbor, &[0xff, 0x00], "not CBOR: byte 0: a head that there is not"),
            (
                &Opaque::Cbor,
                &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                "not CBOR: byte 0: it ends too soon",
            ),
            (&Opaque::Rlp, &[0xc2, 0x01], "not RLP: byte 2: it ends too soon"),
            (&Opaque::Cbor, &[0x01, 0x02], "not CBOR: byte 1: bytes follow the item"),
            (&Opaque::Cbor, &[], "not CBOR: byte 0: it ends too soon"),
            (&proto, &[0x0a, 0x05, 0x35], "not a protobuf message: byte 2: it ends too soon"),
            (
                &proto,
                &[0x00, 0x01],
                "not a protobuf message: byte 0: a field has a number that none can have",
            ),
            (&proto, &[0x0f], "not a protobuf message: byte 0: a field of a kind that there is not"),
        ] {
            assert_eq!(fault(form, bytes).as_deref(), Some(expected));
        }
    }

    #[test]
    fn deep_items_end() {
        assert_eq!(
            fault(&Opaque::Cbor, &[0x81; 10_000]).as_deref(),
            Some("not CBOR: byte 65: items lie too deep in each other")
        );
    }
}

//! CBOR: a head of a kind and a number, then what it asks for.

use crate::reader::{Fault, Reader};
use crate::tree::{Data, Node};

/// Reads one item.
pub(crate) fn item(reader: &mut Reader<'_>) -> Result<Node, Fault> {
    reader.enter()?;
    let start = reader.at();
    let data = match head(reader)? {
        (0, Some(n)) => Data::Unsigned(n.into()),
        (1, Some(n)) => Data::Signed(-1 - i128::from(n)),
        (2, Some(len)) => Data::Bytes(reader.take_claimed(len)?.to_vec()),
        (3, Some(len)) => Data::Text(reader.text(len)?),
        (2, None) => Data::Bytes(parts(reader, 2)?),
        (3, None) => {
            let text = String::from_utf8(parts(reader, 3)?);
            Data::Text(text.map_err(|_| Fault { offset: start, what: "text that is not UTF-8" })?)
        }
        (4, count) => Data::List(items(reader, count, item)?),
        (5, count) => Data::Map(items(reader, count, |reader| Ok((item(reader)?, item(reader)?)))?),
        (6, Some(tag)) => Data::Tagged(tag, Box::new(item(reader)?)),
        (7, Some(n)) => simple(reader, start, n)?,
        _ => return Err(Fault { offset: start, what: "a head that there is not" }),
    };
    reader.leave();
    Ok(Node::new(start..reader.at(), data))
}

/// Items of a list or map, to a count or to a break. Each takes a byte at least: a longer claim is refused before it is walked.
fn items<T>(
    reader: &mut Reader<'_>,
    count: Option<u64>,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut all = Vec::new();
    let Some(count) = count else {
        while reader.peek() != Some(0xff) {
            all.push(read(reader)?);
        }
        reader.byte()?;
        return Ok(all);
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > reader.left() {
        return Err(Fault { offset: reader.at() + reader.left(), what: "it ends too soon" });
    }
    for _ in 0..count {
        all.push(read(reader)?);
    }
    Ok(all)
}

/// The parts of a string whose end is marked, joined.
fn parts(reader: &mut Reader<'_>, kind: u8) -> Result<Vec<u8>, Fault> {
    let mut all = Vec::new();
    while reader.peek() != Some(0xff) {
        let at = reader.at();
        match head(reader)? {
            (found, Some(len)) if found == kind => {
                let from = reader.at();
                let part = reader.take_claimed(len)?;
                if let (3, Err(error)) = (kind, str::from_utf8(part)) {
                    return Err(Fault { offset: from + error.valid_up_to(), what: "text that is not UTF-8" });
                }
                all.extend_from_slice(part);
            }
            _ => return Err(Fault { offset: at, what: "a part of another kind than its string" }),
        }
    }
    reader.byte()?;
    Ok(all)
}

/// The kind of an item and its number; none if its end is marked.
pub(crate) fn head(reader: &mut Reader<'_>) -> Result<(u8, Option<u64>), Fault> {
    let start = reader.at();
    let first = reader.byte()?;
    let len = match first & 0x1f {
        small @ 0..=23 => return Ok((first >> 5, Some(small.into()))),
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        31 => return Ok((first >> 5, None)),
        _ => return Err(Fault { offset: start, what: "a head that there is not" }),
    };
    let number = u64::try_from(reader.big(len)?).unwrap_or(u64::MAX);
    Ok((first >> 5, Some(number)))
}

fn simple(reader: &Reader<'_>, start: usize, n: u64) -> Result<Data, Fault> {
    // The number of a float is its bits; how many there are shows in how many bytes the head took.
    Ok(match (reader.at() - start, n) {
        (1, 20) => Data::Bool(false),
        (1, 21) => Data::Bool(true),
        (1, 22) => Data::Null,
        (1, 23) => Data::Undefined,
        (1 | 2, n) => match u8::try_from(n) {
            // From 32 on in a byte of their own, below only in the head.
            Ok(n) if (reader.at() - start == 1) == (n < 32) => Data::Simple(n),
            _ => return Err(Fault { offset: start, what: "a simple value that is written too long" }),
        },
        (3, n) => Data::Float(half(u16::try_from(n).unwrap_or_default())),
        (5, n) => Data::Float(f32::from_bits(u32::try_from(n).unwrap_or_default()).into()),
        (_, n) => Data::Float(f64::from_bits(n)),
    })
}

/// A float of two bytes.
pub(crate) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let mantissa = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + mantissa / 1024.0) * 2_f64.powi(exponent - 15),
    }
}

pub(crate) fn length(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

pub(crate) fn put_head(out: &mut Vec<u8>, kind: u8, n: u64) {
    let kind = kind << 5;
    match (u8::try_from(n), u16::try_from(n), u32::try_from(n)) {
        (Ok(n @ 0..=23), _, _) => out.push(kind | n),
        (Ok(n), _, _) => out.extend([kind | 0x18, n]),
        (_, Ok(n), _) => {
            out.push(kind | 0x19);
            out.extend_from_slice(&n.to_be_bytes());
        }
        (_, _, Ok(n)) => {
            out.push(kind | 0x1a);
            out.extend_from_slice(&n.to_be_bytes());
        }
        _ => {
            out.push(kind | 0x1b);
            out.extend_from_slice(&n.to_be_bytes());
        }
    }
}

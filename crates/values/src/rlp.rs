//! RLP: strings and lists, each with its length before it in the one shortest way.

use serde_json::Value;

use crate::reader::{Fault, Reader};
use crate::tree::{Data, Node};

/// Reads one item.
pub(crate) fn item(reader: &mut Reader<'_>) -> Result<Node, Fault> {
    reader.enter()?;
    let start = reader.at();
    let data = match reader.byte()? {
        byte @ 0x00..=0x7f => Data::Bytes(vec![byte]),
        head @ 0x80..=0xb7 => {
            let bytes = reader.take(usize::from(head - 0x80))?;
            if matches!(bytes, [0x00..=0x7f]) {
                return Err(Fault { offset: start, what: "a byte that stands for itself has a length" });
            }
            Data::Bytes(bytes.to_vec())
        }
        head @ 0xb8..=0xbf => {
            let len = length(reader, usize::from(head - 0xb7), start)?;
            Data::Bytes(reader.take_claimed(len)?.to_vec())
        }
        head @ 0xc0..=0xf7 => list(reader, u64::from(head - 0xc0))?,
        head => {
            let len = length(reader, usize::from(head - 0xf7), start)?;
            list(reader, len)?
        }
    };
    reader.leave();
    Ok(Node::new(start..reader.at(), data))
}

/// A length of several bytes: without leading zeros, and of more than 55.
fn length(reader: &mut Reader<'_>, width: usize, start: usize) -> Result<u64, Fault> {
    let is_padded = reader.peek() == Some(0);
    let len = u64::try_from(reader.big(width)?).unwrap_or(u64::MAX);
    if is_padded || len < 56 {
        return Err(Fault { offset: start, what: "a length that is written too long" });
    }
    Ok(len)
}

fn list(reader: &mut Reader<'_>, len: u64) -> Result<Data, Fault> {
    reader.within(len, |reader| {
        let mut items = Vec::new();
        while !reader.is_end() {
            items.push(item(reader)?);
        }
        Ok(Data::List(items))
    })
}

/// JSON as RLP: strings of hex digits and lists of them. `None` of anything else.
pub fn encode(json: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    put(json, &mut out, 0)?;
    Some(out)
}

/// How deep lists may lie in each other.
const MAX_DEPTH: usize = 64;

fn put(json: &Value, out: &mut Vec<u8>, depth: usize) -> Option<()> {
    match json {
        Value::String(digits) => {
            let bytes = const_hex::decode(digits).ok()?;
            if !matches!(bytes.as_slice(), [0x00..=0x7f]) {
                head(0x80, bytes.len(), out)?;
            }
            out.extend_from_slice(&bytes);
        }
        Value::Array(items) if depth < MAX_DEPTH => {
            let mut inside = Vec::new();
            for item in items {
                put(item, &mut inside, depth + 1)?;
            }
            head(0xc0, inside.len(), out)?;
            out.extend_from_slice(&inside);
        }
        _ => return None,
    }
    Some(())
}

/// A length in the shortest way, after the mark of a string or of a list.
fn head(mark: u8, len: usize, out: &mut Vec<u8>) -> Option<()> {
    if let Ok(short @ 0..=55) = u8::try_from(len) {
        out.push(mark + short);
        return Some(());
    }
    let digits = u64::try_from(len).ok()?.to_be_bytes();
    let digits: Vec<u8> = digits.into_iter().skip_while(|digit| *digit == 0).collect();
    out.push(mark + 55 + u8::try_from(digits.len()).ok()?);
    out.extend_from_slice(&digits);
    Some(())
}

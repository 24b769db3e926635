//! A protobuf message by its wire: numbers, kinds and extents, but neither names nor types.

use crate::reader::{Fault, Reader};
use crate::tree::{Data, Node};

/// Reads fields to the end. What a field of bytes is, its wire does not say: one that reads as a message to its last byte is
/// shown as one, else as text if it is printable, else as bytes.
pub(crate) fn message(reader: &mut Reader<'_>) -> Result<Node, Fault> {
    reader.enter()?;
    let start = reader.at();
    let mut fields = Vec::new();
    while !reader.is_end() {
        fields.push(field(reader)?);
    }
    reader.leave();
    Ok(Node::new(start..reader.at(), Data::Fields(fields)))
}

fn field(reader: &mut Reader<'_>) -> Result<(u32, Node), Fault> {
    let (number, kind, start) = tag(reader)?;
    Ok((number, value(reader, kind, start)?))
}

/// The number of the next field, the kind of its value, and where it begins.
pub(crate) fn tag(reader: &mut Reader<'_>) -> Result<(u32, u64, usize), Fault> {
    let start = reader.at();
    let tag = reader.varint()?;
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..=0x1fff_ffff).contains(number));
    let Some(number) = number else {
        return Err(Fault { offset: start, what: "a field has a number that none can have" });
    };
    Ok((number, tag & 7, start))
}

/// The value of a field that began at `start`, by nothing but its kind.
pub(crate) fn value(reader: &mut Reader<'_>, kind: u64, start: usize) -> Result<Node, Fault> {
    reader.enter()?;
    let mut from = reader.at();
    let data = match kind {
        0 => Data::Unsigned(reader.varint()?.into()),
        1 => Data::Unsigned(reader.little(8)?),
        5 => Data::Unsigned(reader.little(4)?),
        2 => {
            let len = reader.varint()?;
            from = reader.at();
            inside(reader, len)?
        }
        3 | 4 => return Err(Fault { offset: start, what: "a group, which is no longer written" }),
        _ => return Err(Fault { offset: start, what: "a field of a kind that there is not" }),
    };
    reader.leave();
    Ok(Node::new(from..reader.at(), data))
}

fn inside(reader: &mut Reader<'_>, len: u64) -> Result<Data, Fault> {
    let (at, end, depth) = reader.state();
    let bytes = reader.take_claimed(len)?;
    let is_text = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    if let Some(text) = str::from_utf8(bytes).ok().filter(|text| is_text(text)) {
        return Ok(Data::Text(text.to_owned()));
    }
    let after = reader.at();
    if !bytes.is_empty() {
        reader.again(at, end, depth);
        match reader.within(len, message) {
            Ok(node) => return Ok(node.data),
            // Too many parts are too many whatever they are; anything else says that it is not a message.
            Err(fault) if fault.what == "there are too many parts" => return Err(fault),
            Err(_) => reader.again(after, end, depth),
        }
    }
    Ok(Data::Bytes(bytes.to_vec()))
}

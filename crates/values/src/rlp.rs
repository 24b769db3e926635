//! RLP: strings and lists, each with its length before it in the one shortest way.

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

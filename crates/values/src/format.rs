//! Formats that say themselves what is in them.

use crate::reader::{Fault, Limits, Reader};
use crate::{Node, cbor, json, proto, rlp};

/// A format that needs no schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// CBOR (RFC 8949).
    Cbor,
    /// JSON (RFC 8259).
    Json,
    /// A protobuf message by its wire: fields by number. What is text, bytes or a message is a guess.
    ProtoWire,
    /// Ethereum's RLP.
    Rlp,
}

/// Reads one value, which must take all the bytes.
pub fn decode(format: Format, bytes: &[u8], limits: &Limits) -> Result<Node, Fault> {
    let mut reader = Reader::new(bytes, limits)?;
    let node = match format {
        Format::Cbor => cbor::item(&mut reader)?,
        Format::Json => json::value(&mut reader)?,
        Format::ProtoWire => proto::message(&mut reader)?,
        Format::Rlp => rlp::item(&mut reader)?,
    };
    reader.done()?;
    Ok(node)
}

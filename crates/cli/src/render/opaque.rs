//! Values in formats that a plan only names, as far as they say themselves what is in them.

use keyplan_plan::model::Opaque;
use keyplan_values::{Format, Limits, decode, text};

/// A value as text: CBOR and RLP in diagnostic notation, a protobuf message by the numbers of its fields. `None` if it is not what it
/// is said to be, or says nothing of itself.
pub(super) fn opaque_text(opaque: &Opaque, bytes: &[u8]) -> Option<String> {
    let (format, mark) = match opaque {
        Opaque::Cbor => (Format::Cbor, ""),
        Opaque::Rlp => (Format::Rlp, ""),
        // Without its schema a message has numbers and no names: it is marked so.
        Opaque::Proto(_) if !bytes.is_empty() => (Format::ProtoWire, "wire "),
        _ => return None,
    };
    let node = decode(format, bytes, &Limits::default()).ok()?;
    Some(format!("{mark}{}", text(&node)))
}

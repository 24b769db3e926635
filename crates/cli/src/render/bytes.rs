use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::Sequence;

/// Bytes as hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const_hex::encode(bytes)
}

/// Appends bytes as hex digits.
pub(crate) fn hex_into(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len() * 2, b'0');
    if let Some(room) = out.get_mut(start..) {
        // The room is exactly twice the input, the only thing that could be wrong.
        let _ = const_hex::encode_to_slice(bytes, room);
    }
}

/// Bytes as base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes as text, with `\x01` for what cannot be shown.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out
}

/// The arguments of a layout as `encode` takes them: `pool=7 tick=-100`.
pub(crate) fn assignments(sequence: &Sequence, values: &[Value]) -> String {
    let all = sequence.arguments().zip(values).map(|(argument, value)| {
        let name = argument.name.as_deref().unwrap_or("value");
        format!("{name}={}", value.display(&argument.shape))
    });
    let all: Vec<String> = all.collect();
    if all.is_empty() { "no arguments".to_owned() } else { all.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_keeps_what_can_be_shown() {
        assert_eq!(escaped(b"\x01ab\\c\xff "), "\\x01ab\\\\c\\xff ");
    }
}

//! Bytes as text.

use std::fmt::Write;

use super::argument_name;
use crate::dynamic::Value;
use crate::model::Sequence;

/// Bytes as hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const_hex::encode(bytes)
}

/// Appends bytes as hex digits.
pub fn hex_into(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len() * 2, b'0');
    if let Some(room) = out.get_mut(start..) {
        // The room is exactly twice the input, the only thing that could be wrong.
        let _ = const_hex::encode_to_slice(bytes, room);
    }
}

/// Bytes as text, if they are nothing but printable ASCII.
pub fn printable(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
}

/// Bytes as text, with `\x01` for what cannot be shown.
pub fn escaped(bytes: &[u8]) -> String {
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
pub fn assignments(sequence: &Sequence, values: &[Value]) -> String {
    let all = sequence
        .arguments()
        .zip(values)
        .map(|(argument, value)| format!("{}={}", argument_name(argument), argument.display(value)));
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

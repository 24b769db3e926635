//! Bytes as a person writes them: hex, base64, or text with escapes.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// How bytes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyText {
    /// Hex if it can be, else padded base64, else text.
    #[default]
    Auto,
    /// Hex digits, with or without `0x`; spaces and `_` may be between them.
    Hex,
    /// Base64, with or without padding.
    Base64,
    /// Text, in which `\\x7f` is a byte.
    Text,
}

/// Why text does not stand for bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadText {
    /// The offset of the byte of the text that breaks it.
    pub offset: usize,
    /// What is wrong there.
    pub why: &'static str,
}

impl fmt::Display for BadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.offset, self.why)
    }
}

impl std::error::Error for BadText {}

/// Reads `text` into `out`, whatever was in it before.
pub fn read(text: &[u8], format: KeyText, out: &mut Vec<u8>) -> Result<(), BadText> {
    out.clear();
    match format {
        KeyText::Hex => hex(text, out),
        KeyText::Base64 => base64(text, out),
        KeyText::Text => escaped(text, out),
        KeyText::Auto => auto(text, out),
    }
}

/// Hex if it has an even number of digits and nothing else; base64 if it is padded to fours; else text.
fn auto(text: &[u8], out: &mut Vec<u8>) -> Result<(), BadText> {
    let Err(not_hex) = hex(text, out) else { return Ok(()) };
    if text.starts_with(b"0x") || text.starts_with(b"0X") {
        return Err(not_hex);
    }
    out.clear();
    if text.len().is_multiple_of(4) && base64(text, out).is_ok() {
        return Ok(());
    }
    out.clear();
    // An odd number of digits is a slip, not a text.
    if text.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b' ') {
        return Err(not_hex);
    }
    escaped(text, out)
}

fn hex(text: &[u8], out: &mut Vec<u8>) -> Result<(), BadText> {
    let skipped = if text.starts_with(b"0x") || text.starts_with(b"0X") { 2 } else { 0 };
    let digits = text.get(skipped..).unwrap_or_default();
    if digits.len().is_multiple_of(2) {
        out.resize(digits.len() / 2, 0);
        if const_hex::decode_to_slice(digits, out).is_ok() {
            return Ok(());
        }
        out.clear();
    }
    // Slower, but it knows spaces and can tell where it breaks.
    let mut high = None;
    for (index, &byte) in digits.iter().enumerate() {
        let Some(digit) = char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()) else {
            if matches!(byte, b' ' | b'\t' | b'_') {
                continue;
            }
            return Err(BadText { offset: skipped + index, why: "not a hex digit" });
        };
        match high.take() {
            None => high = Some(digit),
            Some(first) => out.push(first << 4 | digit),
        }
    }
    match high {
        None => Ok(()),
        Some(_) => Err(BadText { offset: text.len(), why: "an odd number of hex digits" }),
    }
}

fn base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), BadText> {
    let decoded = if text.len().is_multiple_of(4) {
        STANDARD.decode_vec(text, out)
    } else {
        STANDARD_NO_PAD.decode_vec(text, out)
    };
    decoded.map_err(|error| match error {
        base64::DecodeError::InvalidByte(offset, _) => BadText { offset, why: "not a base64 character" },
        base64::DecodeError::InvalidLastSymbol(offset, _) => {
            BadText { offset, why: "base64 whose last bits are not zero" }
        }
        _ => BadText { offset: text.len(), why: "base64 that is cut off or wrongly padded" },
    })
}

fn escaped(text: &[u8], out: &mut Vec<u8>) -> Result<(), BadText> {
    let mut rest = text.iter().enumerate();
    while let Some((offset, &byte)) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let bad = BadText { offset, why: "not an escape: there are \\n \\r \\t \\0 \\\\ \\\" \\x7f" };
        let byte = match rest.next() {
            Some((_, b'n')) => b'\n',
            Some((_, b'r')) => b'\r',
            Some((_, b't')) => b'\t',
            Some((_, b'0')) => 0,
            Some((_, &byte @ (b'\\' | b'"' | b'\''))) => byte,
            Some((_, b'x')) => {
                let mut digit = || {
                    let (_, &byte) = rest.next()?;
                    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
                };
                let (Some(high), Some(low)) = (digit(), digit()) else { return Err(bad) };
                high << 4 | low
            }
            _ => return Err(bad),
        };
        out.push(byte);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto_bytes(text: &str) -> Result<Vec<u8>, BadText> {
        let mut out = vec![0xee];
        read(text.as_bytes(), KeyText::Auto, &mut out).map(|()| out)
    }

    #[test]
    fn auto_knows_hex_base64_and_text() {
        assert_eq!(auto_bytes("0x01ff"), Ok(vec![1, 0xff]));
        assert_eq!(auto_bytes("01 FF"), Ok(vec![1, 0xff]));
        assert_eq!(auto_bytes("Af8="), Ok(vec![1, 0xff]));
        assert_eq!(auto_bytes(r"\x01/osmo"), Ok(b"\x01/osmo".to_vec()));
        assert_eq!(auto_bytes("accum/acc/"), Ok(b"accum/acc/".to_vec()));
        assert_eq!(auto_bytes("0x"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_almost_hex_is_a_slip() {
        assert_eq!(auto_bytes("abc"), Err(BadText { offset: 3, why: "an odd number of hex digits" }));
        assert_eq!(auto_bytes("0x0g"), Err(BadText { offset: 3, why: "not a hex digit" }));
    }

    #[test]
    fn escapes_that_do_not_exist_are_refused() {
        let mut out = Vec::new();
        for text in [r"a\q", r"a\x4", r"a\xzz", "a\\"] {
            let error = read(text.as_bytes(), KeyText::Text, &mut out).unwrap_err();
            assert_eq!(error.offset, 1, "{text}");
        }
    }
}

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde::Deserialize;

/// One row as it is written.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Line {
    #[serde(alias = "store")]
    pub(super) space: Option<String>,
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) base64: Option<String>,
}

impl Line {
    /// Reads an object, or a key and nothing else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        if text.starts_with(b"{") || text.starts_with(b"[") {
            return serde_json::from_slice(text).ok();
        }
        let key = std::str::from_utf8(text).ok()?.to_owned();
        let key = key.strip_prefix("0x").map_or(key.clone(), str::to_owned);
        (is_hex(&key) || base64(&key).is_some()).then_some(Self {
            space: None,
            key,
            value: None,
            base64: None,
        })
    }
}

/// How bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    Hex,
    Base64,
}

impl Digits {
    /// Hex as long as every text is.
    pub(super) fn fitting(self, text: &str) -> Self {
        if self == Self::Hex && is_hex(text) { Self::Hex } else { Self::Base64 }
    }

    pub(super) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex => const_hex::decode(text).ok(),
            Self::Base64 => base64(text),
        }
    }
}

/// Whether a text is bytes in either form.
pub(super) fn is_bytes(text: &str) -> bool {
    is_hex(text) || base64(text).is_some()
}

fn is_hex(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    digits.len().is_multiple_of(2) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn base64(text: &str) -> Option<Vec<u8>> {
    [STANDARD, URL_SAFE, STANDARD_NO_PAD, URL_SAFE_NO_PAD].iter().find_map(|form| form.decode(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_object_or_a_key() {
        let row = |space: Option<&str>, key: &str, value: Option<&str>| {
            Some(Line {
                space: space.map(str::to_owned),
                key: key.to_owned(),
                value: value.map(str::to_owned),
                base64: None,
            })
        };
        assert_eq!(
            Line::parse(br#"{"space":"a","key":"01","value":"02"}"#),
            row(Some("a"), "01", Some("02"))
        );
        assert_eq!(Line::parse(br#"{"store":"a","key":"01"}"#), row(Some("a"), "01", None));
        assert_eq!(Line::parse(b"0xDEADbeef"), row(None, "DEADbeef", None));
        assert_eq!(Line::parse(b"AAECAw=="), row(None, "AAECAw==", None));
        assert_eq!(
            [Line::parse(br#"{"family":"s.k"}"#), Line::parse(b"what?"), Line::parse(b"{")],
            [None, None, None]
        );
    }

    #[test]
    fn digits_are_hex_only_if_all_are() {
        assert_eq!(Digits::Hex.fitting("00ff").fitting("AAE="), Digits::Base64);
        assert_eq!(Digits::Base64.fitting("00ff"), Digits::Base64);
        assert_eq!(Digits::Hex.decode("00FF"), Some(vec![0, 255]));
    }
}

//! Bytes as a person types them, in the form that a flag names.

pub(crate) use keyplan_report::key_text::BadText;
use keyplan_report::key_text::{self, KeyText};

use crate::args::InputFormat;

/// Reads `text` into `out`, whatever was in it before.
pub(crate) fn read(text: &[u8], format: InputFormat, out: &mut Vec<u8>) -> Result<(), BadText> {
    let format = match format {
        InputFormat::Auto => KeyText::Auto,
        InputFormat::Hex => KeyText::Hex,
        InputFormat::Base64 => KeyText::Base64,
        InputFormat::Text => KeyText::Text,
    };
    key_text::read(text, format, out)
}

//! Integers whose functions in the runtimes of Go and TypeScript are called by the word of the encoding.
//!
//! `.scale_compact` is written by `appendScaleCompact` in Go and by `putScaleCompact` in TypeScript, which are given the number and what
//! is in brackets; `decodeScaleCompact` reads it, and `extentScaleCompact` says where it ends if its bytes tell. Every encoding that is
//! not in [`NAMED`] is of this kind: a generator needs no line for it, and does not compile while a runtime lacks one of the functions.

use keyplan_plan::model::{Encoding, ExtentRule, IntEncoding};

/// Words of the encodings that a generator names by itself: built into the languages, written for one width, or with functions
/// that others share.
const NAMED: &[&str] = &[
    "be",
    "le",
    "signflip",
    "tick9",
    "dec",
    "hex",
    "HEX",
    "leb128",
    "ordvar",
    "bitcoin_varint",
    "compact_size",
    "orderedcode",
    "saturating",
    "low",
    "high",
    "float",
    "tuple",
];

/// The name that functions have after `append`, `put`, `decode` or `extent`.
pub(crate) fn name(row: &Encoding) -> String {
    let parts = row.word.split('_');
    parts
        .flat_map(|part| {
            part.chars().take(1).map(|first| first.to_ascii_uppercase()).chain(part.chars().skip(1))
        })
        .collect()
}

/// What is in brackets, as one more argument of a call.
pub(crate) fn number(encoding: IntEncoding) -> String {
    encoding.number().map_or_else(String::new, |number| format!(", {number}"))
}

/// The functions that read it, as fields of a node.
pub(crate) fn fields(row: &Encoding) -> String {
    let name = name(row);
    match row.extent {
        ExtentRule::Marked => format!("decode: decode{name}, extent: extent{name}"),
        ExtentRule::Open => format!("decode: decode{name}, longest: longest{name}"),
        _ => format!("decode: decode{name}"),
    }
}

/// Refuses to compile while a text lacks a function of an encoding, whose word is the message.
pub(crate) const fn declared(start: &str, marked_only: bool, texts: [&str; 2]) {
    let [first, second] = texts;
    let mut rows = IntEncoding::ROWS;
    while let [row, rest @ ..] = rows {
        rows = rest;
        let needless = is_named(row.word) || (marked_only && !matches!(row.extent, ExtentRule::Marked));
        let there = needless || declares(first, start, row.word) || declares(second, start, row.word);
        assert!(there, "{}", row.word);
    }
}

const fn is_named(word: &str) -> bool {
    let mut named = NAMED;
    while let [one, rest @ ..] = named {
        named = rest;
        if one.len() == word.len() && continues(one.as_bytes(), word.as_bytes()).is_some() {
            return true;
        }
    }
    false
}

const fn declares(text: &str, start: &str, word: &str) -> bool {
    let mut text = text.as_bytes();
    while let [byte, rest @ ..] = text {
        text = rest;
        // Functions begin lines.
        if *byte == b'\n'
            && let Some(after) = continues(rest, start.as_bytes())
            && calls(after, word.as_bytes())
        {
            return true;
        }
    }
    false
}

/// What is after `start`, if a text begins with it.
const fn continues<'t>(mut text: &'t [u8], mut start: &[u8]) -> Option<&'t [u8]> {
    while let [wanted, rest @ ..] = start {
        let [found, after @ ..] = text else { return None };
        if *found != *wanted {
            return None;
        }
        (text, start) = (after, rest);
    }
    Some(text)
}

/// Whether a text begins with the name that a word gives and the bracket of its arguments.
const fn calls(mut text: &[u8], mut word: &[u8]) -> bool {
    while let [wanted, rest @ ..] = word {
        word = rest;
        if *wanted == b'_' {
            continue;
        }
        let [found, after @ ..] = text else { return false };
        if !found.eq_ignore_ascii_case(wanted) {
            return false;
        }
        text = after;
    }
    matches!(text, [b'(', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_by_the_word() {
        let row = IntEncoding::ScaleCompact.row();
        assert_eq!(name(row), "ScaleCompact");
        assert_eq!(fields(row), "decode: decodeScaleCompact, extent: extentScaleCompact");
        assert_eq!(number(IntEncoding::Low(3)), ", 3");
    }

    #[test]
    fn a_runtime_that_lacks_a_function_is_noticed() {
        let text = "\nfunc appendScaleCompact(dst []byte) []byte {\n}\n";
        assert!(declares(text, "func append", "scale_compact"));
        assert!(!declares(text, "func append", "scale"));
        assert!(!declares(text, "func decode", "scale_compact"));
        assert!(!declares(text, "func append", "scale_compact_more"));
    }
}

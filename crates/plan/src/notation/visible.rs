//! Text of somebody else, made safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character would act on a terminal or reorder the text around it instead of showing itself: control characters
/// other than a tab and the end of a line, and the controls and separators of bidirectional text.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// `text` with each [hidden](is_hidden) character written as its number, `\u{1b}`.
///
/// ```
/// use keyplan_plan::notation::visible;
///
/// assert_eq!(visible("one\ttwo\n"), "one\ttwo\n");
/// assert_eq!(visible("\u{1b}[2J a\u{202e}b \u{9b}"), "\\u{1b}[2J a\\u{202e}b \\u{9b}");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A document of JSON in which no [hidden](is_hidden) character is left: in strings, the only place where one can be, it is
/// written as `\u001b`.
///
/// ```
/// use keyplan_plan::notation::visible_json;
///
/// let text = "{\"a\":\"\u{9b}\u{202e}\"}\n".as_bytes();
/// assert_eq!(visible_json(text).as_ref(), b"{\"a\":\"\\u009b\\u202e\"}\n");
/// ```
pub fn visible_json(json: &[u8]) -> Cow<'_, [u8]> {
    // The bytes that a hidden character of JSON can begin with: control characters of ASCII are escaped already.
    if !json.iter().any(|byte| matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2)) {
        return Cow::Borrowed(json);
    }
    let text = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) && c != '\r' {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out.into_bytes())
}

//! Commands that make a key of a witness again.

use std::fmt::Write as _;

use keyplan_plan::dynamic::{Value, typed_text};
use keyplan_plan::model::Shape;

use super::subject::{Part, Subject};
use crate::proof::Side;

/// The longest command that a person would paste.
const LONGEST: usize = 400;

/// What a side of a witness is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// A whole key, field, member or score.
    Whole,
    /// The prefix of a scan.
    Prefix,
    /// A key up to one of its arguments, as at the end of a range.
    Front,
    /// Bytes that no command makes.
    Untyped,
}

/// The command that prints the bytes of a side; `None` if it would be too long or cannot be typed.
pub(crate) fn encode(path: &str, subject: Subject<'_>, side: &Side, made: Made) -> Option<String> {
    let mut words = vec!["keyplan encode".to_owned(), quoted(path)?, subject.family.path.clone()];
    match subject.part {
        Part::Key => {}
        Part::Field(field) => words.push(format!("--field {}", field.name)),
        Part::Member => words.push("--member".to_owned()),
        Part::Score => words.push("--score".to_owned()),
    }
    for (argument, value) in subject.sequence.arguments().zip(&side.values) {
        let name = argument.name.as_deref().unwrap_or("value");
        words.push(format!("{name}={}", quoted(&typed(value, &argument.shape))?));
    }
    let flag = match made {
        Made::Whole => "--unguarded",
        Made::Prefix => "--scan",
        Made::Front => "--front",
        Made::Untyped => return None,
    };
    words.push(flag.to_owned());
    let command = words.join(" ");
    (command.len() <= LONGEST).then_some(command)
}

/// A value as `encode` takes it: a text goes without quotes.
fn typed(value: &Value, shape: &Shape) -> String {
    match value {
        Value::Text(text) => typed_text(text),
        value => value.display(shape).to_string(),
    }
}

/// A word as a shell takes it; `None` if no shell can be given it.
fn quoted(word: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Some(word.to_owned());
    }
    if word.contains('\0') {
        return None;
    }
    let hidden = |c: char| c.is_control() || (!c.is_ascii() && !c.is_alphanumeric());
    if !word.chars().any(hidden) {
        return Some(format!("'{}'", word.replace('\'', r"'\''")));
    }
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            c if hidden(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Writing to a string does not fail.
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        let quoted = |word: &str| quoted(word).unwrap_or_default();
        assert_eq!(quoted("channel-1/a:b"), "channel-1/a:b");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
        assert_eq!(quoted("a'\n\u{202e}\\"), r"$'a\'\x0a\xe2\x80\xae\\'");
        assert_eq!(super::quoted("a\0"), None);
    }
}

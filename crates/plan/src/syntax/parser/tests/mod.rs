//! What a text is read as, what is said of a wrong one, and what no text may do.

mod hostile;
mod mistakes;
mod trees;

use std::fmt::Write as _;

use super::*;
use crate::diag::SourceMap;

/// The diagnostics of a text, a line each: code, place, message, each label with the text that it underlines,
/// notes.
fn findings(text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("test.keyplan", text);
    let mut lines = String::new();
    for diagnostic in parse(file, text).diagnostics {
        let place = sources.position(diagnostic.span());
        write!(lines, "{} {}:{} {}", diagnostic.code, place.line, place.column, diagnostic.message).unwrap();
        for label in &diagnostic.labels {
            write!(lines, " [{}] {}", sources.slice(label.span), label.text).unwrap();
        }
        for note in &diagnostic.notes {
            write!(lines, " ({}: {})", note.kind.word(), note.text).unwrap();
        }
        lines.truncate(lines.trim_end().len());
        lines.push('\n');
    }
    lines
}

/// The lines of an expectation without their indentation.
fn dedented(expected: &str) -> String {
    expected.trim().lines().flat_map(|line| [line.trim(), "\n"]).collect()
}

/// Checks the diagnostics of a whole file.
#[track_caller]
fn check_file(text: &str, expected: &str) {
    let expected = dedented(expected);
    assert_eq!(findings(text), expected, "of {text}");
}

/// Checks the diagnostics of a space's members, which are in line 2.
#[track_caller]
fn check(members: &str, expected: &str) {
    check_file(&format!("plan p; space s {{\n{members}\n}}"), expected);
}

//! How a file would change.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use super::{DIM, STRONG, painted};

/// How a file would change, line by line, with a little of what stands around.
pub fn difference(path: &str, old: &str, new: &str) -> String {
    let mut out = format!("{}\n", painted(STRONG, format!("{path} is not formatted")));
    // A rough difference after a second beats an exact one after a minute.
    let diff = TextDiff::configure().timeout(Duration::from_secs(1)).diff_lines(old, new);
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        put!(out, "{}\n", painted(DIM, hunk.header()));
        for change in hunk.iter_changes() {
            let style = match change.tag() {
                ChangeTag::Delete => AnsiColor::Red.on_default(),
                ChangeTag::Insert => AnsiColor::Green.on_default(),
                ChangeTag::Equal => Style::new(),
            };
            let line = change.value().trim_end_matches('\n');
            put!(out, "{}\n", painted(style, format!("{}{line}", change.tag())));
            if change.missing_newline() {
                put!(out, "{}\n", painted(DIM, "\\ the file does not end its last line"));
            }
        }
    }
    out
}

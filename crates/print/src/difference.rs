//! How a file would change.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use super::{DIM, STRONG, painted};

/// How a file would change, line by line, with a little of what is around.
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
            // Without this a line that only lacks its end looks like the one beside it.
            if change.missing_newline() {
                put!(out, "{}\n", painted(DIM, "\\ no newline at the end"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown;

    #[test]
    fn a_line_without_its_end_is_told_from_one_with_it() {
        let text = difference("p.keyplan", "plan p;", "plan p;\n");
        assert_eq!(
            shown(&text, false),
            "p.keyplan is not formatted\n@@ -1 +1 @@\n-plan p;\n\\ no newline at the end\n+plan p;\n"
        );
    }
}

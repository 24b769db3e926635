//! Formatting: one edit from the first line that changes to the last.

use serde_json::{Value, json};

use crate::analysis::Document;

/// The edits that format a document; none if it has mistakes.
pub(crate) fn format(document: &Document) -> Value {
    let text = document.text();
    let Ok(new) = keyplan_plan::syntax::format(text) else { return json!([]) };
    if new == text {
        return json!([]);
    }
    json!([{ "range": document.lines.range_of(text, 0, text.len()), "newText": new }])
}

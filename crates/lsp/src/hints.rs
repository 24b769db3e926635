//! Byte offsets after the parts of a key, as long as they are the same in every key.

use keyplan_plan::diag::{FileId, Span};
use serde_json::{Value, json};

use crate::analysis::Document;
use crate::hover::fixed_width;

/// The hints in a range, or in the whole document.
pub(crate) fn hints(document: &Document, range: Option<&Value>) -> Value {
    let Some(plan) = document.plan() else { return json!([]) };
    let text = document.text();
    let at = |end: &str, otherwise: usize| {
        let place = range.and_then(|range| range.get(end)).filter(|place| !place.is_null());
        place.map_or(otherwise, |place| document.lines.offset(text, place))
    };
    let (first, last) = (at("start", 0), at("end", text.len()));
    let inside =
        |span: Span| span.file == FileId(0) && span.start as usize <= last && first <= span.end as usize;
    let mut all: Vec<Value> = Vec::new();
    for (_, family) in plan.families().filter(|(_, family)| inside(family.span)) {
        let mut offset = 0;
        for segment in family.key.segments() {
            let span = segment.span();
            // What a module begins with is written there.
            let own = span.file == family.span.file
                && span.start >= family.span.start
                && span.end <= family.span.end;
            let width = fixed_width(segment);
            let label = match width {
                Some(width) => format!("@{offset}..{}", offset + width),
                None => format!("@{offset}.."),
            };
            if own {
                all.push(json!({
                    "position": document.lines.position(text, span.end as usize),
                    "label": label,
                    "paddingLeft": true,
                    "tooltip": "the bytes of the key that this is",
                }));
            }
            let Some(width) = width else { break };
            offset += width;
        }
    }
    Value::Array(all)
}

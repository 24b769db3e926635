//! Differences of two sources, and checksums of one.

use keyplan_plan::diag::grouped;
use keyplan_plan::notation::{assignments, hex, write_shown_json};
use keyplan_report::checksum::{SpaceSums, Sum};
use keyplan_report::diff::{Change, ChangeKind, Summary};
use keyplan_report::values::readable_json;
use serde_json::{Value, json};

use super::row::{Length, laid_out, many};
use super::{DIM, ERROR, GOOD, NAME, painted};

/// `~ cl.tick pool_id=7 tick=-100  fee: 5 → 7`
pub fn change(change: &Change<'_, '_>) -> String {
    let sign = match change.kind() {
        ChangeKind::Added => painted(GOOD, "+"),
        ChangeKind::Removed => painted(ERROR, "-"),
        ChangeKind::Changed => painted(NAME, "~"),
    };
    let key = match &change.decoded {
        Some(decoded) if decoded.values.is_empty() => String::new(),
        Some(decoded) => format!(" {}", assignments(&decoded.family.key, &decoded.values)),
        None => format!(" {}", hex(change.key)),
    };
    let mut out = format!("{sign} {}{key}", painted(NAME, change.family()));
    let fields = change.fields();
    let layout = change.decoded.as_ref().and_then(|decoded| decoded.family.value.as_ref());
    let shown = |value: &[u8]| laid_out(layout, value, Length::Line);
    match (change.before, change.after) {
        (Some(_), Some(_)) if !fields.is_empty() => {
            for field in fields {
                put!(out, "  {}: {} {} {}", field.field, field.before, painted(DIM, "→"), field.after);
            }
        }
        (Some(before), Some(after)) => {
            put!(out, "  {} {} {}", shown(before), painted(DIM, "→"), shown(after));
        }
        (Some(value), None) | (None, Some(value)) => put!(out, "  {}", shown(value)),
        (None, None) => {}
    }
    out.push('\n');
    out
}

/// The same as an object on a line of its own.
pub fn change_json(change: &Change<'_, '_>) -> serde_json::Result<Vec<u8>> {
    let mut object = json!({
        "change": change.kind(),
        "space": change.space,
        "key": hex(change.key),
        "before": change.before.map(hex),
        "after": change.after.map(hex),
    });
    if let (Some(object), Some(decoded)) = (object.as_object_mut(), &change.decoded) {
        let mut arguments = Vec::new();
        write_shown_json(&mut arguments, &decoded.family.key, &decoded.values);
        object.insert("family".to_owned(), json!(decoded.family.path));
        object.insert("args".to_owned(), serde_json::from_slice::<Value>(&arguments)?);
        object.insert("fields".to_owned(), json!(change.fields()));
        // What a row of only one source holds; of a row of both, `fields` says what differs.
        let only = change.before.xor(change.after).zip(decoded.family.value.as_ref());
        if let Some(decoded) = only.and_then(|(value, layout)| readable_json(layout, value)) {
            object.insert("decoded".to_owned(), decoded);
        }
    }
    line(&object)
}

/// How many rows differ.
pub fn differences(summary: &Summary) -> String {
    let mut out = String::new();
    for (family, found) in &summary.families {
        put!(
            out,
            "{}  {} added, {} removed, {} changed\n",
            painted(NAME, family),
            grouped(found.added),
            grouped(found.removed),
            grouped(found.changed)
        );
    }
    let sides = format!("{} and {}", many(summary.before, "row", "rows"), many(summary.after, "row", "rows"));
    let verdict =
        if summary.is_same() { painted(GOOD, "no difference") } else { painted(ERROR, "they differ") };
    put!(out, "{sides}, {} the same in both: {verdict}\n", grouped(summary.same));
    out
}

/// The same as an object.
pub fn differences_json(summary: &Summary) -> serde_json::Result<Vec<u8>> {
    line(&json!({ "version": 1, "same": summary.is_same(), "summary": summary }))
}

/// A table of checksums.
pub fn checksums(spaces: &[SpaceSums]) -> String {
    let mut out = String::new();
    for sums in spaces {
        for (family, sum) in &sums.families {
            put_sum(&mut out, if family.is_empty() { "(no family)" } else { family }, sum);
        }
        for (front, sum) in &sums.ranges {
            put_sum(&mut out, &format!("{} {front}…", sums.space), sum);
        }
        put_sum(&mut out, &sums.space, &sums.all);
    }
    out
}

fn put_sum(out: &mut String, name: &str, sum: &Sum) {
    put!(out, "{}  {}  {}\n", sum.checksum, many(sum.rows, "row", "rows"), painted(NAME, name));
}

/// The same as one object.
pub fn checksums_json(spaces: &[SpaceSums]) -> serde_json::Result<Vec<u8>> {
    line(&json!({ "version": 1, "algorithm": "sha256", "spaces": spaces }))
}

fn line(object: &Value) -> serde_json::Result<Vec<u8>> {
    let mut out = serde_json::to_vec(object)?;
    out.push(b'\n');
    Ok(out)
}

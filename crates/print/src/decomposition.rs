//! The keys of a contract without a plan, split and shown.

use std::collections::BTreeMap;

use keyplan_plan::notation::printable;
use keyplan_report::decompose::{Decomposition, component_bytes, integer};
use keyplan_report::json_text;

use super::{DIM, NAME, counted, hex, painted};

/// All rows, by namespace; items, which have none, first.
pub fn decompositions(rows: &[Decomposition]) -> String {
    let mut groups: BTreeMap<Option<Vec<u8>>, Vec<&Decomposition>> = BTreeMap::new();
    for row in rows {
        let namespace = row.best().0.first().map(|namespace| namespace.to_vec());
        groups.entry(namespace).or_default().push(row);
    }
    let mut out = String::new();
    for (namespace, rows) in &groups {
        let title = match namespace {
            None => "without a namespace".to_owned(),
            Some(namespace) => format!("namespace {}", part(namespace)),
        };
        let count = painted(DIM, counted(rows.len(), "key", "keys"));
        put!(out, "{}  {count}\n\n", painted(NAME, title));
        for row in rows {
            entry(row, &mut out);
        }
        out.push('\n');
    }
    let (keys, names) = (counted(rows.len(), "key", "keys"), groups.keys().flatten().count());
    put!(out, "{keys} in {}\n", counted(names, "namespace", "namespaces"));
    out
}

fn entry(row: &Decomposition, out: &mut String) {
    let (components, rest) = row.best();
    let mut parts: Vec<String> = components.iter().skip(1).map(|component| part(component)).collect();
    if !rest.is_empty() || parts.is_empty() {
        parts.push(part(rest));
    }
    put!(out, "  {}\n", parts.join(" │ "));
    let json = std::str::from_utf8(&row.entry.value).ok().and_then(json_text::indented);
    let value = json.unwrap_or_else(|| part(&row.entry.value));
    for line in value.lines() {
        put!(out, "      {line}\n");
    }
    if let [best, next, ..] = row.splits.as_slice()
        && best.score - next.score <= 3
    {
        let (components, rest) = component_bytes(&row.entry.key, next);
        let all: Vec<String> = components.iter().copied().chain([rest]).map(part).collect();
        put!(out, "      {}\n", painted(DIM, format!("or: {}", all.join(" │ "))));
    }
}

/// Bytes as text if they can be read, else as hex, with the number that 4 or 8 of them make.
fn part(bytes: &[u8]) -> String {
    match (printable(bytes), integer(bytes)) {
        (Some(text), _) => format!("{text:?}"),
        (None, Some(n)) => format!("0x{} ({n})", hex(bytes)),
        (None, None) => format!("0x{}", hex(bytes)),
    }
}

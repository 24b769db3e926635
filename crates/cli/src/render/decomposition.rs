//! The keys of a contract without a plan, split and shown.

use std::collections::BTreeMap;

use super::json::{hex_string, string};
use super::{DIM, NAME, base64, counted, hex, painted, pretty};
use crate::anatomy::printable;
use crate::command::{Decomposition, component_bytes};

/// All rows, by namespace; items, which have none, first.
pub(crate) fn decompositions(rows: &[Decomposition]) -> String {
    let mut groups: BTreeMap<Option<Vec<u8>>, Vec<&Decomposition>> = BTreeMap::new();
    for row in rows {
        let namespace = best(row).0.first().map(|namespace| namespace.to_vec());
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

fn best(row: &Decomposition) -> (Vec<&[u8]>, &[u8]) {
    match row.splits.first() {
        Some(split) => component_bytes(&row.entry.key, split),
        None => (Vec::new(), &row.entry.key),
    }
}

fn entry(row: &Decomposition, out: &mut String) {
    let (components, rest) = best(row);
    let mut parts: Vec<String> = components.iter().skip(1).map(|component| part(component)).collect();
    if !rest.is_empty() || parts.is_empty() {
        parts.push(part(rest));
    }
    put!(out, "  {}\n", parts.join(" │ "));
    let json = std::str::from_utf8(&row.entry.value).ok().and_then(pretty::indented);
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

fn integer(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 | 8 => Some(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))),
        _ => None,
    }
}

/// Appends the object of one row, and ends the line.
pub(crate) fn decomposition_json(out: &mut Vec<u8>, row: &Decomposition) {
    let (components, rest) = best(row);
    out.extend_from_slice(b"{\"key\":");
    hex_string(out, &row.entry.key);
    out.extend_from_slice(b",\"namespace\":");
    match components.first() {
        Some(namespace) => json_part(out, namespace),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"components\":");
    json_parts(out, components.get(1..).unwrap_or_default());
    out.extend_from_slice(b",\"rest\":");
    json_part(out, rest);
    if let Some(json) = std::str::from_utf8(&row.entry.value).ok().and_then(pretty::compact) {
        out.extend_from_slice(b",\"json\":");
        out.extend_from_slice(json.as_bytes());
    } else {
        out.extend_from_slice(b",\"base64\":");
        string(out, &base64(&row.entry.value));
    }
    if row.splits.len() > 1 {
        out.extend_from_slice(b",\"other_splits\":[");
        for (index, split) in row.splits.iter().skip(1).enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let (components, rest) = component_bytes(&row.entry.key, split);
            out.extend_from_slice(b"{\"components\":");
            json_parts(out, &components);
            out.extend_from_slice(b",\"rest\":");
            json_part(out, rest);
            out.push(b'}');
        }
        out.push(b']');
    }
    out.extend_from_slice(b"}\n");
}

fn json_parts(out: &mut Vec<u8>, parts: &[&[u8]]) {
    out.push(b'[');
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        json_part(out, part);
    }
    out.push(b']');
}

fn json_part(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"{\"hex\":");
    hex_string(out, bytes);
    if let Some(text) = printable(bytes) {
        out.extend_from_slice(b",\"text\":");
        string(out, text);
    }
    if let Some(n) = integer(bytes) {
        out.extend_from_slice(b",\"integer\":");
        string(out, &n.to_string());
    }
    out.push(b'}');
}

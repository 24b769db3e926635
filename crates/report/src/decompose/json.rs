//! A split key as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use keyplan_plan::notation::{printable, write_bytes, write_string};

use super::{Decomposition, component_bytes, integer};
use crate::json_text::compact;

/// Appends the object of one row, and ends the line.
pub fn decomposition_json(out: &mut Vec<u8>, row: &Decomposition) {
    let (components, rest) = row.best();
    out.extend_from_slice(b"{\"key\":");
    write_bytes(out, &row.entry.key);
    out.extend_from_slice(b",\"namespace\":");
    match components.first() {
        Some(namespace) => json_part(out, namespace),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"components\":");
    json_parts(out, components.get(1..).unwrap_or_default());
    out.extend_from_slice(b",\"rest\":");
    json_part(out, rest);
    if let Some(json) = std::str::from_utf8(&row.entry.value).ok().and_then(compact) {
        out.extend_from_slice(b",\"json\":");
        out.extend_from_slice(json.as_bytes());
    } else {
        out.extend_from_slice(b",\"base64\":");
        write_string(out, &STANDARD.encode(&row.entry.value));
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
    write_bytes(out, bytes);
    if let Some(text) = printable(bytes) {
        out.extend_from_slice(b",\"text\":");
        write_string(out, text);
    }
    if let Some(n) = integer(bytes) {
        out.extend_from_slice(b",\"integer\":");
        write_string(out, &n.to_string());
    }
    out.push(b'}');
}

//! Which bytes of a value are what.

use std::ops::Range;

use crate::show::text;
use crate::tree::{Data, Node};

/// The most lanes that are told apart; what comes after them is one.
pub(crate) const MAX_LANES: usize = 512;

/// Bytes of a value in a row that mean one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Which bytes.
    pub span: Range<usize>,
    /// The names that lead to it, `pool.assets.0.denom`; of the bytes that hold a value together, tags and lengths, nothing.
    pub path: String,
    /// What it is, as text; empty for what holds a value together.
    pub text: String,
}

/// Every byte of a value of `len` bytes, in order.
pub fn lanes(node: &Node, len: usize) -> Vec<Lane> {
    let mut found = Vec::new();
    leaves(node, &mut Vec::new(), &mut found);
    found.sort_by_key(|lane| lane.span.start);
    let mut all: Vec<Lane> = Vec::new();
    let mut at = 0;
    for lane in found {
        if lane.span.start < at || lane.span.is_empty() {
            continue;
        }
        if all.len() + 2 > MAX_LANES {
            break;
        }
        if lane.span.start > at {
            all.push(frame(at..lane.span.start));
        }
        at = lane.span.end;
        all.push(lane);
    }
    if at < len {
        all.push(frame(at..len));
    }
    all
}

const fn frame(span: Range<usize>) -> Lane {
    Lane { span, path: String::new(), text: String::new() }
}

fn leaves(node: &Node, path: &mut Vec<String>, out: &mut Vec<Lane>) {
    if out.len() > MAX_LANES {
        return;
    }
    let mut inside = |name: String, node: &Node, out: &mut Vec<Lane>| {
        path.push(name);
        leaves(node, path, out);
        path.pop();
    };
    match &node.data {
        Data::List(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                inside(at.to_string(), item, out);
            }
        }
        Data::Map(pairs) if !pairs.is_empty() => {
            for (key, value) in pairs {
                let name = match &key.data {
                    Data::Text(text) => text.clone(),
                    _ => text(key),
                };
                if !key.span.is_empty() {
                    inside(format!("{name} (key)"), key, out);
                }
                inside(name, value, out);
            }
        }
        Data::Fields(fields) if !fields.is_empty() => {
            for (number, node) in fields {
                inside(number.to_string(), node, out);
            }
        }
        Data::Message(record) if !(record.fields.is_empty() && record.unknown.is_empty()) => {
            for (name, node) in &record.fields {
                inside(name.to_string(), node, out);
            }
            for (number, node) in &record.unknown {
                inside(format!("?{number}"), node, out);
            }
        }
        Data::Tagged(_, inner) => leaves(inner, path, out),
        Data::Variant(name, inner) if inner.data != Data::Null => inside(name.clone(), inner, out),
        _ => out.push(Lane { span: node.span.clone(), path: path.join("."), text: text(node) }),
    }
}

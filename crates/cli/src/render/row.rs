//! Rows of a database.

use std::path::Path;

use keyplan_plan::diag::grouped;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Family, Plan};
use keyplan_plan::notation::{write_bytes, write_json, write_string};
use keyplan_store::PlanFingerprint;

use super::{DIM, ERROR, GOOD, NAME, assignments, base64, counted, hex, painted};
use crate::command::{Flaw, View};

/// How the bytes of a value are written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueDigits {
    /// Two digits a byte.
    Hex,
    /// Base64 with padding, under the name `base64`.
    Base64,
}

/// How many bytes of a value a line shows.
const SHOWN: usize = 48;

/// `cl.tick pool=7 tick=-100  0a0101`
pub(crate) fn row_text(row: &View<'_, '_>) -> String {
    match row.decoded {
        Ok(decoded) => {
            let mut out = painted(NAME, &decoded.family.path);
            if !decoded.values.is_empty() {
                put!(out, " {}", assignments(&decoded.family.key, &decoded.values));
            }
            put!(out, "  {} {}", painted(DIM, "→"), value_text(row));
            out
        }
        Err(miss) => {
            let head = painted(ERROR, format!("{}: unknown", row.space));
            format!(
                "{head} {}  {} {}  {}",
                hex(row.key),
                painted(DIM, "→"),
                cut(row.value),
                painted(DIM, miss)
            )
        }
    }
}

/// The value alone.
pub(crate) fn value_text(row: &View<'_, '_>) -> String {
    let layout = row.decoded.as_ref().ok().and_then(|decoded| decoded.family.value.as_ref());
    match (layout, row.value_arguments()) {
        (Some(layout), Some(Ok(values))) if layout.arguments().any(|argument| argument.name.is_some()) => {
            assignments(layout, &values)
        }
        (_, Some(Err(why))) => format!("{}  {}", cut(row.value), painted(ERROR, format!("malformed: {why}"))),
        _ => cut(row.value),
    }
}

pub(super) fn cut(bytes: &[u8]) -> String {
    match bytes.get(..SHOWN) {
        _ if bytes.is_empty() => "(empty)".to_owned(),
        Some(first) if bytes.len() > SHOWN => format!("{}… ({} bytes)", hex(first), bytes.len()),
        _ => hex(bytes),
    }
}

/// Appends the object of a row as `load` takes it, and ends the line. `whole` says whether its arguments are enough.
pub(crate) fn row_json(out: &mut Vec<u8>, row: &View<'_, '_>, whole: bool, digits: ValueDigits) {
    match row.decoded {
        Ok(decoded) if whole => {
            out.extend_from_slice(b"{\"family\":");
            write_string(out, &decoded.family.path);
            out.extend_from_slice(b",\"args\":");
            write_json(out, &decoded.family.key, &decoded.values);
        }
        _ => {
            out.extend_from_slice(b"{\"space\":");
            write_string(out, row.space);
            out.extend_from_slice(b",\"key\":");
            write_bytes(out, row.key);
        }
    }
    match digits {
        ValueDigits::Hex => {
            out.extend_from_slice(b",\"value\":");
            write_bytes(out, row.value);
        }
        ValueDigits::Base64 => {
            out.extend_from_slice(b",\"base64\":");
            write_string(out, &base64(row.value));
        }
    }
    out.extend_from_slice(b"}\n");
}

/// Something in a space that the plan does not make, and why.
pub(crate) fn flaw(space: &str, family: Option<&Family>, key: &[u8], value: &[u8], flaw: &Flaw) -> String {
    let (title, why) = match flaw {
        Flaw::Unknown(why) => (format!("{space}: unknown key"), why),
        Flaw::Value(why) => {
            (format!("{}: malformed value", family.map_or(space, |family| family.path.as_str())), why)
        }
    };
    let mut out = format!("{}  {}\n", painted(ERROR, title), hex(key));
    if matches!(flaw, Flaw::Value(_)) {
        put!(out, "    value  {}\n", cut(value));
    }
    put!(out, "    {why}\n");
    out
}

/// The same as an object on a line of its own.
pub(crate) fn flaw_json(
    space: &str,
    family: Option<&Family>,
    key: &[u8],
    value: &[u8],
    flaw: &Flaw,
) -> Vec<u8> {
    let (kind, why) = match flaw {
        Flaw::Unknown(why) => ("unknown_key", why),
        Flaw::Value(why) => ("malformed_value", why),
    };
    let mut out = b"{\"error\":{\"kind\":".to_vec();
    write_string(&mut out, kind);
    out.extend_from_slice(b",\"message\":");
    write_string(&mut out, why);
    out.extend_from_slice(b"},\"space\":");
    write_string(&mut out, space);
    if let Some(family) = family {
        out.extend_from_slice(b",\"family\":");
        write_string(&mut out, &family.path);
    }
    out.extend_from_slice(b",\"key\":");
    write_bytes(&mut out, key);
    out.extend_from_slice(b",\"value\":");
    write_bytes(&mut out, value);
    out.extend_from_slice(b"}\n");
    out
}

/// What became of a verification.
pub(crate) fn verified(rows: u64, unknown: u64, malformed: u64, limit: usize) -> String {
    let found = unknown + malformed;
    let all = of_rows(rows);
    if found == 0 {
        return format!("{all}: {}", painted(GOOD, "every key and value is one of the plan"));
    }
    let mut out = format!(
        "{all}: {}, {}",
        painted(ERROR, many(unknown, "unknown key", "unknown keys")),
        painted(ERROR, many(malformed, "malformed value", "malformed values")),
    );
    let shown = u64::try_from(limit).unwrap_or(u64::MAX);
    if found > shown {
        put!(out, "; the first {} are shown", grouped(shown));
    }
    out
}

/// The same as one object.
pub(crate) fn verified_json(rows: u64, unknown: u64, malformed: u64) -> Vec<u8> {
    let object = serde_json::json!({ "rows": rows, "unknown_keys": unknown, "malformed_values": malformed });
    format!("{object}\n").into_bytes()
}

/// A row that was asked for by name is not there.
pub(crate) fn no_row(family: &Family, values: &[Value], key: &[u8]) -> String {
    let arguments =
        if values.is_empty() { String::new() } else { format!(" {}", assignments(&family.key, values)) };
    format!("there is no {}{arguments} (0x{})\n", painted(NAME, &family.path), hex(key))
}

/// How a scan that was cut goes on.
pub(crate) fn more_rows(token: &[u8]) -> String {
    painted(DIM, format!("there are more rows: --token {}", hex(token))) + "\n"
}

/// What was made.
pub(crate) fn created(directory: &Path, engine: &str, plan: &Plan) -> String {
    format!(
        "made `{}` on {engine} with plan {} (fingerprint {}): {}, {}",
        directory.display(),
        painted(NAME, &plan.name),
        PlanFingerprint::from(plan.fingerprint()),
        counted(plan.spaces.len(), "space", "spaces"),
        counted(plan.families().count(), "family", "families"),
    )
}

/// What was deleted.
pub(crate) fn deleted(rows: u64) -> String {
    format!("deleted {}", of_rows(rows))
}

/// What was loaded, of which some before.
pub(crate) fn loaded(rows: u64, before: u64) -> String {
    let mut out = format!("loaded {}", of_rows(rows));
    if before > 0 {
        put!(out, ", of which {} were there already", grouped(before));
    }
    out
}

fn of_rows(n: u64) -> String {
    many(n, "row", "rows")
}

pub(super) fn many(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

//! Rows of a database.

use std::collections::BTreeMap;
use std::path::Path;

use keyplan_plan::diag::grouped;
use keyplan_plan::dynamic::{Value, readings};
use keyplan_plan::model::{Argument, Family, Opaque, Plan, Segment, Sequence};
use keyplan_plan::notation::{argument_name, write_bytes, write_string};
use keyplan_report::row::{View, opaque};
use keyplan_report::verify::{Flaw, Flawed, Verified};
use keyplan_report::{json_text, values};
use keyplan_store::{Copied, Deleted, PlanFingerprint};

use super::{DIM, ERROR, GOOD, NAME, assignments, counted, hex, painted};

/// How many bytes of a value a line shows.
const SHOWN: usize = 48;

/// How much of a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// What fits on a line among many.
    Line,
    /// All of it.
    Whole,
}

/// `cl.tick pool=7 tick=-100  0a0101`
pub fn row_text(row: &View<'_, '_>, length: Length) -> String {
    match row.decoded {
        Ok(decoded) => {
            let mut out = painted(NAME, &decoded.family.path);
            if !decoded.values.is_empty() {
                put!(out, " {}", assignments(&decoded.family.key, &decoded.values));
            }
            put!(out, "  {} {}", painted(DIM, "→"), value_text(row, length));
            out
        }
        Err(miss) => {
            let head = painted(ERROR, format!("{}: unknown", row.space));
            format!(
                "{head} {}  {} {}  {}",
                hex(row.key),
                painted(DIM, "→"),
                length.bytes(row.value),
                painted(DIM, miss)
            )
        }
    }
}

/// `  (ns is accounts)`: the arguments of a key that are digests of which the names are known.
pub fn known_names(layout: &Sequence, values: &[Value], names: &BTreeMap<Vec<u8>, String>) -> String {
    let known = |(argument, value): (&Argument, &Value)| match value {
        Value::Digest(digest) => Some(format!("{} is {}", argument_name(argument), names.get(digest)?)),
        _ => None,
    };
    let known: Vec<String> = layout.arguments().zip(values).filter_map(known).collect();
    if known.is_empty() {
        String::new()
    } else {
        format!("  {}", painted(DIM, format!("({})", known.join(", "))))
    }
}

/// Only the value.
pub fn value_text(row: &View<'_, '_>, length: Length) -> String {
    let layout = row.decoded.as_ref().ok().and_then(|decoded| decoded.family.value.as_ref());
    laid_out(layout, row.value, length)
}

/// Bytes under a layout, as far as the plan says what is in them; as they are if it does not.
pub(crate) fn laid_out(layout: Option<&Sequence>, bytes: &[u8], length: Length) -> String {
    let Some(layout) = layout else { return length.bytes(bytes) };
    let malformed =
        |why: String| format!("{}  {}", length.bytes(bytes), painted(ERROR, format!("malformed: {why}")));
    let found = match readings(layout, bytes, 1) {
        Ok(mut found) => found.readings.pop().unwrap_or_default(),
        Err(failure) => return malformed(failure.to_string()),
    };
    match (opaque(layout), layout.segments()) {
        (Some(Opaque::Json), _) => {
            let text = std::str::from_utf8(bytes).ok().and_then(json_text::compact);
            text.map_or_else(|| malformed("it is not JSON".to_owned()), |text| length.text(text))
        }
        (Some(Opaque::Raw), _) => length.bytes(bytes),
        (Some(Opaque::Proto(_)), _) if bytes.is_empty() => length.bytes(bytes),
        (Some(other), _) => match values::opaque_text(other, bytes) {
            Some(Ok(text)) => length.text(text),
            // Nothing says that a message without its schema is broken, or a value that is larger than what is looked at.
            Some(Err(fault))
                if !fault.is_limit() && (values::has_schema(other) || !matches!(other, Opaque::Proto(_))) =>
            {
                malformed(fault.to_string())
            }
            _ => length.bytes(bytes),
        },
        (None, [Segment::Argument(argument @ Argument { name: None, .. })]) => {
            found.first().map_or_else(|| length.bytes(bytes), |value| argument.display(value).to_string())
        }
        (None, _) => length.text(values::assignments(layout, &found)),
    }
}

/// The most characters of a text that a line shows.
const LONGEST: usize = 400;

impl Length {
    fn text(self, text: String) -> String {
        if self == Self::Whole || text.chars().count() <= LONGEST {
            return text;
        }
        text.chars().take(LONGEST).chain(['…']).collect()
    }

    fn bytes(self, bytes: &[u8]) -> String {
        if self == Self::Whole && !bytes.is_empty() { hex(bytes) } else { cut(bytes) }
    }
}

pub(crate) fn cut(bytes: &[u8]) -> String {
    match bytes.get(..SHOWN) {
        _ if bytes.is_empty() => "(empty)".to_owned(),
        Some(first) if bytes.len() > SHOWN => format!("{}… ({} bytes)", hex(first), bytes.len()),
        _ => hex(bytes),
    }
}

/// Something in a space that the plan does not make, and why.
pub fn flaw(flawed: &Flawed<'_>) -> String {
    let Flawed { space, family, key, value, flaw } = *flawed;
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
pub fn flaw_json(flawed: &Flawed<'_>) -> Vec<u8> {
    let Flawed { space, family, key, value, flaw } = *flawed;
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

/// What became of a verification: what was found, and what nobody looked at.
pub fn verified(verified: &Verified, limit: usize) -> String {
    let Verified { rows, unknown, malformed, ambiguous, unseen } = verified;
    let found = unknown + malformed;
    let mut out = format!("{}: ", of_rows(*rows));
    if found > 0 {
        put!(
            out,
            "{}, {}",
            painted(ERROR, many(*unknown, "unknown key", "unknown keys")),
            painted(ERROR, many(*malformed, "malformed value", "malformed values")),
        );
        let shown = u64::try_from(limit).unwrap_or(u64::MAX);
        if found > shown {
            put!(out, "; the first {} are shown", grouped(shown));
        }
    } else if unseen.is_empty() {
        out.push_str(&painted(GOOD, "every key and value is one of the plan"));
    } else {
        out.push_str(&painted(GOOD, "everything that was looked at is of the plan"));
    }
    if *ambiguous > 0 {
        let keys = many(*ambiguous, "key can be read", "keys can be read");
        put!(out, "; {keys} in several ways");
    }
    if !unseen.is_empty() {
        let unseen: Vec<String> =
            unseen.iter().map(|(what, count)| format!("{what} ({})", grouped(*count))).collect();
        put!(out, "; not looked at: {}", unseen.join(", "));
    }
    out
}

/// The same as one object.
pub fn verified_json(verified: &Verified) -> Vec<u8> {
    let object = serde_json::json!({
        "rows": verified.rows,
        "unknown_keys": verified.unknown,
        "malformed_values": verified.malformed,
        "ambiguous_keys": verified.ambiguous,
        "not_looked_at": verified.unseen,
    });
    format!("{object}\n").into_bytes()
}

/// A row that was asked for by name is not there.
pub fn no_row(family: &Family, values: &[Value], key: &[u8]) -> String {
    let arguments =
        if values.is_empty() { String::new() } else { format!(" {}", assignments(&family.key, values)) };
    format!("there is no {}{arguments} (0x{})\n", painted(NAME, &family.path), hex(key))
}

/// A row that was asked for by its key is not there.
pub fn no_raw_row(space: &str, key: &[u8]) -> String {
    format!("there is no row 0x{} in space {}\n", hex(key), painted(NAME, space))
}

/// A scan was cut, and how it goes on if it can.
pub fn more_rows(token: Option<&[u8]>) -> String {
    let text = match token {
        Some(token) => format!("there are more rows: --token {}", hex(token)),
        None => "there are more rows".to_owned(),
    };
    painted(DIM, text) + "\n"
}

/// No scan binds the arguments, and all rows are looked at.
pub fn full_scan(family: &Family, typed: &[String]) -> String {
    let names: Vec<&str> = typed.iter().filter_map(|typed| typed.split('=').next()).collect();
    let text = format!(
        "no scan of {} is declared that binds just {}: every row of the family is looked at",
        family.path,
        names.join(", ")
    );
    painted(DIM, text) + "\n"
}

/// `default 0a01  → 0b`: a row of which no plan says anything.
pub fn plain_row(space: &str, key: &[u8], value: &[u8]) -> String {
    let key = if key.is_empty() { "(empty)".to_owned() } else { hex(key) };
    format!("{} {key}  {} {}", painted(NAME, space), painted(DIM, "→"), cut(value))
}

/// A scan met rows of other families.
pub fn other_rows(rows: u64) -> String {
    let rows = many(rows, "row of another family", "rows of other families");
    painted(DIM, format!("not shown: {rows} in the same range")) + "\n"
}

/// A scan met no rows.
pub fn no_rows() -> String {
    painted(DIM, "there are no such rows") + "\n"
}

/// How many rows there are.
pub fn rows(n: u64) -> String {
    of_rows(n)
}

/// The same as an object.
pub fn rows_json(n: u64) -> Vec<u8> {
    format!("{{\"rows\":{n}}}\n").into_bytes()
}

/// Why a database was not made.
pub fn unsound(plan: &str) -> String {
    format!("no database was made: {plan} does not keep what it claims; --unsound makes it anyway\n")
}

/// What was copied, space by space.
pub fn copied(spaces: &[Copied], rows: u64, engine: &str, target: &str) -> String {
    let mut text = String::new();
    for copied in spaces {
        put!(text, "{}  {}  {}\n", painted(NAME, &copied.space), of_rows(copied.rows), copied.checksum);
    }
    let rows = of_rows(rows);
    put!(text, "copied {rows} to `{target}` on {engine}: numbers and checksums of both sides agree\n");
    text
}

/// What was made.
pub fn created(directory: &Path, engine: &str, plan: &Plan) -> String {
    format!(
        "made `{}` on {engine} with plan {} (fingerprint {}): {}, {}",
        directory.display(),
        painted(NAME, &plan.name),
        PlanFingerprint::from(plan.fingerprint()),
        counted(plan.spaces.len(), "space", "spaces"),
        counted(plan.families().count(), "family", "families"),
    )
}

/// What was deleted, or would be, and what was met beside it.
pub fn deleted(deleted: &Deleted, dry_run: bool) -> String {
    let done = if dry_run { "would delete" } else { "deleted" };
    let mut out = format!("{done} {}", of_rows(deleted.rows));
    if !deleted.kept.is_empty() {
        let kept: Vec<String> =
            deleted.kept.iter().map(|(of, rows)| format!("{} of {of}", grouped(*rows))).collect();
        put!(out, "; kept what else the scan meets: {}", kept.join(", "));
    }
    out
}

/// How much was dumped.
pub fn dumped(rows: u64, path: &Path) -> String {
    format!("wrote {} to {}\n", of_rows(rows), path.display())
}

/// What was written.
pub fn written(family: &str, key: usize, value: usize) -> String {
    let (key, value) = (counted(key, "byte", "bytes"), counted(value, "byte", "bytes"));
    format!("wrote one row of {}: a key of {key}, a value of {value}", painted(NAME, family))
}

/// What was loaded, of which some before.
pub fn loaded(rows: u64, before: u64) -> String {
    let mut out = format!("loaded {}", of_rows(rows));
    if before > 0 {
        put!(out, ", of which {} were there already", grouped(before));
    }
    out
}

fn of_rows(n: u64) -> String {
    many(n, "row", "rows")
}

pub(crate) fn many(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_whose_name_is_known_is_shown_with_it() {
        let text = "plan p; space s { key entity = ns: text.hashed(xxh3_64) id: u8; }";
        let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.expect("sound");
        let layout = &plan.spaces[0].families[0].key;
        let digest = 0x138a_7b25_414c_083a_u64.to_be_bytes().to_vec();
        let names = BTreeMap::from([(digest.clone(), "accounts".to_owned())]);
        let values = [Value::Digest(digest), Value::Unsigned(7)];
        assert!(known_names(layout, &values, &names).contains("(ns is accounts)"));
        assert_eq!(known_names(layout, &values, &BTreeMap::new()), "");
    }
}

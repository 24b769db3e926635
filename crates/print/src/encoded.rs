//! What `encode` has made.

use keyplan_plan::dynamic::{Other, Value};
use keyplan_plan::model::{Family, Sequence};
use keyplan_plan::notation::{write_bytes, write_shown_json, write_string};
use keyplan_report::row::base64;

use super::{ERROR, NAME, assignments, hex, painted};

/// The bytes with what they were made of, as one object.
pub fn encoded_json(
    family: &Family,
    kind: &str,
    sequence: &Sequence,
    values: &[Value],
    bytes: &[u8],
) -> Vec<u8> {
    let mut out = b"{\"family\":".to_vec();
    write_string(&mut out, &family.path);
    out.extend_from_slice(b",\"layout\":");
    write_string(&mut out, kind);
    out.extend_from_slice(b",\"args\":");
    write_shown_json(&mut out, sequence, values);
    out.extend_from_slice(b",\"hex\":");
    write_bytes(&mut out, bytes);
    out.extend_from_slice(b",\"base64\":");
    write_string(&mut out, &base64(bytes));
    out.extend_from_slice(b"}\n");
    out
}

/// Why bytes are not printed: they can be read in another way, and in which.
pub fn refusal(
    title: &str,
    sequence: &Sequence,
    values: &[Value],
    bytes: &[u8],
    other: &Other<'_>,
    help: &str,
) -> String {
    format!(
        "{}: {} can also be read in another way\n  asked for   {}  {}\n  also reads  {}  {}\n  \
         help: {help}\n",
        painted(ERROR, "error"),
        hex(bytes),
        painted(NAME, title),
        assignments(sequence, values),
        painted(NAME, other.owner),
        assignments(other.sequence, &other.values),
    )
}

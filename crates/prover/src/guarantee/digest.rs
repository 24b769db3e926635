//! What a digest in place of an argument means for a verdict.

use keyplan_plan::codec::Hash;
use keyplan_plan::dynamic::Value;
use keyplan_plan::order;

use crate::automaton::Drawing;
use crate::proof::{Assumption, Reason, Verdict};

/// The fewest bytes of a digest that are taken not to hit given bytes by chance.
pub(crate) const SAFE_DIGEST: usize = 8;

/// Why a goal that may be reached was not.
pub(crate) fn not_realised(drawings: &[&Drawing]) -> Reason {
    let mut loose: Vec<&'static str> = drawings.iter().flat_map(|d| d.loose.iter().copied()).collect();
    order::sort(&mut loose);
    loose.dedup();
    Reason::NotRealised { loose }
}

/// Proved, unless a hash stands for an argument.
pub(crate) fn unless(hashes: impl Iterator<Item = (Hash, usize)>) -> Verdict {
    match hashes.min_by_key(|&(hash, keep)| (keep, hash)) {
        Some((hash, keep)) => Verdict::Assumed(Assumption { hash, keep }),
        None => Verdict::Holds,
    }
}

/// Whether a digest is in place of an argument.
pub(crate) fn holds_digest(value: &Value) -> bool {
    match value {
        Value::Digest(_) => true,
        Value::Record(values) | Value::Choice(_, values) | Value::List(values) => {
            values.iter().any(holds_digest)
        }
        Value::Option(Some(value)) => holds_digest(value),
        _ => false,
    }
}

pub(crate) fn grounded(values: &[Value]) -> bool {
    !values.iter().any(holds_digest)
}

//! The properties, one a file. Each gives a verdict on layouts; none knows of plans.

mod delimited;
pub(crate) mod disjoint;
mod faults;
pub(crate) mod injective;
mod lengths;
mod next;
pub(crate) mod ordered;
pub(crate) mod range;
pub(crate) mod scannable;

use keyplan_plan::codec::Hash;
use keyplan_plan::dynamic::Value;

use crate::automaton::Drawing;
use crate::proof::{Assumption, Reason, Verdict};

/// The fewest bytes of a digest that are taken not to hit given bytes by chance.
const SAFE_DIGEST: usize = 8;

/// Why a goal that may be reached was not.
fn not_realised(drawings: &[&Drawing]) -> Reason {
    let mut loose: Vec<&'static str> = drawings.iter().flat_map(|d| d.loose.iter().copied()).collect();
    loose.sort_unstable();
    loose.dedup();
    Reason::NotRealised { loose }
}

/// Proved, unless a hash stands for an argument.
fn unless(hashes: impl Iterator<Item = (Hash, usize)>) -> Verdict {
    match hashes.min_by_key(|&(hash, keep)| (keep, hash)) {
        Some((hash, keep)) => Verdict::Assumed(Assumption { hash, keep }),
        None => Verdict::Holds,
    }
}

/// Whether a digest stands in place of an argument.
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

fn grounded(values: &[Value]) -> bool {
    !values.iter().any(holds_digest)
}

//! What a witness has to show.

use std::cmp::Ordering;

use keyplan_plan::dynamic::{encode, prefix};
use keyplan_plan::model::{Plan, Scan};
use keyplan_prover::{Guarantee, NumberFault, Side, Statement, Witness};

use crate::enumeration::{bound_of, logical_rows, range};

/// The prefix of a scan must encode to what it says.
fn check_scan(plan: &Plan, scan: &Scan, side: &Side) {
    let (_, family) = plan.find(&side.family)[0];
    let mut bytes = Vec::new();
    encode(&scan.prefix(&family.key), &side.values, &mut bytes).unwrap();
    assert_eq!(bytes, side.bytes);
}

fn check_side(plan: &Plan, side: &Side, segments: Option<usize>) {
    let (_, family) = plan.find(&side.family)[0];
    let mut bytes = Vec::new();
    match segments {
        Some(segments) => prefix(&family.key, segments, &side.values, &mut bytes).unwrap(),
        None => encode(&family.key, &side.values, &mut bytes).unwrap(),
    }
    assert_eq!(bytes, side.bytes);
}

/// Every witness must encode to what it says, and show what it says.
pub(crate) fn check_witness(plan: &Plan, statement: &Statement, witness: &Witness) {
    if let Witness::Digest { first, second, digest } = witness {
        assert!(first != second && !digest.is_empty());
        return;
    }
    let (_, family) = plan.find(&statement.family)[0];
    let scan = statement.scan.map(|id| family.scan(id).unwrap());
    let segments = scan.map(|scan| scan.segments);
    match witness {
        Witness::SameKey { first, second } => {
            check_side(plan, first, None);
            check_side(plan, second, None);
            assert_eq!(first.bytes, second.bytes);
            assert!(first.family != second.family || format!("{first:?}") != format!("{second:?}"));
        }
        Witness::Row { scan, row } => {
            let claim = family.scan(statement.scan.unwrap()).unwrap();
            check_scan(plan, claim, scan);
            check_side(plan, row, None);
            assert!(row.bytes.starts_with(&scan.bytes));
            assert!(row.family != scan.family || bound_of(family, claim, &row.values) != scan.values);
            assert!(!claim.wants(&row.family));
        }
        Witness::Disorder { first, second } => {
            check_side(plan, first, None);
            check_side(plan, second, None);
            assert!(first.bytes > second.bytes);
            let order =
                logical_rows(&family.key, statement.scan.unwrap().bound, &first.values, &second.values);
            assert_eq!(order, Some(Ordering::Less));
        }
        Witness::RangeEnd { end, row } => {
            check_side(plan, end, segments.map(|segments| segments + 1));
            check_side(plan, row, None);
        }
        Witness::Range { start, end, row } => {
            check_side(plan, start, segments);
            check_side(plan, row, None);
            let (scan, bound) = (scan.unwrap(), &start.values);
            let (begin, stop, included) = range(family, scan, bound).unwrap();
            assert_eq!((&start.bytes, &end.bytes, end.included), (&begin, &stop, included));
            let inside = row.bytes >= begin && (row.bytes < stop || included && row.bytes == stop);
            let belongs = row.family == start.family && row.values.starts_with(bound);
            assert_eq!(
                (inside, belongs),
                match statement.guarantee {
                    Guarantee::NoMissingRows => (false, true),
                    _ => (true, false),
                }
            );
            assert_eq!(statement.guarantee == Guarantee::NoForeignRows, row.family != start.family);
            assert!(!scan.wants(&row.family));
        }
        Witness::TooLong { key, limit } => {
            check_side(plan, key, None);
            assert!(key.bytes.len() > *limit);
        }
        Witness::Trespass { prefix, key, .. }
        | Witness::Number { fault: NumberFault::Retired { prefix, key }, .. } => {
            check_side(plan, key, None);
            assert!(key.bytes.starts_with(prefix));
        }
        Witness::Number { number, .. } => assert_eq!(family.number, Some(*number)),
        other => panic!("{other:?}"),
    }
}

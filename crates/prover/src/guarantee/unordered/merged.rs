//! Numbers that are written alike: what follows them decides, and the end of a range cannot tell them apart.

use std::cmp::Ordering;

use keyplan_plan::dynamic::Value;

use crate::automaton::Arena;
use crate::compare::compare;
use crate::guarantee::leak::law::Scanned;
use crate::guarantee::lossy::law::{loses, pairs};
use crate::guarantee::unordered::law::behind_next;
use crate::least::least_value;
use crate::proof::{Side, Witness};
use crate::sample;

/// How many values of what follows are tried.
const MOST_VALUES: usize = 6;

/// Two rows in the wrong order, or a row on the wrong side of a range's end, because two values of an argument have the same
/// bytes; the shortest.
pub(super) fn out_of_order(arena: &mut Arena, scanned: Scanned<'_, '_>, bound: &Side) -> Option<Witness> {
    let (path, sequence, count) = (scanned.layout.path, scanned.layout.sequence, scanned.scan.bound);
    let mut base = bound.values.clone();
    for argument in sequence.arguments().skip(count) {
        base.push(least_value(arena, &argument.shape)?);
    }
    let key = |changes: &[(usize, &Value)]| {
        let mut row = base.clone();
        for (index, value) in changes {
            *row.get_mut(*index)? = (*value).clone();
        }
        Side::key(path, sequence, &row)
    };
    let mut found: Vec<Witness> = Vec::new();
    for (index, argument) in sequence.arguments().enumerate().skip(count).filter(|(_, a)| loses(&a.shape)) {
        for (a, b) in pairs(arena, &argument.shape) {
            let (smaller, larger) = match compare(&argument.shape, &a, &b) {
                Some(Ordering::Less) => (&a, &b),
                Some(Ordering::Greater) => (&b, &a),
                _ => continue,
            };
            for (later, behind) in sequence.arguments().enumerate().skip(index + 1) {
                let values: Vec<Value> =
                    sample::values(&behind.shape).into_iter().take(MOST_VALUES).collect();
                let rows = |value: &Value| {
                    key(&[(index, smaller), (later, value)]).zip(key(&[(index, larger), (later, value)]))
                };
                let rows: Vec<(Side, Side)> = values.iter().filter_map(rows).collect();
                for (first, _) in &rows {
                    let wrong = rows.iter().filter(|(_, second)| first.bytes > second.bytes);
                    found.extend(wrong.filter_map(|(_, second)| {
                        Witness::disorder(sequence, count, first.clone(), second.clone())
                    }));
                }
            }
            if index == count
                && let Some(stop) = behind_next(sequence, scanned.scan.segments)
            {
                let at = [bound.values.as_slice(), std::slice::from_ref(larger)].concat();
                let end = Side::prefix(path, sequence, stop, &at).zip(key(&[(index, smaller)]));
                found.extend(end.and_then(|(end, row)| Witness::range_end(sequence, count, end, row)));
            }
        }
    }
    // Rows in the wrong order are shown rather than the end of a range.
    let rows = |witness: &Witness| (matches!(witness, Witness::RangeEnd { .. }), witness.length());
    found.into_iter().min_by_key(rows)
}

//! Layouts of few keys: where all of them can be listed, the list decides.
//!
//! The graph is blind to copies, derived parts and checksums. A layout over small domains needs no graph: every key is made,
//! and what is asked of the keys is looked up among them. Hashes of few values are listed too: nothing is assumed of them. Nothing is
//! decided of a layout that holds a domain which is not small.

use std::cmp::Ordering;

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{ScanEnd, Segment, Sequence};
use keyplan_plan::order::sort_by;

use crate::compare::{compare, compare_rows};
use crate::every;
use crate::guarantee::leak::law::Scanned;
use crate::guarantee::missing::law::ends;
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{Side, Verdict, Witness, is_within};

/// The most keys of a layout that are listed.
const MOST_KEYS: usize = 3_000;

/// The most rows with the same bound arguments that are listed.
const MOST_FREE: usize = 1_000;

/// The most pairs of a range and a row, or of an end and a row, that are looked at one by one.
const MOST_PAIRS: usize = 1_000_000;

/// Every key of a layout by its bytes, if they are few.
fn keys(layout: &Layout<'_>, budget: &mut Budget) -> Option<Vec<Side>> {
    let rows = every::rows(layout.sequence, MOST_KEYS)?;
    budget.spend(rows.len() as u64);
    // A value that the codec refuses makes no key.
    let mut keys: Vec<Side> =
        rows.iter().filter_map(|row| Side::key(layout.path, layout.sequence, row)).collect();
    sort_by(&mut keys, |a, b| a.bytes.cmp(&b.bytes));
    Some(keys)
}

/// What a list of witnesses comes to: the shortest of them, or that there is none.
fn told(witnesses: impl Iterator<Item = Witness>) -> Verdict {
    witnesses.min_by_key(Witness::length).map_or(Verdict::Holds, |witness| Verdict::Fails(Box::new(witness)))
}

/// Whether every key has one argument list.
pub(crate) fn injective(layout: &Layout<'_>, budget: &mut Budget) -> Option<Verdict> {
    let keys = keys(layout, budget)?;
    Some(told(keys.windows(2).filter_map(|pair| match pair {
        [a, b] => Witness::same_key(a.clone(), b.clone()),
        _ => None,
    })))
}

/// Whether no key is of both layouts.
pub(crate) fn disjoint(a: &Layout<'_>, b: &Layout<'_>, budget: &mut Budget) -> Option<Verdict> {
    let (firsts, seconds) = (keys(a, budget)?, keys(b, budget)?);
    Some(told(firsts.iter().filter_map(|first| {
        let at = seconds.binary_search_by(|second| second.bytes.cmp(&first.bytes)).ok()?;
        let second = seconds.get(at)?.clone();
        if second.family < first.family {
            Witness::same_key(second, first.clone())
        } else {
            Witness::same_key(first.clone(), second)
        }
    })))
}

/// The prefixes of a scan, one for each list of bound arguments.
fn prefixes(scanned: Scanned<'_, '_>) -> Option<Vec<Side>> {
    let bound = every::rows(&scanned.prefix(), MOST_KEYS)?;
    Some(bound.iter().filter_map(|values| scanned.side(values)).collect())
}

/// Whether a scan, or a range, returns no row of `other` that it should not; with `other` its own family, none with other
/// bound arguments.
pub(crate) fn leaks(scanned: Scanned<'_, '_>, other: &Layout<'_>, budget: &mut Budget) -> Option<Verdict> {
    let rows = keys(other, budget)?;
    let prefixes = prefixes(scanned)?;
    if scanned.scan.end != ScanEnd::Prefix {
        if prefixes.len().checked_mul(rows.len())? > MOST_PAIRS {
            return None;
        }
        budget.spend(rows.len().saturating_mul(prefixes.len()) as u64 / 16);
        return Some(told(prefixes.iter().filter_map(|prefix| ends(scanned, &prefix.values)).filter_map(
            |(start, end)| {
                let inside = rows.iter().filter(|row| is_within(&start, &end, &row.bytes));
                let found = inside.filter_map(|row| {
                    let belongs = row.family == start.family && row.values.starts_with(&start.values);
                    (!belongs).then(|| Witness::range(start.clone(), end.clone(), row.clone())).flatten()
                });
                found.min_by_key(Witness::length)
            },
        )));
    }
    budget.spend(prefixes.len() as u64);
    Some(told(prefixes.iter().filter_map(|prefix| {
        let from = rows.partition_point(|row| row.bytes < prefix.bytes);
        let begin = rows.iter().skip(from).take_while(|row| row.bytes.starts_with(&prefix.bytes));
        begin.filter_map(|row| scanned.leak(prefix.clone(), row.clone())).min_by_key(Witness::length)
    })))
}

/// Whether a range leaves out no row with its bound arguments.
pub(crate) fn whole(scanned: Scanned<'_, '_>, budget: &mut Budget) -> Option<Verdict> {
    let rows = keys(scanned.layout, budget)?;
    Some(told(rows.into_iter().filter_map(|row| {
        let (start, end) = ends(scanned, row.values.get(..scanned.scan.bound)?)?;
        (!is_within(&start, &end, &row.bytes)).then(|| Witness::range(start, end, row)).flatten()
    })))
}

/// Whether the rows of a scan come in logical order, and every range of its next argument holds what it should.
pub(crate) fn ordered(scanned: Scanned<'_, '_>, budget: &mut Budget) -> Option<Verdict> {
    let (sequence, bound) = (scanned.layout.sequence, scanned.scan.bound);
    let rows = keys(scanned.layout, budget)?;
    let mut groups: Vec<(Vec<Value>, Vec<&Side>)> = Vec::new();
    for row in &rows {
        let front = row.values.get(..bound)?;
        match groups.iter_mut().find(|(values, _)| values == front) {
            Some((_, group)) => group.push(row),
            None => groups.push((front.to_vec(), vec![row])),
        }
        if groups.len() > 200 {
            return None;
        }
    }
    let (mut of_rows, mut of_ends): (Vec<Witness>, Vec<Witness>) = (Vec::new(), Vec::new());
    for (front, group) in &groups {
        if group.len().checked_mul(group.len())? > MOST_PAIRS {
            return None;
        }
        budget.spend((group.len() * group.len()) as u64 / 16);
        for (index, a) in group.iter().enumerate() {
            for b in group.iter().skip(index + 1) {
                let order = compare_rows(sequence, bound, &a.values, &b.values)?;
                if a.bytes < b.bytes && order == Ordering::Greater {
                    of_rows.extend(Witness::disorder(sequence, bound, (*a).clone(), (*b).clone()));
                }
            }
        }
        of_ends.extend(faulty_ends(scanned, front, group)?);
    }
    Some(told(if of_rows.is_empty() { of_ends.into_iter() } else { of_rows.into_iter() }))
}

/// The rows with these bound arguments that lie on the wrong side of the end of a range over the next one.
fn faulty_ends(scanned: Scanned<'_, '_>, front: &[Value], group: &[&Side]) -> Option<Vec<Witness>> {
    let (sequence, bound) = (scanned.layout.sequence, scanned.scan.bound);
    let Some(Segment::Argument(argument)) = sequence.segments().get(scanned.scan.segments) else {
        return Some(Vec::new());
    };
    let mut values: Vec<&Value> = Vec::new();
    for value in group.iter().filter_map(|row| row.values.get(bound)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let mut found = Vec::new();
    for value in values {
        let at = [front, std::slice::from_ref(value)].concat();
        let end = Side::prefix(scanned.layout.path, sequence, scanned.scan.segments + 1, &at)?;
        for row in group {
            compare(&argument.shape, row.values.get(bound)?, value)?;
            found.extend(Witness::range_end(sequence, bound, end.clone(), (*row).clone()));
        }
    }
    Some(found)
}

/// Whether the rows of a scan come in order, from all rows with these bound arguments, if they are few. That is so of all bound
/// arguments if the bytes after the prefix do not depend on them.
pub(crate) fn ordered_after(scanned: Scanned<'_, '_>, bound: &Side, budget: &mut Budget) -> Option<Verdict> {
    let (path, sequence, count) = (scanned.layout.path, scanned.layout.sequence, scanned.scan.bound);
    let free = sequence.segments().get(scanned.scan.segments..)?;
    let rows = every::rows(&Sequence::new(free.to_vec()), MOST_FREE)?;
    budget.spend((rows.len() * rows.len()) as u64 / 16);
    let key = |row: &Vec<Value>| Side::key(path, sequence, &[bound.values.as_slice(), row].concat());
    let sides: Vec<Side> = rows.iter().filter_map(key).collect();
    let mut of_rows: Vec<Witness> = Vec::new();
    for (index, a) in sides.iter().enumerate() {
        for b in sides.iter().skip(index + 1) {
            // Of rows that cannot be compared nothing is known.
            let order = compare_rows(sequence, count, &a.values, &b.values)?;
            // The order of the bytes is cheap to look at, and mostly right.
            if order != a.bytes.cmp(&b.bytes) {
                of_rows.extend(Witness::disorder(sequence, count, a.clone(), b.clone()));
            }
        }
    }
    if let Some(witness) = of_rows.into_iter().min_by_key(Witness::length) {
        return Some(Verdict::Fails(Box::new(witness)));
    }
    let own = |of: &usize| *of >= scanned.scan.segments;
    let depends = free.iter().any(|segment| match segment {
        Segment::Literal(_) | Segment::Argument(_) => false,
        Segment::Same(same) => !own(&same.of),
        Segment::Derived(derived) => !derived.of.iter().all(own),
    });
    if depends || sides.is_empty() {
        return None;
    }
    let group: Vec<&Side> = sides.iter().collect();
    Some(told(faulty_ends(scanned, &bound.values, &group)?.into_iter()))
}

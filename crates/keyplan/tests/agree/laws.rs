use keyplan::laws::{PlanTypes, TypeEntry};
use keyplan::plan::dynamic::{Value, encode};
use keyplan::plan::model::{Plan, Sequence};

use super::arguments::is_full;
use super::scans::{Sample, scans_return_exactly_their_rows};
use super::{Random, agree_on_arguments, layout_of, nothing_is_missing, plan};

/// What is in the way of a byte.
const OTHER_BYTES: [u8; 5] = [0x00, 0xff, b'/', b'0', 0x7f];

/// Checks every type of a plan: round trip, canonical, bounded by its buffer, ordered where it has an order, never a
/// panic; and every scan on the keys that were made.
pub(crate) fn keep_the_laws(types: &PlanTypes, rounds: usize) {
    let plan = plan(&types.plan);
    nothing_is_missing(&plan, types);
    let mut random = Random::new(0x1a35);
    let mut keys = Vec::new();
    for entry in types.types {
        let (family, layout) = layout_of(&plan, entry);
        let rows = arguments(&mut random, layout, rounds);
        assert!(!rows.is_empty(), "{} {:?}: there are arguments", entry.family, entry.part);
        for (round, (values, bytes)) in rows.iter().enumerate() {
            agree_on_arguments(family, layout, entry, values);
            is_canonical(entry, bytes, bytes);
            if round < 8 {
                fits_its_buffer(entry, values, bytes);
                others_are_refused_or_canonical(entry, bytes);
            }
        }
        is_ordered_as_its_bytes(entry, &rows);
        if entry.part == keyplan::laws::Part::Key {
            keys.extend(rows.into_iter().map(|(values, key)| Sample { family: entry.family, values, key }));
        }
    }
    scans(&plan, types, &keys);
}

/// Rows of arguments that can be written, the least and greatest among them, with their bytes.
fn arguments(random: &mut Random, layout: &Sequence, rounds: usize) -> Vec<(Vec<Value>, Vec<u8>)> {
    let mut rows = Vec::new();
    for _ in 0..rounds {
        let Some(values) = random.values(layout) else { continue };
        let mut bytes = Vec::new();
        if encode(layout, &values, &mut bytes).is_ok() {
            rows.push((values, bytes));
        }
    }
    rows
}

/// What reads `bytes` writes them again; what is not read is refused with an error.
fn is_canonical(entry: &TypeEntry, bytes: &[u8], near: &[u8]) {
    match (entry.read)(bytes) {
        Ok(read) => assert_eq!(
            read.bytes.as_deref(),
            Ok(bytes),
            "{} {:?} reads {bytes:02x?} as {}",
            entry.family,
            entry.part,
            read.shown
        ),
        Err(error) => {
            assert!(bytes != near, "{} {:?} does not read {bytes:02x?}: {error}", entry.family, entry.part);
            // An error names a byte that is there, or the end.
            assert!(error.offset().is_none_or(|offset| offset <= bytes.len()), "{bytes:02x?}: {error:?}");
        }
    }
}

fn fits_its_buffer(entry: &TypeEntry, values: &[Value], bytes: &[u8]) {
    let made = (entry.make)(values).unwrap();
    if made.guarded.is_err() {
        return;
    }
    for len in [0, 1, bytes.len() / 2, bytes.len().saturating_sub(1)] {
        if len < bytes.len() {
            let error = (made.buffered)(values, len).unwrap().unwrap_err();
            assert!(is_full(error.fault), "{} {:?} in {len} bytes: {error}", entry.family, entry.part);
        }
    }
    for len in [bytes.len(), bytes.len() + 3] {
        assert_eq!((made.buffered)(values, len).unwrap().as_deref(), Ok(bytes), "{}", entry.family);
    }
}

/// Every truncation, every extension by a byte, and every byte exchanged for some others.
fn others_are_refused_or_canonical(entry: &TypeEntry, bytes: &[u8]) {
    for len in 0..bytes.len() {
        is_canonical(entry, &bytes[..len], bytes);
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    for byte in 0..=u8::MAX {
        longer[bytes.len()] = byte;
        is_canonical(entry, &longer, bytes);
    }
    let mut changed = bytes.to_vec();
    for at in 0..bytes.len() {
        for byte in OTHER_BYTES.into_iter().chain([bytes[at] ^ 0x01, bytes[at] ^ 0x80, bytes[at] ^ 0x20]) {
            changed[at] = byte;
            is_canonical(entry, &changed, bytes);
        }
        changed[at] = bytes[at];
    }
}

fn is_ordered_as_its_bytes(entry: &TypeEntry, rows: &[(Vec<Value>, Vec<u8>)]) {
    let Some(compare) = entry.compare else { return };
    for (left, left_bytes) in rows {
        for (right, right_bytes) in rows {
            let order = compare(left, right).unwrap();
            assert_eq!(order, left_bytes.cmp(right_bytes), "{}: {left:?} and {right:?}", entry.family);
        }
    }
}

fn scans(plan: &Plan, types: &PlanTypes, keys: &[Sample]) {
    for scan in types.scans {
        let space = plan.families().find(|(_, family)| family.path == scan.family).unwrap().0;
        let beside: Vec<&Sample> = keys
            .iter()
            .filter(|sample| space.families.iter().any(|family| family.path == sample.family))
            .collect();
        scans_return_exactly_their_rows(plan, scan, &beside);
    }
}

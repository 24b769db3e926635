//! The keys of a database; `layout.keyplan` is the plan that they are keys of.

use std::ops::Bound;

use bytes::{BufMut as _, Bytes, BytesMut};
use keyplan_store::engine::KeyRange;

/// The row that says which layout this is, and what it says.
pub(crate) const LAYOUT: [u8; 1] = [0x00];
pub(crate) const VERSION: &[u8] = b"keyplan 1";

const SPACE: u8 = 0x01;
const ROW: u8 = 0x02;

/// How many bytes are in front of the key of a row.
pub(crate) const FRONT: usize = 3;

/// The rows that name the spaces.
pub(crate) fn names() -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    (Bound::Included(vec![SPACE]), Bound::Excluded(vec![ROW]))
}

/// The row that names a space.
pub(crate) fn name(number: u16) -> Bytes {
    front(SPACE, number, 0).freeze()
}

/// A row of a space.
pub(crate) fn row(number: u16, key: &[u8]) -> Bytes {
    let mut row = front(ROW, number, key.len());
    row.put_slice(key);
    row.freeze()
}

/// The rows of a range of a space. It is not empty if the range is not.
pub(crate) fn range(number: u16, range: KeyRange<'_>) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let with = |key: &[u8]| row(number, key).to_vec();
    let start = match range.start {
        Bound::Included(key) => Bound::Included(with(key)),
        Bound::Excluded(key) => Bound::Excluded(with(key)),
        Bound::Unbounded => Bound::Included(with(&[])),
    };
    let end = match range.end {
        Bound::Included(key) => Bound::Included(with(key)),
        Bound::Excluded(key) => Bound::Excluded(with(key)),
        Bound::Unbounded => match number.checked_add(1) {
            Some(next) => Bound::Excluded(row(next, &[]).to_vec()),
            None => Bound::Excluded(vec![ROW + 1]),
        },
    };
    (start, end)
}

fn front(kind: u8, number: u16, more: usize) -> BytesMut {
    let mut key = BytesMut::with_capacity(FRONT.saturating_add(more));
    key.put_u8(kind);
    key.put_u16(number);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> keyplan_plan::Compiled {
        keyplan_plan::compile("layout.keyplan", include_str!("../layout.keyplan"), |_| {
            Err("no imports".into())
        })
    }

    #[test]
    fn the_plan_of_the_layout_is_proved() {
        let plan = plan().plan.expect("a plan");
        let report = keyplan_prover::prove(&plan, &keyplan_prover::Options::default());
        assert!(!report.statements.is_empty());
        for statement in &report.statements {
            let proved = matches!(statement.verdict, keyplan_prover::Verdict::Holds);
            assert!(proved || statement.accepted, "{statement:?}");
        }
    }

    #[test]
    fn keys_are_those_of_the_plan() {
        let plan = plan().plan.expect("a plan");
        let decoder = keyplan_plan::dynamic::Decoder::new(&plan);
        for (key, family) in [
            (LAYOUT.to_vec(), "layout"),
            (name(0x0102).to_vec(), "space_name"),
            (row(0x0102, b"k").to_vec(), "row"),
            (row(u16::MAX, b"").to_vec(), "row"),
        ] {
            let found = format!("{:?}", decoder.decode(0, &key));
            assert!(found.contains(family), "{key:?}: {found}");
        }
        assert_eq!(&row(0x0102, b"k")[..], [2, 1, 2, b'k']);
    }

    #[test]
    fn a_range_of_a_space_holds_its_rows_and_no_other_s() {
        let rows: Vec<Bytes> = [0, 1, 0xfe, 0xff, 0x100, u16::MAX]
            .iter()
            .flat_map(|number| [&[][..], &[0], &[0xff, 0xff]].map(|key| row(*number, key)))
            .chain([name(0), name(u16::MAX), Bytes::from_static(&LAYOUT)])
            .collect();
        for number in [0, 1, 0xff, u16::MAX] {
            let (start, end) = range(number, KeyRange::ALL);
            let bounds =
                KeyRange { start: start.as_ref().map(Vec::as_slice), end: end.as_ref().map(Vec::as_slice) };
            for row in &rows {
                let own = row.starts_with(&front(ROW, number, 0));
                assert_eq!(bounds.contains(row), own, "{number} {row:?}");
            }
        }
    }
}

//! The records of a log: batches of writes.
//!
//! ```text
//! sequence number (8) | count (4) | kind (1) [family] key [value] …        numbers little-endian, the rest varints and prefixed
//! ```

use std::path::Path;

use keyplan_store::source::SourceError;

use super::bytes::Bytes;
use super::key::{MAX_SEQUENCE, RANGE_DELETION};

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Write<'r> {
    pub(crate) family: u32,
    pub(crate) sequence: u64,
    /// The kind as entries of tables have it.
    pub(crate) kind: u8,
    pub(crate) key: &'r [u8],
    /// The value; of a range deletion its end.
    pub(crate) value: &'r [u8],
}

/// Gives each write of the batch in a record that lies at `offset` of a log.
pub(crate) fn writes(
    path: &Path,
    offset: u64,
    record: &[u8],
    pebble: bool,
    mut each: impl FnMut(Write<'_>),
) -> Result<(), SourceError> {
    let damaged = |what: &str| SourceError::damaged(path, offset, what);
    let mut bytes = Bytes::new(record);
    let head = bytes.fixed64().zip(bytes.fixed32());
    let (first, count) = head.ok_or_else(|| damaged("a batch without a head"))?;
    let mut sequence = first;
    while let Some(number) = bytes.byte() {
        let shape = shape(number, pebble).map_err(|what| match what {
            None => damaged(&format!("a write of kind {number}, which does not exist")),
            Some(what) => SourceError::unsupported(path, what),
        })?;
        let cut = || damaged("a write that is cut off");
        let family = if shape.family { bytes.varint32().ok_or_else(cut)? } else { 0 };
        let key = if shape.key { bytes.prefixed().ok_or_else(cut)? } else { &[] };
        let value = if shape.value { bytes.prefixed().ok_or_else(cut)? } else { &[] };
        let Some(kind) = shape.kind else { continue };
        if sequence > MAX_SEQUENCE {
            return Err(damaged("a sequence number of more than 56 bits"));
        }
        each(Write { family, sequence, kind, key, value });
        sequence += 1;
    }
    if sequence - first != u64::from(count) {
        return Err(damaged(&format!("a batch of {count} writes holds {}", sequence - first)));
    }
    Ok(())
}

/// What a write of a kind is made of.
struct Shape {
    /// The kind in tables; `None` for what is not a write.
    kind: Option<u8>,
    family: bool,
    key: bool,
    value: bool,
}

fn shape(number: u8, pebble: bool) -> Result<Shape, Option<&'static str>> {
    let shape = |kind, family, value| Ok(Shape { kind: Some(kind), family, key: true, value });
    match (number, pebble) {
        (0 | 7, _) => shape(number, false, false),
        (1 | 2, _) => shape(number, false, true),
        (RANGE_DELETION, _) => shape(RANGE_DELETION, false, true),
        (23, true) => shape(23, false, true),
        (3, _) => Ok(Shape { kind: None, family: false, key: true, value: false }),
        (13, false) => Ok(Shape { kind: None, family: false, key: false, value: false }),
        (4, false) => shape(0, true, false),
        (5, false) => shape(1, true, true),
        (6, false) => shape(2, true, true),
        (8, false) => shape(7, true, false),
        (14, false) => shape(RANGE_DELETION, true, true),
        (16, false) => shape(17, true, true),
        (17 | 22, false) => shape(number, false, true),
        (23, false) => shape(22, true, true),
        (9..=12 | 18 | 19 | 21, false) => Err(Some("a prepared transaction")),
        (20, false) => Err(Some("a deletion with a timestamp")),
        (24 | 25, false) => Err(Some("a value with a preferred time")),
        (19..=21, true) => Err(Some("a range key")),
        (22, true) => Err(Some("a table that only a log knows")),
        _ => Err(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Family, sequence number, kind, key and value.
    type Written = (u32, u64, u8, Vec<u8>, Vec<u8>);

    fn read(record: &[u8]) -> Result<Vec<Written>, String> {
        let mut out = Vec::new();
        writes(Path::new("000003.log"), 14, record, false, |write| {
            out.push((write.family, write.sequence, write.kind, write.key.to_vec(), write.value.to_vec()));
        })
        .map_err(|error| error.to_string())?;
        Ok(out)
    }

    #[test]
    fn each_write_has_the_next_sequence_number() {
        let record = [5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 1, b'a', 1, b'x', 3, 1, b'l', 4, 2, 1, b'b'];
        let (first, second) = ((0, 5, 1, b"a".to_vec(), b"x".to_vec()), (2, 6, 0, b"b".to_vec(), Vec::new()));
        assert_eq!(read(&record), Ok(vec![first, second]));
    }

    #[test]
    fn a_count_that_is_wrong_is_damage() {
        let record = [5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, b'a'];
        assert_eq!(read(&record), Err("000003.log: byte 14: a batch of 2 writes holds 1".to_owned()));
        let record = [5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9];
        assert_eq!(read(&record), Err("000003.log: a prepared transaction is not supported".to_owned()));
    }
}

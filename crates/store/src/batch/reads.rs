use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Batch, Engine, KeyRange, OwnedKeyRange, RowsDigest, SpaceId};
use crate::page::Direction;

/// The ranges that a batch read, as far as it read them.
#[derive(Debug, Default)]
pub(super) struct Reads(Mutex<Vec<Arc<Mutex<Read>>>>);

/// One of them, while it is read.
#[derive(Debug)]
pub(super) struct RangeRead(Arc<Mutex<Read>>);

#[derive(Debug)]
struct Read {
    space: SpaceId,
    range: OwnedKeyRange,
    front: Part,
    back: Part,
    // Whether nothing was left between the two.
    ended: bool,
}

/// The rows that were read from one end.
#[derive(Debug)]
struct Part {
    rows: RowsDigest,
    last: Option<Vec<u8>>,
}

impl Reads {
    pub(super) fn begin(&self, space: SpaceId, range: KeyRange<'_>) -> RangeRead {
        let part = |direction| Part { rows: RowsDigest::new(direction), last: None };
        let read = Arc::new(Mutex::new(Read {
            space,
            range: range.to_owned(),
            front: part(Direction::Ascending),
            back: part(Direction::Descending),
            ended: false,
        }));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(read.clone());
        RangeRead(read)
    }

    /// Has a batch expect what was read.
    pub(super) fn expect_in<E: Engine>(&self, batch: &mut Batch<E>) {
        for read in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let read = read.lock().unwrap_or_else(PoisonError::into_inner);
            let (front, back) = (&read.front, &read.back);
            if let Some(last) = &front.last {
                let range = OwnedKeyRange { end: Bound::Included(last.clone()), ..read.range.clone() };
                batch.expect_rows(read.space, range, front.rows.clone());
            }
            if let Some(last) = &back.last {
                let range = OwnedKeyRange { start: Bound::Included(last.clone()), ..read.range.clone() };
                batch.expect_rows(read.space, range, back.rows.clone());
            }
            if read.ended {
                let bound = |last: &Vec<u8>| Bound::Excluded(last.clone());
                let start = front.last.as_ref().map_or_else(|| read.range.start.clone(), bound);
                let end = back.last.as_ref().map_or_else(|| read.range.end.clone(), bound);
                let between = OwnedKeyRange { start, end };
                if !between.borrow().is_empty() {
                    batch.expect_rows(read.space, between, RowsDigest::new(Direction::Ascending));
                }
            }
        }
    }
}

impl RangeRead {
    /// Notes a row that was read from an end.
    pub(super) fn row(&self, direction: Direction, key: &[u8], value: &[u8]) {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let part = match direction {
            Direction::Ascending => &mut read.front,
            Direction::Descending => &mut read.back,
        };
        part.rows.add(key, value);
        part.last = Some(key.to_vec());
    }

    /// Notes that nothing is left.
    pub(super) fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
    }
}

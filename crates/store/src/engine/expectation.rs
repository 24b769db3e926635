use keyplan_codec::Hash;

use super::{Error, OwnedKeyRange, RowRange as _, Snapshot, SpaceId};
use crate::page::Direction;

/// Something that a batch was made from: if it is no longer so, the commit is refused as a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The space.
    pub space: SpaceId,
    /// What must be so in it.
    pub expected: Expected,
}

/// What must be so for a batch to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A key has the value with this digest, or none.
    Value {
        /// The key.
        key: Vec<u8>,
        /// The digest of its value; `None` if it must not be there.
        digest: Option<ValueDigest>,
    },
    /// A range holds these rows and no other.
    Rows {
        /// The range.
        range: OwnedKeyRange,
        /// The rows.
        rows: RowsDigest,
    },
}

/// The SHA-256 digest of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueDigest(pub [u8; 32]);

impl ValueDigest {
    /// The digest of a value.
    pub fn of(value: &[u8]) -> Self {
        let mut digest = [0; 32];
        let found = Hash::Sha256.digest(value);
        digest.iter_mut().zip(&*found).for_each(|(byte, found)| *byte = *found);
        Self(digest)
    }
}

/// Rows as they were read, one after the other.
///
/// The digest is the SHA-256 of the digests of key and value of each row, in the order in which they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsDigest {
    direction: Direction,
    count: u64,
    digests: Vec<u8>,
}

impl RowsDigest {
    /// No rows so far.
    pub const fn new(direction: Direction) -> Self {
        Self { direction, count: 0, digests: Vec::new() }
    }

    /// Adds the next row.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.count = self.count.saturating_add(1);
        self.digests.extend(ValueDigest::of(key).0);
        self.digests.extend(ValueDigest::of(value).0);
    }

    /// In which order the rows were read.
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// How many there were.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The digest of them all.
    pub fn digest(&self) -> ValueDigest {
        ValueDigest::of(&self.digests)
    }
}

impl Expectation {
    /// Whether it is so in a snapshot.
    pub fn holds<S: Snapshot>(&self, snapshot: &S) -> Result<bool, Error> {
        match &self.expected {
            Expected::Value { key, digest } => {
                let found = snapshot.get(self.space, key)?;
                Ok(found.map(|value| ValueDigest::of(&value)) == *digest)
            }
            Expected::Rows { range, rows } => {
                let range = range.borrow();
                if range.is_empty() {
                    return Ok(rows.count == 0);
                }
                let mut found = RowsDigest::new(rows.direction);
                let mut walk = snapshot.range(self.space, range)?;
                let ended = walk.visit(rows.direction, |key, value| {
                    found.add(key, value);
                    if found.count > rows.count {
                        std::ops::ControlFlow::Break(())
                    } else {
                        std::ops::ControlFlow::Continue(())
                    }
                })?;
                Ok(ended.is_continue() && found == *rows)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use super::*;
    use crate::engine::{Batch, Durability, Engine as _, Memory, Space};

    type Expects<'e> = &'e dyn Fn(&mut Batch<Memory>);

    #[test]
    fn a_digest_is_of_every_row_in_the_order_that_it_was_read_in() {
        let digest = |direction, rows: &[(&[u8], &[u8])]| {
            let mut digest = RowsDigest::new(direction);
            for (key, value) in rows {
                digest.add(key, value);
            }
            (digest.count(), digest.digest())
        };
        let up = digest(Direction::Ascending, &[(b"a", b"1"), (b"b", b"2")]);
        assert_eq!(up.0, 2);
        assert_ne!(up, digest(Direction::Ascending, &[(b"b", b"2"), (b"a", b"1")]));
        assert_ne!(up, digest(Direction::Ascending, &[(b"a", b"1b"), (b"", b"2")]));
    }

    #[test]
    fn a_batch_is_refused_exactly_if_something_that_it_expects_is_otherwise() {
        let mut engine = Memory::new();
        let space = engine.create_space(&Space::map("s")).expect("made");
        let mut batch = Batch::new();
        for key in 1_u8..=5 {
            batch.put(space, vec![key], vec![key]);
        }
        engine.commit(batch, Durability::Buffer).expect("committed");
        let range = |start: u8, end: u8| OwnedKeyRange {
            start: Bound::Included(vec![start]),
            end: Bound::Included(vec![end]),
        };
        let rows = |direction, keys: &[u8]| {
            let mut rows = RowsDigest::new(direction);
            for key in keys {
                rows.add(&[*key], &[*key]);
            }
            rows
        };
        let commit = |expect: Expects<'_>| {
            let mut batch = Batch::new();
            batch.put(space, vec![9], vec![9]);
            expect(&mut batch);
            engine.commit(batch, Durability::Buffer)
        };
        let fine: [Expects<'_>; 5] = [
            &|batch| batch.expect(space, &[1], Some(&[1])),
            &|batch| batch.expect(space, &[6], None),
            &|batch| batch.expect_rows(space, range(2, 4), rows(Direction::Ascending, &[2, 3, 4])),
            &|batch| batch.expect_rows(space, range(2, 4), rows(Direction::Descending, &[4, 3, 2])),
            &|batch| batch.expect_rows(space, range(4, 2), rows(Direction::Ascending, &[])),
        ];
        for expect in fine {
            commit(expect).expect("as expected");
        }
        let otherwise: [Expects<'_>; 6] = [
            &|batch| batch.expect(space, &[1], Some(&[2])),
            &|batch| batch.expect(space, &[1], None),
            &|batch| batch.expect(space, &[6], Some(&[6])),
            &|batch| batch.expect_rows(space, range(2, 4), rows(Direction::Ascending, &[2, 4])),
            &|batch| batch.expect_rows(space, range(2, 4), rows(Direction::Ascending, &[4, 3, 2])),
            &|batch| batch.expect_rows(space, range(2, 4), rows(Direction::Ascending, &[2, 3, 4, 5])),
        ];
        for expect in otherwise {
            assert!(matches!(commit(expect), Err(Error::Conflict)));
        }
    }
}

//! The rows of a store, in the order of their keys or against it.

use keyplan_store::Direction;
use keyplan_store::engine::OwnedKeyRange;
use keyplan_store::source::{RowRef, SourceError, Walk};
use std::ops::Bound;

use super::node::{Body, Node, Place};
use super::store::{Root, Store, fast_value};

/// A walk over a tree, node by node.
pub(crate) struct TreeWalk {
    store: Store,
    range: OwnedKeyRange,
    direction: Direction,
    /// Nodes to go to, the next one last, each with the height and the version of the one above.
    ahead: Vec<(Place, Option<(i64, u64)>)>,
    row: Option<(Vec<u8>, Vec<u8>)>,
    /// The bytes of the nodes that were read.
    pub(crate) bytes: u64,
}

impl TreeWalk {
    pub(crate) fn new(store: &Store, root: Root, range: OwnedKeyRange, direction: Direction) -> Self {
        let ahead = match root {
            Root::Node(place) if !range.borrow().is_empty() => vec![(place, None)],
            Root::Node(_) | Root::Empty => Vec::new(),
        };
        Self { store: store.clone(), range, direction, ahead, row: None, bytes: 0 }
    }

    /// Puts the children of a node ahead, without those that the range has nothing of.
    fn descend(&mut self, node: &Node, left: Place, right: Place) {
        let above = Some((node.height, node.version));
        // Keys on the left are below the node's, keys on the right are not.
        let skip_left = match &self.range.start {
            Bound::Included(start) | Bound::Excluded(start) => *start >= node.key,
            Bound::Unbounded => false,
        };
        let skip_right = match &self.range.end {
            Bound::Included(end) => *end < node.key,
            Bound::Excluded(end) => *end <= node.key,
            Bound::Unbounded => false,
        };
        let left = (!skip_left).then_some((left, above));
        let right = (!skip_right).then_some((right, above));
        match self.direction {
            Direction::Ascending => self.ahead.extend(right.into_iter().chain(left)),
            Direction::Descending => self.ahead.extend(left.into_iter().chain(right)),
        }
    }

    fn step(&mut self) -> Result<bool, SourceError> {
        while let Some((place, above)) = self.ahead.pop() {
            let node = self.store.node(&place, &mut self.bytes)?;
            if above.is_some_and(|(height, version)| node.height >= height || node.version > version) {
                return Err(self
                    .store
                    .damaged("a node that is not lower, or is younger, than the one above it"));
            }
            match node.body {
                Body::Inner { left, right, .. } => self.descend(&node, left, right),
                Body::Leaf { value } => {
                    self.check_order(&node.key)?;
                    if self.range.borrow().contains(&node.key) {
                        self.row = Some((node.key, value));
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn check_order(&self, key: &[u8]) -> Result<(), SourceError> {
        let in_order = self.row.as_ref().is_none_or(|(before, _)| match self.direction {
            Direction::Ascending => before.as_slice() < key,
            Direction::Descending => before.as_slice() > key,
        });
        if in_order { Ok(()) } else { Err(self.store.damaged("leaves whose keys are not in order")) }
    }
}

impl Walk for TreeWalk {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        match self.step() {
            Ok(true) => Ok(self.row.as_ref().map(|(key, value)| RowRef { key, value })),
            Ok(false) => Ok(None),
            Err(error) => {
                self.ahead.clear();
                Err(error)
            }
        }
    }
}

/// A walk over the fast index.
pub(crate) struct FastWalk {
    store: Store,
    rows: Box<dyn Walk>,
    /// The length of what is before the key.
    prefix: usize,
}

impl FastWalk {
    pub(crate) fn new(
        store: &Store,
        range: &OwnedKeyRange,
        direction: Direction,
    ) -> Result<Self, SourceError> {
        let prefix = [store.prefix(), b"f"].concat();
        let all = OwnedKeyRange::prefix(&prefix);
        let with = |bound: &Bound<Vec<u8>>| bound.as_ref().map(|key| [prefix.as_slice(), key].concat());
        let start = match with(&range.start) {
            Bound::Unbounded => all.start,
            bound => bound,
        };
        let end = match with(&range.end) {
            Bound::Unbounded => all.end,
            bound => bound,
        };
        let rows = store.walk(&OwnedKeyRange { start, end }, direction)?;
        Ok(Self { store: store.clone(), rows, prefix: prefix.len() })
    }
}

impl Walk for FastWalk {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        let Some(row) = self.rows.next()? else { return Ok(None) };
        let key = row.key.get(self.prefix..).unwrap_or_default();
        match fast_value(row.value) {
            Some(value) => Ok(Some(RowRef { key, value })),
            None => Err(self.store.broken_fast(key)),
        }
    }
}

//! The rows of a store, in the order of their keys or against it.

use keyplan_store::Direction;
use keyplan_store::engine::OwnedKeyRange;
use keyplan_store::source::{RowRef, SourceError, Walk};
use std::ops::Bound;

use super::node::{Body, Node, Place};
use super::store::{Root, Store, fast_value, hex};

/// A walk over a tree, node by node.
pub(crate) struct TreeWalk {
    store: Store,
    range: OwnedKeyRange,
    direction: Direction,
    /// Nodes to go to, the next one last, each with the height and the version of the one above.
    ahead: Vec<(Place, Option<Above>)>,
    row: Option<(Vec<u8>, Vec<u8>)>,
    /// The key of the last leaf, be it outside of the range: leaves in order are not a circle, and none is met twice.
    last: Option<Vec<u8>>,
    /// The key that parts the leaf before from the next one.
    parting: Option<Vec<u8>>,
    /// The rows that were met, and how many the root claims, if all are walked over.
    seen: u64,
    claimed: Option<u64>,
    /// The bytes of the nodes that were read.
    pub(crate) bytes: u64,
}

/// What is above a node.
struct Above {
    height: i64,
    version: u64,
    /// The key of the node above, if the walk comes from its other side: leaves below it are on the left.
    parting: Option<Vec<u8>>,
}

impl TreeWalk {
    pub(crate) fn new(store: &Store, root: Root, range: OwnedKeyRange, direction: Direction) -> Self {
        let ahead = match root {
            Root::Node(place) if !range.borrow().is_empty() => vec![(place, None)],
            Root::Node(_) | Root::Empty => Vec::new(),
        };
        let all = range.start == Bound::Unbounded && range.end == Bound::Unbounded;
        Self {
            store: store.clone(),
            range,
            direction,
            ahead,
            row: None,
            last: None,
            parting: None,
            seen: 0,
            // The root says how many there are when it is read.
            claimed: all.then_some(0),
            bytes: 0,
        }
    }

    /// Puts the children of a node ahead, without those that the range has nothing of.
    fn descend(&mut self, node: &Node, left: Place, right: Place) {
        let above = |parting| Some(Above { height: node.height, version: node.version, parting });
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
        let second = (!skip_left && !skip_right).then(|| node.key.clone());
        match self.direction {
            Direction::Ascending => {
                self.ahead.extend((!skip_right).then(|| (right, above(second))));
                self.ahead.extend((!skip_left).then(|| (left, above(None))));
            }
            Direction::Descending => {
                self.ahead.extend((!skip_left).then(|| (left, above(second))));
                self.ahead.extend((!skip_right).then(|| (right, above(None))));
            }
        }
    }

    fn step(&mut self) -> Result<bool, SourceError> {
        while let Some((place, above)) = self.ahead.pop() {
            let node = self.store.node(&place, &mut self.bytes)?;
            match above {
                Some(above) if node.height >= above.height || node.version > above.version => {
                    return Err(self
                        .store
                        .damaged("a node that is not lower, or is younger, than the one above it"));
                }
                Some(above) => self.parting = above.parting.or(self.parting.take()),
                None => self.claimed = self.claimed.map(|_| node.size),
            }
            match node.body {
                Body::Inner { left, right, .. } => self.descend(&node, left, right),
                Body::Leaf { value } => {
                    self.check_order(&node.key)?;
                    self.seen += 1;
                    if self.range.borrow().contains(&node.key) {
                        self.row = Some((node.key, value));
                        return Ok(true);
                    }
                }
            }
        }
        match self.claimed.take() {
            Some(claimed) if claimed != self.seen => {
                Err(self.store.damaged(format!("a tree of {claimed} rows has {}", self.seen)))
            }
            _ => Ok(false),
        }
    }

    fn check_order(&mut self, key: &[u8]) -> Result<(), SourceError> {
        let parted = self.parting.take();
        let before = self.last.as_deref();
        let in_order = match self.direction {
            Direction::Ascending => {
                before.is_none_or(|before| before < key)
                    && parted
                        .is_none_or(|parting| parting.as_slice() <= key && before < Some(parting.as_slice()))
            }
            Direction::Descending => {
                before.is_none_or(|before| before > key)
                    && parted.is_none_or(|parting| {
                        key < parting.as_slice() && before.is_none_or(|before| before >= parting.as_slice())
                    })
            }
        };
        if !in_order {
            return Err(self.store.damaged(format!("the leaf {} is not where its key belongs", hex(key))));
        }
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
        Ok(())
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

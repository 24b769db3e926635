//! Root hashes recomputed from the leaves, and compared with the commits.

use std::collections::HashMap;

use keyplan_store::Direction;
use keyplan_store::engine::OwnedKeyRange;
use keyplan_store::source::{SourceError, Walk as _};
use sha2::{Digest as _, Sha256};

use super::node::{Body, Hash, Node, Place};
use super::store::{Root, Store, hex};
use super::walk::{FastWalk, TreeWalk};

/// What became of a version of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The store.
    pub store: String,
    /// The version.
    pub version: u64,
    /// The root hash, recomputed from the leaves; of an empty tree, that of nothing.
    pub hash: Hash,
    /// The rows of the tree.
    pub rows: u64,
    /// What the commit says; `None` if the store is not in it, or it is gone.
    pub committed: Option<Vec<u8>>,
    /// Nodes of this version that hold, or lie under, another hash than the one recomputed.
    pub wrong_nodes: u64,
    /// Whether the fast index holds the same rows; `None` if it is not one of this version.
    pub fast: Option<bool>,
}

impl Checked {
    /// Whether nothing contradicts the tree.
    pub fn matches(&self) -> bool {
        self.committed.as_ref().is_none_or(|hash| hash.as_slice() == self.hash)
            && self.wrong_nodes == 0
            && self.fast != Some(false)
    }
}

/// Recomputes hashes, version after version, and remembers those of nodes that versions share.
#[derive(Debug, Default)]
pub(crate) struct Hasher {
    known: HashMap<Place, (Hash, u64)>,
    /// The key of the last leaf of the tree: leaves in order are not a circle, and none is met twice.
    last: Option<Vec<u8>>,
    /// Nodes whose own hash is another one.
    pub(crate) wrong: u64,
}

/// The most nodes whose hashes are remembered.
const REMEMBERED: usize = 500_000;

/// A node of which the left side, or nothing, is done.
struct Open {
    place: Place,
    node: Node,
    left: Option<(Hash, u64)>,
}

impl Hasher {
    /// The hash and the number of rows of a tree.
    pub(crate) fn tree(&mut self, store: &Store, root: Root) -> Result<(Hash, u64), SourceError> {
        let Root::Node(root) = root else { return Ok((Sha256::digest([]).into(), 0)) };
        let mut open: Vec<Open> = Vec::new();
        let mut place = root;
        self.last = None;
        loop {
            let mut done = match self.known.get(&place) {
                Some(&known) => known,
                None => match self.enter(store, place, open.last().map(|open| &open.node))? {
                    Entered::Leaf(done) => done,
                    Entered::Inner(node, left) => {
                        open.push(Open { place, node, left: None });
                        place = left;
                        continue;
                    }
                },
            };
            // What is done is a left side, whose right one comes next, or a right one, with which the node above is done.
            loop {
                let Some(mut above) = open.pop() else { return Ok(done) };
                let Some(left) = above.left else {
                    let Body::Inner { right, .. } = above.node.body else {
                        return Err(store.damaged("a leaf with children"));
                    };
                    above.left = Some(done);
                    open.push(above);
                    place = right;
                    break;
                };
                done = self.leave(store, &above, left, done)?;
            }
        }
    }

    fn enter(&mut self, store: &Store, place: Place, above: Option<&Node>) -> Result<Entered, SourceError> {
        let node = store.node(&place, &mut 0)?;
        store.check_child(above, &node)?;
        match &node.body {
            Body::Leaf { value } => {
                if self.last.as_ref().is_some_and(|last| *last >= node.key) {
                    return Err(
                        store.damaged(format!("the leaf {} is not where its key belongs", hex(&node.key)))
                    );
                }
                self.last = Some(node.key.clone());
                let hash = node.leaf_hash(value);
                self.compare(&place, None, &hash);
                Ok(Entered::Leaf((hash, 1)))
            }
            Body::Inner { left, .. } => {
                let left = *left;
                Ok(Entered::Inner(node, left))
            }
        }
    }

    fn leave(
        &mut self,
        store: &Store,
        open: &Open,
        left: (Hash, u64),
        right: (Hash, u64),
    ) -> Result<(Hash, u64), SourceError> {
        let hash = open.node.inner_hash(&left.0, &right.0);
        let rows = left.1.saturating_add(right.1);
        if rows != open.node.size {
            return Err(store.damaged(format!("a node of {} rows has {rows} below it", open.node.size)));
        }
        let own = match &open.node.body {
            Body::Inner { hash, .. } => hash.as_ref(),
            Body::Leaf { .. } => None,
        };
        self.compare(&open.place, own, &hash);
        if self.known.len() < REMEMBERED {
            self.known.insert(open.place, (hash, rows));
        }
        Ok((hash, rows))
    }

    /// A legacy node lies under its hash, and a new one that has children holds it.
    fn compare(&mut self, place: &Place, own: Option<&Hash>, hash: &Hash) {
        let wrong = match place {
            Place::Legacy(own) => own != hash,
            Place::New { .. } => own.is_some_and(|own| own != hash),
        };
        self.wrong += u64::from(wrong);
    }
}

enum Entered {
    Leaf((Hash, u64)),
    Inner(Node, Place),
}

/// Whether the fast index and the tree hold the same rows.
pub(crate) fn fast_agrees(store: &Store, root: Root) -> Result<bool, SourceError> {
    let all = || OwnedKeyRange { start: std::ops::Bound::Unbounded, end: std::ops::Bound::Unbounded };
    let mut tree = TreeWalk::new(store, root, all(), Direction::Ascending);
    let mut fast = FastWalk::new(store, &all(), Direction::Ascending)?;
    loop {
        match (tree.next()?, fast.next()?) {
            (None, None) => return Ok(true),
            (a, b) if a != b => return Ok(false),
            _ => {}
        }
    }
}

//! One store of a multistore: its roots, its nodes and its fast index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, OwnedKeyRange, SpaceId};
use keyplan_store::source::{SourceError, View, Walk};

use super::node::{Body, Hash, Node, Place};
use crate::lsm::Bytes;

/// The rows of a store under its prefix.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) name: String,
    prefix: Vec<u8>,
    view: Arc<dyn View>,
    rows: SpaceId,
    path: PathBuf,
}

/// The root of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A tree without a key.
    Empty,
    /// The node at the top.
    Node(Place),
}

/// What every store's rows begin with.
pub(crate) const STORES: &[u8] = b"s/k:";

impl Store {
    pub(crate) fn new(name: &str, view: &Arc<dyn View>, rows: SpaceId, path: &Path) -> Self {
        let prefix = [STORES, name.as_bytes(), b"/"].concat();
        Self { name: name.to_owned(), prefix, view: Arc::clone(view), rows, path: path.to_owned() }
    }

    fn key(&self, rest: &[u8]) -> Vec<u8> {
        [&self.prefix, rest].concat()
    }

    fn get(&self, rest: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        self.view.get(self.rows, &self.key(rest))
    }

    /// A walk over rows of the store; their keys have the store's prefix.
    pub(crate) fn walk(
        &self,
        range: &OwnedKeyRange,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        self.view.walk(self.rows, range.borrow(), direction)
    }

    /// The bytes before the keys of the store.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// An error about the store.
    pub(crate) fn damaged(&self, what: impl std::fmt::Display) -> SourceError {
        SourceError::damaged(&self.path, 0, format!("store `{}`: {what}", self.name))
    }

    /// The root of a version; `None` if the version is not kept.
    pub(crate) fn root(&self, version: u64) -> Result<Option<Root>, SourceError> {
        for nonce in [1, 0] {
            let place = Place::New { version, nonce };
            if let Some(row) = self.get(&place.key())? {
                return self.referred(place, &row).map(Some);
            }
        }
        let key = [&b"r"[..], &version.to_be_bytes()].concat();
        let Some(hash) = self.get(&key)? else { return Ok(None) };
        if hash.is_empty() {
            return Ok(Some(Root::Empty));
        }
        let hash: Hash = hash
            .try_into()
            .map_err(|_| self.damaged(format!("the root of version {version} is not a hash")))?;
        Ok(Some(Root::Node(Place::Legacy(hash))))
    }

    /// The root that a row under a root's key means: the node itself, an older root, or an empty tree.
    fn referred(&self, place: Place, row: &[u8]) -> Result<Root, SourceError> {
        let Some(&first) = row.first() else { return Ok(Root::Empty) };
        if first != b's' {
            return Ok(Root::Node(place));
        }
        let broken = || self.damaged("a root that refers to nothing");
        let mut bytes = row.iter().skip(1).copied();
        let mut take =
            |count: usize| bytes.by_ref().take(count).fold(0_u64, |sum, byte| sum << 8 | u64::from(byte));
        let version = take(8);
        let nonce = match row.len() {
            9 => 1,
            13 => u32::try_from(take(4)).map_err(|_| broken())?,
            _ => return Err(broken()),
        };
        // Pruning moves the root that others refer to from nonce 1 to 0.
        for nonce in [nonce, 0] {
            let place = Place::New { version, nonce };
            match self.get(&place.key())? {
                Some(row) if row.first() == Some(&b's') => return Err(broken()),
                Some(row) if row.is_empty() => return Ok(Root::Empty),
                Some(_) => return Ok(Root::Node(place)),
                None => {}
            }
        }
        Err(broken())
    }

    /// A node. The bytes of its row are counted into `bytes`.
    pub(crate) fn node(&self, place: &Place, bytes: &mut u64) -> Result<Node, SourceError> {
        let mut row = self.get(&place.key())?;
        let mut found = *place;
        if let (None, Place::New { version, nonce: 1 }) = (&row, place) {
            found = Place::New { version: *version, nonce: 0 };
            row = self.get(&found.key())?;
        }
        let row = row.ok_or_else(|| self.damaged(format!("the node {} is missing", shown(place))))?;
        *bytes += u64::try_from(row.len() + self.prefix.len() + place.key().len()).unwrap_or(0);
        Node::read(&found, &row).map_err(|what| self.damaged(format!("the node {}: {what}", shown(place))))
    }

    /// The versions that are kept, ascending.
    pub(crate) fn versions(&self) -> Result<Vec<u64>, SourceError> {
        let mut out = Vec::new();
        let legacy = OwnedKeyRange::prefix(&self.key(b"r"));
        let mut walk = self.walk(&legacy, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            out.extend(row.key.get(self.prefix.len() + 1..).and_then(version_of));
        }
        let mut next = 0_u64;
        // Of a version only the first row is looked at: its root, if it is kept.
        loop {
            let start = self.key(&Place::New { version: next, nonce: 0 }.key());
            let end = self.key(b"t");
            let mut walk =
                self.view.walk(self.rows, KeyRange::half_open(&start, &end), Direction::Ascending)?;
            let Some(row) = walk.next()? else { break };
            let Some(version) = row.key.get(self.prefix.len() + 1..).and_then(version_of) else {
                return Err(self.damaged("a node with a short key"));
            };
            if self.get(&Place::New { version, nonce: 1 }.key())?.is_some() {
                out.push(version);
            }
            match version.checked_add(1) {
                Some(after) => next = after,
                None => break,
            }
        }
        out.sort_unstable();
        out.dedup();
        Ok(out)
    }

    /// The version that the fast index is complete for.
    pub(crate) fn fast_version(&self) -> Result<Option<u64>, SourceError> {
        let text = self.get(b"mstorage_version")?;
        let text = text.as_deref().and_then(|text| std::str::from_utf8(text).ok());
        Ok(text.and_then(|text| text.split_once('-')).and_then(|(_, version)| version.parse().ok()))
    }

    /// The value of a key in the fast index.
    pub(crate) fn fast(&self, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        let row = self.get(&[b"f", key].concat())?;
        row.map(|row| fast_value(&row).map(<[u8]>::to_vec).ok_or_else(|| self.broken_fast(key))).transpose()
    }

    pub(crate) fn broken_fast(&self, key: &[u8]) -> SourceError {
        self.damaged(format!("the fast node of {} is broken", hex(key)))
    }

    /// The leaf of a key in the tree below `root`.
    pub(crate) fn leaf(&self, root: Root, key: &[u8]) -> Result<Option<Node>, SourceError> {
        let Root::Node(mut place) = root else { return Ok(None) };
        let mut above: Option<Node> = None;
        loop {
            let node = self.node(&place, &mut 0)?;
            self.check_child(above.as_ref(), &node)?;
            match &node.body {
                Body::Leaf { .. } => return Ok((node.key == key).then_some(node)),
                Body::Inner { left, right, .. } => {
                    place = if key < node.key.as_slice() { *left } else { *right }
                }
            }
            above = Some(node);
        }
    }

    /// A child is lower and not younger than its parent: so no path has a circle in it.
    pub(crate) fn check_child(&self, above: Option<&Node>, node: &Node) -> Result<(), SourceError> {
        match above {
            Some(above) if node.height >= above.height => {
                Err(self.damaged("a node that is not lower than the one above it"))
            }
            Some(above) if node.version > above.version => {
                Err(self.damaged("a node that is younger than the one above it"))
            }
            _ => Ok(()),
        }
    }
}

/// The value in a row of the fast index, after the version that wrote it.
pub(crate) fn fast_value(row: &[u8]) -> Option<&[u8]> {
    let mut bytes = Bytes::new(row);
    bytes.signed()?;
    let value = bytes.prefixed()?;
    bytes.is_empty().then_some(value)
}

fn version_of(key: &[u8]) -> Option<u64> {
    key.first_chunk().map(|version| u64::from_be_bytes(*version))
}

fn shown(place: &Place) -> String {
    hex(&place.key())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

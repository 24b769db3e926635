//! The commits of a multistore: which stores there were at a version, and the root hash of each.
//!
//! `s/latest` holds the last version, `s/⟨version⟩` the commit, both as protobuf messages; before version 0.40 of Cosmos' SDK
//! they had their length before them, and the commit of a store lay one message deeper.

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};
use keyplan_store::source::{SourceError, View};
use sha2::{Digest as _, Sha256};

use crate::lsm::Bytes;

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The version.
    pub version: u64,
    /// The stores, in the order of the commit.
    pub stores: Vec<StoreCommit>,
}

/// A store in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCommit {
    /// The name.
    pub name: String,
    /// The version of its own tree.
    pub version: u64,
    /// The root hash; empty for a store that keeps nothing.
    pub hash: Vec<u8>,
}

impl StoreCommit {
    /// Whether the store keeps a tree: one in memory is in the commit too.
    pub fn has_tree(&self) -> bool {
        !self.hash.is_empty()
    }
}

/// Which key holds the last version.
pub(crate) const LATEST: &[u8] = b"s/latest";

/// The most stores of a commit.
const MAX_STORES: usize = 100_000;

impl Commit {
    /// The last version.
    pub(crate) fn latest(view: &dyn View, rows: SpaceId) -> Result<Option<u64>, SourceError> {
        let Some(value) = view.get(rows, LATEST)? else { return Ok(None) };
        let plain = latest_of(&value);
        let candidates = [plain, latest_of_amino(&value), latest_of_amino(&value).map(|twice| twice / 2)];
        for version in candidates.into_iter().flatten() {
            if Some(version) == plain || view.get(rows, &key(version))?.is_some() {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    /// The commit of a version; `None` if there is none.
    pub(crate) fn read(
        view: &dyn View,
        rows: SpaceId,
        version: u64,
    ) -> Result<Option<Result<Self, String>>, SourceError> {
        let Some(value) = view.get(rows, &key(version))? else { return Ok(None) };
        let broken = || format!("the commit of version {version} (`s/{version}`) is broken");
        Ok(Some(Self::parse(version, &value).ok_or_else(broken)))
    }

    /// Reads the message, with or without its length before it.
    pub(crate) fn parse(version: u64, value: &[u8]) -> Option<Self> {
        message(version, value).or_else(|| {
            let mut bytes = Bytes::new(value);
            let inner = bytes.prefixed()?;
            if bytes.is_empty() { message(version, inner) } else { None }
        })
    }

    /// The versions that have a commit.
    pub(crate) fn versions(view: &dyn View, rows: SpaceId) -> Result<Vec<u64>, SourceError> {
        let mut walk = view.walk(rows, KeyRange::half_open(b"s/0", b"s/:"), Direction::Ascending)?;
        let mut out = Vec::new();
        while let Some(row) = walk.next()? {
            let digits = row.key.get(2..).and_then(|digits| std::str::from_utf8(digits).ok());
            out.extend(digits.and_then(|digits| digits.parse::<u64>().ok()));
        }
        out.sort_unstable();
        Ok(out)
    }

    /// The hash over all stores: what a block's header has as the application's.
    pub fn app_hash(&self) -> [u8; 32] {
        let mut stores: Vec<_> = self.stores.iter().collect();
        stores.sort_by(|a, b| a.name.cmp(&b.name));
        let leaf = |store: &StoreCommit| {
            let mut bytes = vec![0];
            put(store.name.as_bytes(), &mut bytes);
            put(&Sha256::digest(&store.hash), &mut bytes);
            Sha256::digest(&bytes).into()
        };
        let leaves: Vec<[u8; 32]> = stores.into_iter().map(leaf).collect();
        merkle(&leaves)
    }
}

fn put(bytes: &[u8], out: &mut Vec<u8>) {
    let mut length = bytes.len();
    while length > 0x7f {
        out.push(u8::try_from(length & 0x7f).unwrap_or(0) | 0x80);
        length >>= 7;
    }
    out.push(u8::try_from(length).unwrap_or(0));
    out.extend_from_slice(bytes);
}

/// The root over leaves: the left part is the largest power of two that leaves something for the right.
fn merkle(leaves: &[[u8; 32]]) -> [u8; 32] {
    match leaves {
        [] => Sha256::digest([]).into(),
        [leaf] => *leaf,
        _ => {
            let split = leaves.len().next_power_of_two() / 2;
            let (left, right) = leaves.split_at_checked(split).unwrap_or((leaves, &[]));
            Sha256::digest([&[1][..], &merkle(left), &merkle(right)].concat()).into()
        }
    }
}

fn key(version: u64) -> Vec<u8> {
    format!("s/{version}").into_bytes()
}

fn latest_of(value: &[u8]) -> Option<u64> {
    let mut bytes = Bytes::new(value);
    if bytes.is_empty() {
        return Some(0);
    }
    let version = (bytes.varint()? == 1 << 3).then(|| bytes.varint())??;
    bytes.is_empty().then_some(version)
}

fn latest_of_amino(value: &[u8]) -> Option<u64> {
    let mut bytes = Bytes::new(value);
    let mut inner = Bytes::new(bytes.prefixed()?);
    let version = inner.varint()?;
    (bytes.is_empty() && inner.is_empty()).then_some(version)
}

/// One field of a message.
enum Field<'b> {
    Number(u64, u64),
    Bytes(u64, &'b [u8]),
}

fn field<'b>(bytes: &mut Bytes<'b>) -> Option<Field<'b>> {
    let tag = bytes.varint()?;
    let number = tag >> 3;
    match tag & 7 {
        0 => Some(Field::Number(number, bytes.varint()?)),
        1 => Some(Field::Bytes(number, bytes.take(8)?)),
        2 => Some(Field::Bytes(number, bytes.prefixed()?)),
        5 => Some(Field::Bytes(number, bytes.take(4)?)),
        _ => None,
    }
}

fn message(expected: u64, value: &[u8]) -> Option<Commit> {
    let mut bytes = Bytes::new(value);
    let mut commit = Commit { version: 0, stores: Vec::new() };
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            Field::Number(1, version) => commit.version = version,
            Field::Bytes(2, store) => commit.stores.push(store_commit(store)?),
            Field::Number(..) | Field::Bytes(..) => {}
        }
        if commit.stores.len() > MAX_STORES {
            return None;
        }
    }
    // The oldest commits hold signed numbers, which are twice as large.
    if commit.version == expected.wrapping_mul(2) && expected != 0 {
        commit.version = expected;
        commit.stores.iter_mut().for_each(|store| store.version /= 2);
    }
    (commit.version == expected).then_some(commit)
}

fn store_commit(value: &[u8]) -> Option<StoreCommit> {
    let mut bytes = Bytes::new(value);
    let mut store = StoreCommit { name: String::new(), version: 0, hash: Vec::new() };
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            Field::Bytes(1, name) => store.name = String::from_utf8(name.to_vec()).ok()?,
            Field::Bytes(2, id) => (store.version, store.hash) = commit_id(id, 0)?,
            Field::Number(..) | Field::Bytes(..) => {}
        }
    }
    (!store.name.is_empty()).then_some(store)
}

fn commit_id(value: &[u8], depth: u8) -> Option<(u64, Vec<u8>)> {
    let mut bytes = Bytes::new(value);
    let (mut version, mut hash) = (0, Vec::new());
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            Field::Number(1, number) => version = number,
            Field::Bytes(1, deeper) if depth == 0 => return commit_id(deeper, 1),
            Field::Bytes(2, bytes) => hash = bytes.to_vec(),
            Field::Number(..) | Field::Bytes(..) => {}
        }
    }
    Some((version, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_names_stores_and_their_hashes() {
        let bytes = [8, 3, 0x12, 11, 0x0a, 2, b'a', b'b', 0x12, 5, 8, 3, 0x12, 1, 7, 0x1a, 0];
        let store = StoreCommit { name: "ab".to_owned(), version: 3, hash: vec![7] };
        let commit = Commit { version: 3, stores: vec![store] };
        assert_eq!(Commit::parse(3, &bytes), Some(commit.clone()));
        assert_eq!(Commit::parse(4, &bytes), None);
        let older = [&[u8::try_from(bytes.len()).expect("short")][..], &bytes].concat();
        assert_eq!(Commit::parse(3, &older), Some(commit));
    }
}

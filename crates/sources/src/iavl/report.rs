//! What a multistore holds: versions, stores, bytes that nothing needs any more, and whether its hashes are right.

use std::collections::BTreeSet;
use std::ops::Bound;

use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, OwnedKeyRange};
use keyplan_store::source::{SourceError, Walk as _};

use super::Iavl;
use super::commit::Commit;
use super::store::{Root, STORES, Store};
use super::verify::{Checked, Hasher, fast_agrees};
use super::walk::TreeWalk;

/// A multistore as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The last version that was committed.
    pub latest: u64,
    /// The version that is read.
    pub version: u64,
    /// The hash over all stores of that version.
    pub app_hash: [u8; 32],
    /// The stores, those of the commit first.
    pub stores: Vec<StoreReport>,
    /// Versions whose root hashes were recomputed; empty if that was not asked for.
    pub checked: Vec<Checked>,
}

/// A store of a multistore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreReport {
    /// The name.
    pub name: String,
    /// Whether the last commit has it.
    pub committed: bool,
    /// The versions that are kept.
    pub versions: Vec<u64>,
    /// The version that the fast index is complete for.
    pub fast: Option<u64>,
    /// The bytes of keys and values under the store's prefix.
    pub bytes: u64,
    /// Of these, the bytes that the version which is read does not need: other versions, their orphans, removed stores.
    pub dead: u64,
}

impl Report {
    /// Whether every root hash that was recomputed is that of its commit.
    pub fn matches(&self) -> bool {
        self.checked.iter().all(Checked::matches)
    }
}

impl Iavl {
    /// Counts what is there, store by store.
    pub fn report(&self) -> Result<Report, SourceError> {
        let mut stores = Vec::new();
        let committed: Vec<&str> = self.stores.iter().map(|opened| opened.store.name.as_str()).collect();
        let known: BTreeSet<&str> = committed.iter().copied().collect();
        let present = self.store_names()?;
        let rest = present.iter().map(String::as_str).filter(|name| !known.contains(name));
        for name in committed.iter().copied().chain(rest) {
            stores.push(self.store_report(name, known.contains(name))?);
        }
        let app_hash = self.commit.app_hash();
        Ok(Report {
            latest: self.latest,
            version: self.commit.version,
            app_hash,
            stores,
            checked: Vec::new(),
        })
    }

    /// Recomputes every root hash of the versions that are kept, or of one of them, and compares it with the commit.
    pub fn verify(&self, only: Option<u64>) -> Result<Vec<Checked>, SourceError> {
        let mut out = Vec::new();
        for name in self.store_names()? {
            let store = self.store(&name);
            let mut hasher = Hasher::default();
            let fast = store.fast_version()?;
            for version in store.versions()? {
                if version > self.latest || only.is_some_and(|only| only != version) {
                    continue;
                }
                let Some(root) = store.root(version)? else { continue };
                hasher.wrong = 0;
                let (hash, rows) = hasher.tree(&store, root)?;
                let wrong_nodes = hasher.wrong;
                let committed = self.committed_hash(&name, version)?;
                let fast = if fast == Some(version) { Some(fast_agrees(&store, root)?) } else { None };
                out.push(Checked { store: name.clone(), version, hash, rows, committed, wrong_nodes, fast });
            }
        }
        out.sort_by(|a, b| a.version.cmp(&b.version).then_with(|| a.store.cmp(&b.store)));
        Ok(out)
    }

    fn committed_hash(&self, store: &str, version: u64) -> Result<Option<Vec<u8>>, SourceError> {
        let commit = match Commit::read(&*self.view, self.rows, version)? {
            None => return Ok(None),
            Some(commit) => commit.map_err(|what| SourceError::damaged(&self.path, 0, what))?,
        };
        let entry = commit.stores.into_iter().find(|entry| entry.name == store && entry.version == version);
        Ok(entry.map(|entry| entry.hash))
    }

    /// The versions that have a commit.
    pub fn commits(&self) -> Result<Vec<u64>, SourceError> {
        Commit::versions(&*self.view, self.rows)
    }

    /// The names of all stores that have rows: one seek for each.
    fn store_names(&self) -> Result<Vec<String>, SourceError> {
        let mut names = Vec::new();
        let end = [&b"s/k"[..], b";"].concat();
        let mut start = STORES.to_vec();
        loop {
            let mut walk =
                self.view.walk(self.rows, KeyRange::half_open(&start, &end), Direction::Ascending)?;
            let Some(row) = walk.next()? else { return Ok(names) };
            let rest = row.key.get(STORES.len()..).unwrap_or_default();
            let name = rest.split(|&byte| byte == b'/').next().unwrap_or_default();
            start = [STORES, name, b"0"].concat();
            names.extend(std::str::from_utf8(name).map(str::to_owned).ok().filter(|name| !name.is_empty()));
        }
    }

    fn store_report(&self, name: &str, committed: bool) -> Result<StoreReport, SourceError> {
        let store = self.store(name);
        let mut bytes = 0_u64;
        let mut fast_bytes = 0_u64;
        let prefix = store.prefix().len();
        let mut walk = store.walk(&OwnedKeyRange::prefix(store.prefix()), Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            let size = u64::try_from(row.key.len() + row.value.len()).unwrap_or(0);
            bytes += size;
            if matches!(row.key.get(prefix), Some(b'f' | b'm')) {
                fast_bytes += size;
            }
        }
        let fast = store.fast_version()?;
        let mut live = 0;
        if let Some(opened) = self.stores.iter().find(|opened| opened.store.name == name) {
            live = live_bytes(opened.root, &store)?;
            if opened.fast {
                live += fast_bytes;
            }
        }
        let dead = bytes.saturating_sub(live);
        Ok(StoreReport { name: name.to_owned(), committed, versions: store.versions()?, fast, bytes, dead })
    }
}

/// The bytes of the nodes of a tree.
fn live_bytes(root: Root, store: &Store) -> Result<u64, SourceError> {
    let all = OwnedKeyRange { start: Bound::Unbounded, end: Bound::Unbounded };
    let mut walk = TreeWalk::new(store, root, all, Direction::Ascending);
    while walk.next()?.is_some() {}
    Ok(walk.bytes)
}

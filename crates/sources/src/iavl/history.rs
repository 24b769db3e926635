//! One key across the versions that are kept.

use keyplan_store::source::SourceError;

use super::Iavl;
use super::node::Body;
use super::store::Store;

/// From which version on a key had a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The version that wrote it. Of what was there before the first kept version, the one that wrote it all the same.
    pub version: u64,
    /// The first kept version that has it so.
    pub seen: u64,
    /// The value; `None` if the key was not there.
    pub value: Option<Vec<u8>>,
}

impl Iavl {
    /// What became of a key of a store over the versions that are kept, the oldest first.
    pub fn history(&self, store: &str, key: &[u8]) -> Result<Vec<Change>, SourceError> {
        let store = self.store(store);
        let kept: Vec<u64> =
            store.versions()?.into_iter().filter(|&version| version <= self.latest).collect();
        let mut out: Vec<Change> = Vec::new();
        let mut at = kept.len();
        while let Some(&version) = at.checked_sub(1).and_then(|at| kept.get(at)) {
            let (since, value) = value_at(&store, version, key)?;
            // A leaf says which version wrote it: all kept ones from there on have the same.
            let first = kept.partition_point(|&kept| kept < since.unwrap_or(version));
            let seen = kept.get(first).copied().unwrap_or(version);
            match out.last_mut() {
                Some(later) if later.value.is_none() && value.is_none() => {
                    (later.version, later.seen) = (seen, seen);
                }
                _ => out.push(Change { version: since.unwrap_or(seen), seen, value }),
            }
            at = first.min(at - 1);
        }
        out.reverse();
        Ok(out)
    }
}

fn value_at(store: &Store, version: u64, key: &[u8]) -> Result<(Option<u64>, Option<Vec<u8>>), SourceError> {
    let Some(root) = store.root(version)? else { return Ok((None, None)) };
    Ok(match store.leaf(root, key)? {
        None => (None, None),
        Some(leaf) => match leaf.body {
            Body::Leaf { value } => (Some(leaf.version), Some(value)),
            Body::Inner { .. } => (None, None),
        },
    })
}

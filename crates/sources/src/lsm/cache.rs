//! Blocks and indexes that were read lately, within a fixed number of bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::block::Block;
use super::index::Index;

/// The bytes that are kept.
const ROOM: usize = 48 * 1024 * 1024;

/// What is kept.
#[derive(Clone, Debug)]
pub(crate) enum Cached {
    /// A block of entries.
    Block(Arc<Block>),
    /// An index, or a part of it.
    Index(Arc<Index>),
}

/// The table's number, and the place in it.
type Name = (u64, u64);

/// A cache that forgets what was not asked for since it was last looked at.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// What was asked for since the last turn, and what was asked for in the turn before.
    young: BTreeMap<Name, (Cached, usize)>,
    old: BTreeMap<Name, (Cached, usize)>,
    weight: usize,
}

impl Cache {
    pub(crate) fn get(&self, name: Name) -> Option<Cached> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, _)) = kept.young.get(&name) {
            return Some(found.clone());
        }
        let (found, weight) = kept.old.remove(&name)?;
        kept.put(name, found.clone(), weight);
        Some(found)
    }

    pub(crate) fn put(&self, name: Name, what: Cached, weight: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(name, what, weight);
    }
}

impl Kept {
    fn put(&mut self, name: Name, what: Cached, weight: usize) {
        if self.weight + weight > ROOM / 2 {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        self.young.insert(name, (what, weight));
    }
}

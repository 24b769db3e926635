use std::collections::HashMap;

use super::head::Head;

/// The heads of the keys that were changed lately, as they are in the store; `None` for a key without one.
///
/// A change is made in place and noted. If it is not committed, what was noted is forgotten, and read again.
#[derive(Debug, Default)]
pub(super) struct Heads {
    known: HashMap<Vec<u8>, Held>,
    changed: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) head: Option<Head>,
    /// Members removed since the front of the set was last looked for.
    pub(super) removals: u32,
    changed: bool,
}

/// How many heads are kept.
const MOST: usize = 64 * 1024;

impl Heads {
    /// What is known of a key; `None` if it must be read.
    pub(super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut Held> {
        self.known.get_mut(key)
    }

    /// Keeps what was read.
    pub(super) fn insert(&mut self, key: &[u8], head: Option<Head>) {
        if self.known.len() >= MOST && self.changed.is_empty() {
            self.known.clear();
        }
        self.known.insert(key.to_vec(), Held { head, removals: 0, changed: false });
    }

    /// Notes that a head was changed.
    pub(super) fn note(&mut self, key: &[u8]) {
        if let Some(held) = self.known.get_mut(key).filter(|held| !held.changed) {
            held.changed = true;
            self.changed.push(key.to_vec());
        }
    }

    /// The keys whose heads were changed.
    pub(super) fn changed(&self) -> &[Vec<u8>] {
        &self.changed
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&Head> {
        self.known.get(key)?.head.as_ref()
    }

    /// The changes are in the store.
    pub(super) fn keep(&mut self) {
        for key in self.changed.drain(..) {
            if let Some(held) = self.known.get_mut(&key) {
                held.changed = false;
            }
        }
    }

    /// The changes are not in the store, or may not be.
    pub(super) fn forget(&mut self) {
        for key in self.changed.drain(..) {
            self.known.remove(&key);
        }
    }
}

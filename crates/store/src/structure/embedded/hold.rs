use std::collections::HashMap;

use super::head::Head;

/// The heads of the keys that were changed lately, as they are in the store; `None` for a key without one.
///
/// A change is made in place and noted. If it is not committed, what was noted is forgotten, and read again.
#[derive(Debug, Default)]
pub(super) struct Heads {
    // The key that was asked for last, which a command asks for again and again. It is not among the others.
    current: Option<(Vec<u8>, Held)>,
    others: HashMap<Vec<u8>, Held>,
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
    #[inline]
    pub(super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut Held> {
        if self.current.as_ref().is_none_or(|(current, _)| current != key) {
            let found = self.others.remove_entry(key)?;
            self.make_current(found);
        }
        self.current.as_mut().map(|(_, held)| held)
    }

    /// Keeps what was read.
    pub(super) fn insert(&mut self, key: &[u8], head: Option<Head>) {
        if self.others.len() >= MOST && self.changed.is_empty() {
            self.others.clear();
        }
        self.make_current((key.to_vec(), Held { head, removals: 0, changed: false }));
    }

    fn make_current(&mut self, found: (Vec<u8>, Held)) {
        if let Some((key, held)) = self.current.replace(found) {
            self.others.insert(key, held);
        }
    }

    /// Notes that a head was changed.
    pub(super) fn note(&mut self, key: &[u8]) {
        if let Some(held) = self.get_mut(key).filter(|held| !held.changed) {
            held.changed = true;
            self.changed.push(key.to_vec());
        }
    }

    /// The keys whose heads were changed.
    pub(super) fn changed(&self) -> &[Vec<u8>] {
        &self.changed
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&Head> {
        let held = match &self.current {
            Some((current, held)) if current == key => Some(held),
            _ => self.others.get(key),
        };
        held?.head.as_ref()
    }

    /// The changes are in the store.
    pub(super) fn keep(&mut self) {
        for key in std::mem::take(&mut self.changed) {
            if let Some(held) = self.get_mut(&key) {
                held.changed = false;
            }
        }
    }

    /// The changes are not in the store, or may not be.
    pub(super) fn forget(&mut self) {
        for key in std::mem::take(&mut self.changed) {
            if self.get_mut(&key).is_some() {
                self.current = None;
            }
        }
    }
}

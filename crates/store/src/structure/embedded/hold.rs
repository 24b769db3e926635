use std::collections::{HashMap, VecDeque};

use super::head::Head;

/// The heads of the keys that were changed lately, as they are in the store; `None` for a key without one.
///
/// A change is made in place and noted. If it is not committed, what was noted is forgotten, and read again.
#[derive(Debug, Default)]
pub(super) struct Heads {
    slots: Vec<Slot>,
    places: HashMap<Vec<u8>, usize>,
    // The slot of the key that was asked for last, which a command asks for again and again.
    current: usize,
    changed: Vec<usize>,
}

#[derive(Debug)]
struct Slot {
    key: Vec<u8>,
    // None if it must be read.
    held: Option<Held>,
}

#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) head: Option<Head>,
    /// Members removed since the front of the set was last looked for.
    pub(super) removals: u32,
    /// The first places of the order, without a hole: what is before the last of them is all here.
    front: VecDeque<Vec<u8>>,
    /// How many places were read at once, the last time.
    ahead: usize,
    changed: bool,
}

/// How many places are read at once, at most, beyond those asked for.
const AHEAD: usize = 64;

/// How many heads are kept, and for how many of them the first places.
const MOST: usize = 64 * 1024;
const FRONTS: usize = 1024;

impl Held {
    fn new(head: Option<Head>) -> Self {
        Self { head, ..Self::default() }
    }

    /// The first places, if that many are known.
    pub(super) fn front(&self, count: usize) -> Option<impl Iterator<Item = &Vec<u8>>> {
        (self.front.len() >= count).then(|| self.front.iter().take(count))
    }

    /// How many places to read when that many are needed: more each time, so that taking one at a time costs a read
    /// now and then, and a look at the first costs one row.
    pub(super) fn read_ahead(&mut self, count: usize) -> usize {
        self.ahead = self.ahead.saturating_mul(2).clamp(1, AHEAD);
        count.max(self.ahead)
    }

    /// Keeps the first places, as they were read.
    pub(super) fn set_front(&mut self, places: impl Iterator<Item = Vec<u8>>) {
        self.front = places.take(AHEAD).collect();
    }

    /// Notes that something is at a place now.
    pub(super) fn added(&mut self, place: &[u8]) {
        if self.front.back().is_none_or(|last| **last <= *place) {
            return;
        }
        if let Err(at) = self.front.binary_search_by(|known| (**known).cmp(place)) {
            self.front.insert(at, place.to_vec());
            self.front.truncate(2 * AHEAD);
        }
    }

    /// Notes that nothing is at a place any more.
    pub(super) fn gone(&mut self, place: &[u8]) {
        if self.front.front().is_some_and(|first| **first == *place) {
            self.front.pop_front();
        } else if let Ok(at) = self.front.binary_search_by(|known| (**known).cmp(place)) {
            self.front.remove(at);
        }
    }

    /// Forgets the first places.
    pub(super) fn forget_front(&mut self) {
        self.front = VecDeque::new();
        self.ahead = 0;
    }
}

impl Heads {
    /// What is known of a key; `None` if it must be read.
    #[inline]
    pub(super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut Held> {
        if self.slots.get(self.current).is_none_or(|slot| *slot.key != *key) {
            let found = *self.places.get(key)?;
            self.make_current(found);
        }
        self.slots.get_mut(self.current)?.held.as_mut()
    }

    /// Keeps what was read.
    pub(super) fn insert(&mut self, key: &[u8], head: Option<Head>) {
        if self.slots.len() >= MOST && self.changed.is_empty() {
            self.slots.clear();
            self.places.clear();
        }
        let new = self.slots.len();
        let at = *self.places.entry(key.to_vec()).or_insert(new);
        if at == new {
            self.slots.push(Slot { key: key.to_vec(), held: None });
        }
        self.make_current(at);
        if let Some(slot) = self.slots.get_mut(at) {
            slot.held = Some(Held::new(head));
        }
    }

    fn make_current(&mut self, at: usize) {
        let before = std::mem::replace(&mut self.current, at);
        if self.slots.len() > FRONTS
            && let Some(Slot { held: Some(held), .. }) = self.slots.get_mut(before)
        {
            held.forget_front();
        }
    }

    /// Notes that a head was changed.
    pub(super) fn note(&mut self, key: &[u8]) {
        if let Some(held) = self.get_mut(key)
            && !std::mem::replace(&mut held.changed, true)
        {
            self.changed.push(self.current);
        }
    }

    /// The keys whose heads were changed, with what they are now.
    pub(super) fn changed(&self) -> impl Iterator<Item = (&[u8], Option<&Head>)> {
        self.changed.iter().filter_map(|at| {
            let slot = self.slots.get(*at)?;
            Some((slot.key.as_slice(), slot.held.as_ref().and_then(|held| held.head.as_ref())))
        })
    }

    /// The changes are in the store.
    pub(super) fn keep(&mut self) {
        for at in self.changed.drain(..) {
            if let Some(Slot { held: Some(held), .. }) = self.slots.get_mut(at) {
                held.changed = false;
            }
        }
    }

    /// The changes are not in the store, or may not be.
    pub(super) fn forget(&mut self) {
        for at in self.changed.drain(..) {
            if let Some(slot) = self.slots.get_mut(at) {
                slot.held = None;
            }
        }
    }
}

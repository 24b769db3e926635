use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Engine, KeyRange, Snapshot, SpaceId};
use crate::error::StoreError;
use crate::page::{Direction, Page, PageToken};
use crate::schema::PlanFingerprint;
use crate::store::Spaces;

/// A point in time over all spaces of a store. Clones are cheap and see the same.
#[derive(Debug)]
pub struct StoreSnapshot<E: Engine> {
    snapshot: E::Snapshot,
    spaces: Arc<Spaces>,
}

/// A key or value of a store's snapshot.
pub type BytesOf<E> = <<E as Engine>::Snapshot as Snapshot>::Bytes;
/// Rows of a store's snapshot.
pub type RangeOf<E> = <<E as Engine>::Snapshot as Snapshot>::Range;

impl<E: Engine> StoreSnapshot<E> {
    pub(crate) fn new(snapshot: E::Snapshot, spaces: Arc<Spaces>) -> Self {
        Self { snapshot, spaces }
    }

    /// The engine's snapshot below.
    pub const fn engine(&self) -> &E::Snapshot {
        &self.snapshot
    }

    /// The fingerprint of the plan.
    pub fn fingerprint(&self) -> PlanFingerprint {
        self.spaces.fingerprint
    }

    /// Finds a space of the plan by the name that the engine knows.
    #[inline]
    pub fn space(&self, name: &str) -> Result<SpaceId, StoreError> {
        self.spaces.find(name)
    }

    /// Reads the value of a key.
    #[inline]
    pub fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<BytesOf<E>>, StoreError> {
        Ok(self.snapshot.get(space, key)?)
    }

    /// Lends the value of a key to `with`, if there is one, and returns what `with` makes of it: see
    /// [`Snapshot::get_with`].
    #[inline]
    pub fn get_with<T>(
        &self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.snapshot.get_with(space, key, with)?)
    }

    /// Whether a key exists.
    pub fn contains(&self, space: SpaceId, key: &[u8]) -> Result<bool, StoreError> {
        Ok(self.snapshot.contains(space, key)?)
    }

    /// Reads several keys: one slot for each, in the order given.
    pub fn multi_get<K: AsRef<[u8]>>(
        &self,
        space: SpaceId,
        keys: &[K],
    ) -> Result<Vec<Option<BytesOf<E>>>, StoreError> {
        Ok(self.snapshot.multi_get(space, keys)?)
    }

    /// Iterates over the rows of a range, lazily, from either end.
    pub fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<RangeOf<E>, StoreError> {
        Ok(self.snapshot.range(space, range)?)
    }

    /// Iterates over the rows whose keys begin with `prefix`.
    pub fn prefix(&self, space: SpaceId, prefix: &[u8]) -> Result<RangeOf<E>, StoreError> {
        Ok(self.snapshot.prefix(space, prefix)?)
    }

    /// Reads up to `limit` rows of a range, from where a token of an earlier page left off.
    ///
    /// The token belongs to this plan, space and direction, and to a range that holds the row it points at; anything
    /// else is refused. It outlives the snapshot and the process: rows that came or went since are seen as they are now.
    pub fn page(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
        token: Option<&[u8]>,
        limit: usize,
    ) -> Result<Page<E>, StoreError> {
        let named = self.spaces.named.iter().find(|(_, id)| *id == space);
        let (name, _) = named.ok_or(crate::engine::Error::NoSpace { number: space.0 })?;
        let mut rest = range.to_owned();
        if let Some(token) = token {
            let last = PageToken::read(token, self.spaces.fingerprint, name, direction)?;
            if !range.contains(&last) {
                return Err(crate::error::TokenFault::Range.into());
            }
            rest = match direction {
                Direction::Ascending => rest.after(&last),
                Direction::Descending => rest.before(&last),
            };
        }
        let mut found = self.snapshot.range(space, rest.borrow())?;
        let mut step = || match direction {
            Direction::Ascending => found.next(),
            Direction::Descending => found.next_back(),
        };
        let mut rows = Vec::new();
        while rows.len() < limit.max(1) {
            match step() {
                Some(row) => rows.push(row?),
                None => return Ok(Page { rows, next: None }),
            }
        }
        // A token only where there is more: a reader need not ask for an empty page.
        let more = step().transpose()?.is_some();
        let last = rows.last().filter(|_| more);
        let next =
            last.map(|(key, _)| PageToken::new(self.spaces.fingerprint, name, direction, key)).transpose()?;
        Ok(Page { rows, next })
    }

    /// How long ago it was opened.
    pub fn age(&self) -> Duration {
        self.snapshot.age()
    }
}

impl<E: Engine> Clone for StoreSnapshot<E> {
    fn clone(&self) -> Self {
        Self { snapshot: self.snapshot.clone(), spaces: self.spaces.clone() }
    }
}

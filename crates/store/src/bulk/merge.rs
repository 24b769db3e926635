use std::fmt::Write as _;
use std::ops::Deref;

use super::Duplicates;
use super::run::{RowRef, Run, Sorted, Source, head};
use crate::engine::SpaceId;
use crate::error::StoreError;

/// The rows of several sorted sources as one, each key once.
///
/// A row is made where it is given out, straight from the bytes of its source: nothing is copied twice. Sources are few,
/// so the smallest of their rows is looked for among all of them, mostly by only the first bytes of the keys.
pub(super) struct Merge<'s> {
    // The earliest first: of rows with one key, the last is the newest.
    sources: Vec<Open>,
    // The source of the row that comes next.
    first: Option<usize>,
    duplicates: Duplicates,
    // For their names.
    spaces: &'s [(SpaceId, String)],
}

/// A source with a row that has not been given out.
struct Open {
    source: Source,
    space: SpaceId,
    head: u64,
}

impl Open {
    fn new(mut source: Source) -> Result<Option<Self>, StoreError> {
        if !source.advance()? {
            return Ok(None);
        }
        let RowRef { space, key, .. } = source.row();
        let head = head(key);
        Ok(Some(Self { source, space, head }))
    }

    fn is_before(&self, other: &Self) -> bool {
        let order = (self.space, self.head).cmp(&(other.space, other.head));
        order.then_with(|| self.source.row().key.cmp(other.source.row().key)).is_lt()
    }
}

impl<'s> Merge<'s> {
    /// Merges runs, oldest first, and what is in memory, which is the newest.
    pub(super) fn new(
        runs: &[Run],
        memory: Sorted,
        duplicates: Duplicates,
        spaces: &'s [(SpaceId, String)],
    ) -> Result<Self, StoreError> {
        let mut sources = Vec::with_capacity(runs.len() + 1);
        for run in runs {
            sources.extend(Open::new(Source::File(run.read()?))?);
        }
        sources.extend(Open::new(Source::Memory(memory))?);
        let mut merge = Self { sources, first: None, duplicates, spaces };
        merge.first = merge.smallest();
        Ok(merge)
    }

    /// The space of the next row.
    pub(super) fn space(&self) -> Option<SpaceId> {
        self.sources.get(self.first?).map(|open| open.space)
    }

    /// The next row, if it is of this space.
    pub(super) fn next_of<B>(&mut self, space: SpaceId) -> Result<Option<(B, B)>, StoreError>
    where
        B: for<'b> From<&'b [u8]> + Deref<Target = [u8]>,
    {
        if self.space() != Some(space) {
            return Ok(None);
        }
        let Some(open) = self.first.and_then(|first| self.sources.get(first)) else { return Ok(None) };
        let RowRef { key, value, .. } = open.source.row();
        let (key, mut value) = (B::from(key), B::from(value));
        self.advance()?;
        while let Some(later) = self.same(space, &key) {
            if self.duplicates == Duplicates::Refuse && later != &*value {
                return Err(self.duplicate(space, &key));
            }
            value = B::from(later);
            self.advance()?;
        }
        Ok(Some((key, value)))
    }

    /// The value of the next row, if it has this key.
    fn same(&self, space: SpaceId, key: &[u8]) -> Option<&[u8]> {
        let open = self.sources.get(self.first?)?;
        let row = open.source.row();
        (open.space == space && row.key == key).then_some(row.value)
    }

    /// Moves the source of the next row on.
    fn advance(&mut self) -> Result<(), StoreError> {
        let Some(at) = self.first else { return Ok(()) };
        let Some(open) = self.sources.get_mut(at) else { return Ok(()) };
        if open.source.advance()? {
            let row = open.source.row();
            (open.space, open.head) = (row.space, head(row.key));
        } else {
            // The others keep their order: it says which is older.
            self.sources.remove(at);
        }
        self.first = self.smallest();
        Ok(())
    }

    fn smallest(&self) -> Option<usize> {
        let mut all = self.sources.iter().enumerate();
        let (mut at, mut least) = all.next()?;
        for (other, open) in all {
            if open.is_before(least) {
                (at, least) = (other, open);
            }
        }
        Some(at)
    }

    #[cold]
    fn duplicate(&self, space: SpaceId, key: &[u8]) -> StoreError {
        let mut text = String::new();
        for byte in key {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        let name = self.spaces.iter().find(|(id, _)| *id == space);
        let space = name.map_or_else(|| space.0.to_string(), |(_, name)| name.clone());
        StoreError::DuplicateKey { space, key: text }
    }
}

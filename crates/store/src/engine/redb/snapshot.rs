use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use redb::{ReadOnlyMultimapTable, ReadOnlyTable, ReadTransaction, ReadableTableMetadata as _};

use super::failure::{guarded, kind, translated};
use super::rows::{Lazy, RedbBytes, RedbRange, RedbValueRange, RedbValues};
use super::{Definition, MultimapDefinition};
use crate::engine::ages::Ticket;
use crate::engine::{Error, KeyRange, MultimapSnapshot, Numbers, Snapshot, Space, SpaceId, SpaceKind};

/// A point in time of a [`Redb`](super::Redb) database.
#[derive(Clone)]
pub struct RedbSnapshot(Arc<Inner>);

struct Inner {
    transaction: Mutex<ReadTransaction>,
    // Tables are opened when they are first read, and once.
    tables: Vec<OnceLock<Table>>,
    spaces: Arc<Vec<Space>>,
    numbers: Numbers,
    ticket: Ticket,
}

enum Table {
    Map(ReadOnlyTable<&'static [u8], &'static [u8]>),
    Multimap(ReadOnlyMultimapTable<&'static [u8], &'static [u8]>),
}

impl RedbSnapshot {
    pub(super) fn new(
        transaction: ReadTransaction,
        spaces: Arc<Vec<Space>>,
        numbers: Numbers,
        ticket: Ticket,
    ) -> Self {
        let tables = spaces.iter().map(|_| OnceLock::new()).collect();
        Self(Arc::new(Inner { transaction: Mutex::new(transaction), tables, spaces, numbers, ticket }))
    }

    fn table(&self, id: SpaceId) -> Result<(&Space, &Table), Error> {
        self.0.ticket.check()?;
        let index = self.0.numbers.index(id);
        let found = self.0.spaces.get(index).zip(self.0.tables.get(index));
        let (space, table) = found.ok_or_else(|| Error::NoSpace { number: id.0 })?;
        if let Some(table) = table.get() {
            return Ok((space, table));
        }
        let opened = guarded(|| {
            let transaction = self.0.transaction.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(match space.kind {
                SpaceKind::Map => {
                    Table::Map(transaction.open_table(Definition::new(&space.name)).map_err(translated)?)
                }
                SpaceKind::Multimap => {
                    let definition = MultimapDefinition::new(&space.name);
                    Table::Multimap(transaction.open_multimap_table(definition).map_err(translated)?)
                }
            })
        })?;
        Ok((space, table.get_or_init(|| opened)))
    }

    #[inline]
    fn map(&self, id: SpaceId) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, Error> {
        // Mostly it is open already.
        if let Some(Table::Map(table)) = self.0.tables.get(self.0.numbers.index(id)).and_then(OnceLock::get) {
            self.0.ticket.check()?;
            return Ok(table);
        }
        self.first_map(id)
    }

    #[cold]
    fn first_map(&self, id: SpaceId) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, Error> {
        match self.table(id)? {
            (_, Table::Map(table)) => Ok(table),
            (space, Table::Multimap(_)) => Err(kind(space, SpaceKind::Map)),
        }
    }

    fn multimap(&self, id: SpaceId) -> Result<&ReadOnlyMultimapTable<&'static [u8], &'static [u8]>, Error> {
        match self.table(id)? {
            (_, Table::Multimap(table)) => Ok(table),
            (space, Table::Map(_)) => Err(kind(space, SpaceKind::Multimap)),
        }
    }

    /// How many rows a space has.
    pub fn len(&self, id: SpaceId) -> Result<u64, Error> {
        match self.table(id)?.1 {
            Table::Map(table) => table.len().map_err(translated),
            Table::Multimap(table) => table.len().map_err(translated),
        }
    }
}

impl Snapshot for RedbSnapshot {
    type Bytes = RedbBytes;
    type Range = RedbRange;

    #[inline]
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<RedbBytes>, Error> {
        let table = self.map(space)?;
        let mut found = Ok(None);
        guarded(|| {
            found = table.get(key);
            Ok(())
        })?;
        match found {
            Ok(value) => Ok(value.map(RedbBytes)),
            Err(error) => Err(translated(error)),
        }
    }

    #[inline]
    fn get_with<T>(
        &self,
        space: SpaceId,
        key: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let table = self.map(space)?;
        // Looked at where the engine puts it: a value is large, and would be moved with every result that it is wrapped in.
        let mut found = Ok(None);
        guarded(|| {
            found = table.get(key);
            Ok(())
        })?;
        match &found {
            Ok(Some(value)) => Ok(Some(with(value.value()))),
            Ok(None) => Ok(None),
            Err(_) => found.map(|_| None).map_err(translated),
        }
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<RedbRange, Error> {
        let table = self.map(space)?;
        let rows = if range.is_empty() {
            None
        } else {
            let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.start, range.end);
            Some(guarded(|| table.range::<&[u8]>(bounds).map_err(translated))?)
        };
        Ok(RedbRange(Lazy { inner: rows }, self.clone()))
    }

    fn age(&self) -> Duration {
        self.0.ticket.age()
    }
}

impl MultimapSnapshot for RedbSnapshot {
    type Values = RedbValues;
    type ValueRange = RedbValueRange;

    fn iter_values(&self, space: SpaceId, key: &[u8]) -> Result<RedbValues, Error> {
        let table = self.multimap(space)?;
        let values = guarded(|| table.get(key).map_err(translated))?;
        Ok(RedbValues(Lazy { inner: Some(values) }, self.clone()))
    }

    fn iter_multi(&self, space: SpaceId, range: KeyRange<'_>) -> Result<RedbValueRange, Error> {
        let table = self.multimap(space)?;
        let rows = if range.is_empty() {
            None
        } else {
            let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (range.start, range.end);
            Some(guarded(|| table.range::<&[u8]>(bounds).map_err(translated))?)
        };
        Ok(RedbValueRange(Lazy { inner: rows }, self.clone()))
    }
}

impl fmt::Debug for RedbSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbSnapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}

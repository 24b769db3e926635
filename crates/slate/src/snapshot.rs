use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::try_join_all;
use keyplan_store::engine::kit::{Numbers, Ticket};
use keyplan_store::engine::{Error, KeyRange, Snapshot, SpaceId};
use slatedb::config::ScanOptions;
use slatedb::{DbIterator, DbReader, DbSnapshot, IterationOrder, KeyValue};

use crate::bytes::SlateBytes;
use crate::engine::Shared;
use crate::failure::translated;
use crate::layout;
use crate::rows::SlateRange;

/// A point in time of a [`Slate`](crate::Slate) database.
#[derive(Clone)]
pub struct SlateSnapshot(Arc<Inner>);

struct Inner {
    base: Base,
    spaces: usize,
    numbers: Numbers,
    ticket: Ticket,
    // Dropped last: the database is closed with it.
    shared: Arc<Shared>,
}

/// What reads are of.
#[derive(Clone)]
pub(crate) enum Base {
    /// A moment of the writer.
    Snapshot(Arc<DbSnapshot>),
    /// A state that a reader holds on to.
    Reader(Arc<DbReader>),
}

/// Bounds of the engine below.
pub(crate) type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// How much is fetched ahead of a scan, and by how many requests at a time: with SlateDB's own settings a scan waits for
/// every single block.
const AHEAD: usize = 1 << 20;
const REQUESTS: usize = 4;
/// How many keys are looked up at the same time.
const TOGETHER: usize = 64;

impl Base {
    pub(crate) async fn read(&self, key: &[u8]) -> Result<Option<Bytes>, slatedb::Error> {
        match self {
            Self::Snapshot(snapshot) => snapshot.get(key).await,
            Self::Reader(reader) => reader.get(key).await,
        }
    }

    pub(crate) async fn scan(
        &self,
        bounds: Bounds,
        order: IterationOrder,
    ) -> Result<DbIterator, slatedb::Error> {
        let options = ScanOptions {
            read_ahead_bytes: AHEAD,
            max_fetch_tasks: REQUESTS,
            cache_blocks: true,
            order,
            ..ScanOptions::default()
        };
        match self {
            Self::Snapshot(snapshot) => snapshot.scan_with_options(bounds, &options).await,
            Self::Reader(reader) => reader.scan_with_options(bounds, &options).await,
        }
    }

    pub(crate) fn get(&self, shared: &Shared, key: &[u8]) -> Result<Option<Bytes>, Error> {
        let found = shared.link.wait(self.read(key)).ok_or_else(|| shared.link.late())?;
        found.map_err(|error| translated(error, "reading"))
    }

    /// Whether there is any row between bounds.
    pub(crate) fn first(&self, shared: &Shared, bounds: Bounds) -> Result<bool, Error> {
        let found =
            shared.link.wait(async { self.scan(bounds, IterationOrder::Ascending).await?.next().await });
        let found = found.ok_or_else(|| shared.link.late())?;
        Ok(found.map_err(|error| translated(error, "reading"))?.is_some())
    }

    /// All rows between bounds.
    pub(crate) fn rows(&self, shared: &Shared, bounds: Bounds) -> Result<Vec<(Bytes, Bytes)>, Error> {
        let found = shared.link.wait(async {
            let mut rows = self.scan(bounds, IterationOrder::Ascending).await?;
            let mut found = Vec::new();
            while let Some(KeyValue { key, value, .. }) = rows.next().await? {
                found.push((key, value));
            }
            Ok::<_, slatedb::Error>(found)
        });
        found.ok_or_else(|| shared.link.late())?.map_err(|error| translated(error, "reading"))
    }
}

impl SlateSnapshot {
    pub(crate) fn new(
        base: Base,
        shared: Arc<Shared>,
        spaces: usize,
        numbers: Numbers,
        ticket: Ticket,
    ) -> Self {
        Self(Arc::new(Inner { base, spaces, numbers, ticket, shared }))
    }

    fn number(&self, space: SpaceId) -> Result<u16, Error> {
        self.0.ticket.check()?;
        let index = self.0.numbers.index(space);
        let number = u16::try_from(index).ok().filter(|_| index < self.0.spaces);
        number.ok_or(Error::NoSpace { number: space.0 })
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    pub(crate) fn base(&self) -> &Base {
        &self.0.base
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.0.ticket.check()
    }
}

impl Snapshot for SlateSnapshot {
    type Bytes = SlateBytes;
    type Range = SlateRange;

    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<SlateBytes>, Error> {
        let number = self.number(space)?;
        Ok(self.0.base.get(&self.0.shared, &layout::row(number, key))?.map(SlateBytes))
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<SlateRange, Error> {
        let number = self.number(space)?;
        Ok(SlateRange::new(self.clone(), number, range))
    }

    fn age(&self) -> Duration {
        self.0.ticket.age()
    }

    fn multi_get<K: AsRef<[u8]>>(
        &self,
        space: SpaceId,
        keys: &[K],
    ) -> Result<Vec<Option<SlateBytes>>, Error> {
        let number = self.number(space)?;
        let rows: Vec<Bytes> = keys.iter().map(|key| layout::row(number, key.as_ref())).collect();
        let mut found = Vec::with_capacity(rows.len());
        for rows in rows.chunks(TOGETHER) {
            let link = &self.0.shared.link;
            let values = link.wait(try_join_all(rows.iter().map(|row| self.0.base.read(row))));
            let values = values.ok_or_else(|| link.late())?.map_err(|error| translated(error, "reading"))?;
            found.extend(values.into_iter().map(|value| value.map(SlateBytes)));
        }
        Ok(found)
    }
}

impl fmt::Debug for SlateSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlateSnapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}

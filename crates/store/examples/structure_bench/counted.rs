use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keyplan_store::engine::{
    Action, Batch, Capabilities, Durability, Engine, Error, KeyRange, RowRange, Setting, Snapshot, Space,
    SpaceId, Statistics,
};

/// An engine that counts what it gives out.
#[derive(Debug)]
pub(crate) struct Counted<E: Engine> {
    engine: E,
    counts: Arc<Counts>,
}

/// Rows that were given out, and keys that were looked for.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) rows: AtomicU64,
    pub(crate) lookups: AtomicU64,
}

impl<E: Engine> Counted<E> {
    pub(crate) fn new(engine: E) -> Self {
        Self { engine, counts: Arc::default() }
    }

    pub(crate) fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }
}

impl<E: Engine> Engine for Counted<E> {
    type Buffer = E::Buffer;
    type Snapshot = CountedSnapshot<E::Snapshot>;

    const NAME: &'static str = E::NAME;

    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn spaces(&self) -> Vec<Space> {
        self.engine.spaces()
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        self.engine.create_space(space)
    }

    fn snapshot(&self) -> Result<Self::Snapshot, Error> {
        Ok(CountedSnapshot { snapshot: self.engine.snapshot()?, counts: self.counts.clone() })
    }

    fn commit(&self, batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        let mut inner = Batch::<E>::new();
        for operation in batch.into_sorted() {
            match operation.action {
                Action::Put(value) => inner.put(operation.space, operation.key, value),
                _ => inner.delete(operation.space, operation.key),
            }
        }
        self.engine.commit(inner, durability)
    }

    fn sync(&self) -> Result<(), Error> {
        self.engine.sync()
    }

    fn checkpoint(&self, limit: Duration) -> Result<(), Error> {
        self.engine.checkpoint(limit)
    }

    fn compact(&self) -> Result<(), Error> {
        self.engine.compact()
    }

    fn shutdown(&self, limit: Duration) -> Result<(), Error> {
        self.engine.shutdown(limit)
    }

    fn ingest<I>(&self, space: SpaceId, rows: I) -> Result<u64, Error>
    where
        I: IntoIterator<Item = Result<(Self::Buffer, Self::Buffer), Error>>,
    {
        self.engine.ingest(space, rows)
    }

    fn statistics(&self) -> Statistics {
        self.engine.statistics()
    }

    fn settings(&self) -> Vec<Setting> {
        self.engine.settings()
    }

    fn directory(&self) -> Option<&Path> {
        self.engine.directory()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CountedSnapshot<S> {
    snapshot: S,
    counts: Arc<Counts>,
}

impl<S: Snapshot> Snapshot for CountedSnapshot<S> {
    type Bytes = S::Bytes;
    type Range = CountedRange<S::Range>;

    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<S::Bytes>, Error> {
        let found = self.snapshot.get(space, key)?;
        self.counts.lookups.fetch_add(1, Ordering::Relaxed);
        self.counts.rows.fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
        Ok(found)
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<Self::Range, Error> {
        Ok(CountedRange { rows: self.snapshot.range(space, range)?, counts: self.counts.clone() })
    }

    fn age(&self) -> Duration {
        self.snapshot.age()
    }
}

#[derive(Debug)]
pub(crate) struct CountedRange<R> {
    rows: R,
    counts: Arc<Counts>,
}

impl<R> CountedRange<R> {
    fn counted<T>(&self, row: Option<T>) -> Option<T> {
        self.counts.rows.fetch_add(u64::from(row.is_some()), Ordering::Relaxed);
        row
    }
}

impl<R: RowRange> RowRange for CountedRange<R> {
    type Bytes = R::Bytes;
}

impl<R: Iterator> Iterator for CountedRange<R> {
    type Item = R::Item;

    fn next(&mut self) -> Option<R::Item> {
        let row = self.rows.next();
        self.counted(row)
    }
}

impl<R: DoubleEndedIterator> DoubleEndedIterator for CountedRange<R> {
    fn next_back(&mut self) -> Option<R::Item> {
        let row = self.rows.next_back();
        self.counted(row)
    }
}

//! One batch, one transaction, one outcome.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deadpool_postgres::Object;
use keyplan_store::engine::{Action, Batch, Durability, Error, Expectation, Expected, SpaceId};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use crate::engine::Postgres;
use crate::failure::{Failure, LOST_BATCHES};
use crate::layout::{Layout, bounds};
use crate::link::{Asked, Link, in_order};

/// This handle, as the server knows it: each of its commits is numbered, and leaves its number there.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) id: i64,
    epoch: i64,
    // Of the last batch that was acknowledged.
    batch: i64,
    // Whether the outcome of a commit could not be learned.
    lost: bool,
    // None if it must be learned again.
    clock: Option<Clock>,
    // Until when a batch is taken that was sent.
    pub(crate) taken_until: Option<Instant>,
}

/// The clock of the server: what it said, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    micros: i64,
    at: Instant,
}

impl Clock {
    pub(crate) async fn learn(client: &Object, layout: &Layout) -> Result<Self, Failure> {
        let micros = client.query_one(layout.clock, &[]).await?.try_get(0)?;
        // After the answer: rather too late than too early.
        Ok(Self { micros, at: Instant::now() })
    }

    /// The time there after `wait`, and the latest that it can be here by then.
    fn after(self, wait: Duration) -> (i64, Instant) {
        let now = Instant::now();
        let passed = now.saturating_duration_since(self.at) + wait;
        let micros = i64::try_from(passed.as_micros()).unwrap_or(i64::MAX);
        (self.micros.saturating_add(micros), now.checked_add(wait).unwrap_or(now))
    }
}

/// What a transaction does to one space.
#[derive(Default)]
struct Changes {
    puts: (Vec<Vec<u8>>, Vec<Vec<u8>>),
    deletes: Vec<Vec<u8>>,
    expected: (Vec<Vec<u8>>, Vec<Option<Vec<u8>>>),
}

impl Writer {
    pub(crate) fn register(link: &Link, layout: &Layout, alone: bool) -> Result<Self, Error> {
        let id = link.wait(async {
            let client = link.connection(&link.writes).await?;
            Ok(client.query_one(&layout.register, &[&alone]).await?.try_get(0)?)
        });
        let id = id.map_err(|failure| failure.of("opening for writing"))?;
        Ok(Self { id, epoch: 0, batch: 0, lost: false, clock: None, taken_until: None })
    }

    /// When it is too late for a batch that is sent now, by the clock of the server.
    ///
    /// What is on its way when the network breaks may arrive whenever it is whole again, also after somebody else has gone on.
    pub(crate) async fn until(
        &mut self,
        client: &Object,
        link: &Link,
        layout: &Layout,
    ) -> Result<i64, Failure> {
        let clock = match self.clock {
            Some(clock) => clock,
            None => Clock::learn(client, layout).await?,
        };
        self.clock = Some(clock);
        let (there, here) = clock.after(link.taken_within());
        self.taken_until = Some(here);
        Ok(there)
    }

    /// Waits until a batch whose outcome is not known is no longer taken.
    fn outlast(&mut self) {
        if let Some(until) = self.taken_until.take() {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Learns what became of a batch whose answer was lost, and keeps it from happening later than this.
    ///
    /// Whether it was done; `None` if it cannot be learned.
    fn settle(&mut self, link: &Link, layout: &Layout) -> Option<Result<bool, Failure>> {
        let (id, epoch) = (self.id, self.epoch);
        let found = link.wait(async {
            link.again(async || {
                let client = link.writes.get().await?;
                // Others that were connected may be as silent as the one that was lost.
                let asked =
                    link.soon(async { Ok(client.query_opt(&layout.settle, &[&id, &epoch]).await?) }).await;
                if asked.is_err() {
                    drop(Object::take(client));
                }
                Ok(asked?.map(|row| row.try_get::<_, i64>(0)).transpose()?)
            })
            .await
        });
        let found = found.ok()?;
        self.epoch += 1;
        Some(match found {
            Some(batch) if batch == self.batch + 1 => Ok(true),
            Some(batch) if batch == self.batch => Ok(false),
            Some(_) => Err(Failure::Lost),
            None => Err(Failure::Fenced),
        })
    }
}

impl Postgres {
    pub(crate) fn commit_batch(&self, mut batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        let writer = self.writable()?;
        batch.check(&keyplan_store::engine::Engine::capabilities(self))?;
        if batch.is_empty() && batch.expectations().is_empty() && durability == Durability::Buffer {
            return Ok(());
        }
        let expectations = batch.take_expectations();
        // By space, in the order of their numbers: two that lock rows do so in one order.
        let mut changes: std::collections::BTreeMap<SpaceId, Changes> = std::collections::BTreeMap::new();
        for operation in batch.into_sorted() {
            let of = changes.entry(operation.space).or_default();
            match operation.action {
                Action::Put(value) => {
                    of.puts.0.push(operation.key.to_vec());
                    of.puts.1.push(value.to_vec());
                }
                Action::Delete => of.deletes.push(operation.key.to_vec()),
                Action::AddValue(_) | Action::RemoveValue(_) => {
                    return Err(Error::Unsupported {
                        engine: <Self as keyplan_store::engine::Engine>::NAME,
                        what: "several values for a key",
                    });
                }
            }
        }
        let mut ranges = Vec::new();
        for Expectation { space, expected } in expectations {
            match expected {
                Expected::Value { key, digest } => {
                    let of = changes.entry(space).or_default();
                    of.expected.0.push(key);
                    of.expected.1.push(digest.map(|digest| digest.0.to_vec()));
                }
                Expected::Rows { range, rows } => {
                    if !range.borrow().is_empty() {
                        ranges.push((space, range, rows));
                    } else if rows.count() > 0 {
                        return Err(Error::Conflict);
                    }
                }
            }
        }
        let tables: Vec<_> = changes.keys().map(|space| self.table(*space)).collect::<Result<_, Error>>()?;
        let range_tables: Vec<_> =
            ranges.iter().map(|(space, _, _)| self.table(*space)).collect::<Result<_, Error>>()?;

        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Asked again, with nobody else in here: a shutdown that has begun since does not wait for this batch.
        self.writable()?;
        self.transact(&mut writer, durability, async |client, asked| {
            for ((_, range, rows), table) in ranges.iter().zip(&range_tables) {
                let statement =
                    client.prepare_cached(&table.expect_rows(range.borrow(), rows.direction())).await?;
                let mut parameters: Vec<Box<dyn ToSql + Sync + Send>> = Vec::new();
                for bound in bounds(range.borrow()) {
                    parameters.push(Box::new(bound.to_vec()));
                }
                parameters.push(Box::new(i64::try_from(rows.count()).unwrap_or(i64::MAX)));
                parameters.push(Box::new(rows.digest().0.to_vec()));
                asked.push((statement, parameters));
            }
            for (of, table) in changes.values_mut().zip(&tables) {
                if !of.expected.0.is_empty() {
                    let statement = client.prepare_cached(&table.expect_values).await?;
                    let (keys, digests) = std::mem::take(&mut of.expected);
                    asked.push((statement, vec![Box::new(keys), Box::new(digests)]));
                }
            }
            for (of, table) in changes.values_mut().zip(&tables) {
                if !of.deletes.is_empty() {
                    let statement = client.prepare_cached(&table.delete).await?;
                    asked.push((statement, vec![Box::new(std::mem::take(&mut of.deletes))]));
                }
                if !of.puts.0.is_empty() {
                    let statement = client.prepare_cached(&table.put).await?;
                    let (keys, values) = std::mem::take(&mut of.puts);
                    asked.push((statement, vec![Box::new(keys), Box::new(values)]));
                }
            }
            Ok(())
        })
    }

    /// Commits nothing, durably: what was committed before is durable with it.
    pub(crate) fn commit_nothing(&self) -> Result<(), Error> {
        let writer = self.writer.as_ref().ok_or(Error::Closed)?;
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.transact(&mut writer, Durability::SyncAll, async |_, _| Ok(()))
    }

    /// Runs one transaction in one round trip.
    fn transact(
        &self,
        writer: &mut Writer,
        durability: Durability,
        prepare: impl AsyncFnOnce(&Object, &mut Vec<Prepared>) -> Result<(), Failure>,
    ) -> Result<(), Error> {
        if writer.lost {
            return Err(Error::Poisoned { source: None });
        }
        let number = writer.batch + 1;
        let (id, epoch) = (writer.id, writer.epoch);
        let link = &self.link;
        // Connecting and preparing change nothing.
        let prepared = link.block_on(async {
            let client = link.connection(&link.writes).await?;
            let asked = link.soon(async {
                let begin = client.prepare_cached(&self.layout.begin).await?;
                let mut asked = Vec::new();
                prepare(&client, &mut asked).await?;
                let until = writer.until(&client, link, &self.layout).await?;
                Ok((begin, asked, until))
            });
            match asked.await {
                Ok(asked) => Ok((client, asked)),
                Err(failure) => {
                    drop(Object::take(client));
                    Err(failure)
                }
            }
        });
        let (client, (begin, asked, until)) = prepared.map_err(|failure| failure.of("preparing a commit"))?;
        let open = match durability {
            Durability::Buffer => "BEGIN; SET LOCAL synchronous_commit = off",
            Durability::SyncData | Durability::SyncAll => "BEGIN",
        };
        let done = link.wait(async {
            let first: [&(dyn ToSql + Sync); 4] = [&id, &number, &epoch, &until];
            let parameters: Vec<Vec<&(dyn ToSql + Sync)>> = asked
                .iter()
                .map(|(_, parameters)| parameters.iter().map(|one| &**one as &(dyn ToSql + Sync)).collect())
                .collect();
            let mut all: Vec<Asked<'_>> = vec![
                Box::pin(async { client.batch_execute(open).await.map(|()| 0) }),
                Box::pin(client.execute(&begin, &first)),
            ];
            for ((statement, _), parameters) in asked.iter().zip(&parameters) {
                all.push(Box::pin(client.execute(statement, parameters)));
            }
            // After a failure the server takes this for a rollback; the failure is told by what failed.
            all.push(Box::pin(async { client.batch_execute("COMMIT").await.map(|()| 0) }));
            in_order(all).await
        });
        if let Err(failure) = &done
            && failure.is_unknown()
        {
            // Nobody else may get a connection in this state.
            drop(Object::take(client));
        } else {
            self.note_position(&client);
        }
        self.conclude(writer, done)
    }

    /// Says what became of a transaction.
    pub(crate) fn conclude(&self, writer: &mut Writer, done: Result<(), Failure>) -> Result<(), Error> {
        match done {
            Ok(()) => {
                writer.batch += 1;
                Ok(())
            }
            Err(failure) if failure.is_unknown() => match writer.settle(&self.link, &self.layout) {
                Some(Ok(true)) => {
                    writer.batch += 1;
                    Ok(())
                }
                Some(Ok(false)) => {
                    let (Failure::Broken(source) | Failure::Unreachable(source)) = failure else {
                        return Err(failure.of("committing"));
                    };
                    Err(Error::Unavailable { doing: "committing", source })
                }
                Some(Err(Failure::Lost)) => {
                    writer.lost = true;
                    Err(Error::CommitUnknown { source: LOST_BATCHES.into() })
                }
                Some(Err(other)) => Err(other.of("committing")),
                None => {
                    writer.lost = true;
                    // From then on it has happened or never will, and a read tells.
                    writer.outlast();
                    Err(Error::CommitUnknown { source: failure.of("committing").into() })
                }
            },
            Err(failure) => {
                if matches!(failure, Failure::Conflict) {
                    // Perhaps it only came too late, by a clock that is no longer what it was.
                    writer.clock = None;
                }
                Err(failure.of("committing"))
            }
        }
    }

    /// Takes down where the log of the server is, if a replica is read from.
    pub(crate) fn note_position(&self, client: &Object) {
        if self.link.replica.is_none() {
            return;
        }
        let found = self.link.wait(async {
            let row = client.query_one("SELECT pg_current_wal_insert_lsn()::text", &[]).await?;
            Ok(row.try_get::<_, String>(0)?)
        });
        // If it cannot be learned, no replica is known to be far enough.
        let position = found.unwrap_or_else(|_| "FFFFFFFF/FFFFFFFF".to_owned());
        *self.position.lock().unwrap_or_else(PoisonError::into_inner) = Some(position);
    }

    /// The number and the epoch of the next transaction.
    pub(crate) const fn next(writer: &Writer) -> (i64, i64, i64) {
        (writer.id, writer.batch + 1, writer.epoch)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) const fn is_lost(writer: &Writer) -> bool {
        writer.lost
    }
}

/// A statement, and what it is given.
pub(crate) type Prepared = (Statement, Vec<Box<dyn ToSql + Sync + Send>>);

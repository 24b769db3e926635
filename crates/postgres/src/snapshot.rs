use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use keyplan_store::Direction;
use keyplan_store::engine::kit::{Numbers, Ticket};
use keyplan_store::engine::{Error, KeyRange, SharedBytes, Snapshot, SpaceId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::failure::Failure;
use crate::layout::{Table, bounds};
use crate::link::Link;
use crate::rows::PostgresRange;

/// A point in time of a [`Postgres`](crate::Postgres) database: a transaction of the server, on a connection of its own.
#[derive(Clone)]
pub struct PostgresSnapshot(Arc<Inner>);

struct Inner {
    // Taken out on drop only.
    client: Option<Object>,
    link: Arc<Link>,
    tables: Arc<Vec<Arc<Table>>>,
    numbers: Numbers,
    ticket: Ticket,
    age: Duration,
}

impl PostgresSnapshot {
    pub(crate) fn open(
        link: &Arc<Link>,
        position: Option<&str>,
        tables: Arc<Vec<Arc<Table>>>,
        numbers: Numbers,
        ticket: Ticket,
        age: Duration,
    ) -> Result<Self, Error> {
        let opened = link.wait(async {
            if let Some(replica) = &link.replica
                && let Ok(Some(client)) = on_replica(replica, position, age).await
            {
                return Ok(client);
            }
            link.again(async || {
                let client = link.reads.get().await?;
                match client.batch_execute(&begin(age)).await {
                    Ok(()) => Ok(client),
                    Err(error) => {
                        drop(Object::take(client));
                        Err(error.into())
                    }
                }
            })
            .await
        });
        let client = opened.map_err(|failure| failure.of("opening a snapshot"))?;
        Ok(Self(Arc::new(Inner { client: Some(client), link: link.clone(), tables, numbers, ticket, age })))
    }

    fn table(&self, space: SpaceId) -> Result<&Arc<Table>, Error> {
        let index = self.0.numbers.index(space);
        self.0.tables.get(index).ok_or(Error::NoSpace { number: space.0 })
    }

    fn client(&self) -> Result<&Object, Error> {
        self.0.ticket.check()?;
        self.0.client.as_ref().ok_or(Error::Closed)
    }

    pub(crate) fn link(&self) -> &Link {
        &self.0.link
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.0.ticket.check()
    }

    /// A transaction that is gone is a snapshot that has ended: another one can be opened.
    pub(crate) fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Broken(_) | Failure::Unreachable(_) | Failure::Conflict => {
                Error::SnapshotExpired { age: self.age(), limit: self.0.age }
            }
            other => other.of("reading"),
        }
    }

    /// Rows of a range, at most so many.
    pub(crate) async fn page(
        self,
        table: Arc<Table>,
        range: keyplan_store::engine::OwnedKeyRange,
        direction: Direction,
        rows: i64,
    ) -> Result<Vec<Row>, Failure> {
        let client = self.0.client.as_ref().ok_or_else(|| Failure::Unreachable("closed".into()))?;
        let statement = client.prepare_cached(&table.page(range.borrow(), direction)).await?;
        let keys: Vec<&[u8]> = bounds(range.borrow()).collect();
        let mut parameters: Vec<&(dyn ToSql + Sync)> = keys.iter().map(|key| key as _).collect();
        parameters.push(&rows);
        Ok(client.query(&statement, &parameters).await?)
    }
}

/// Opens a transaction that sees one moment, and takes that moment now.
fn begin(age: Duration) -> String {
    // The server ends what a client has forgotten, some time after the client would refuse it.
    let idle = age.as_millis().saturating_add(10_000).min(2_000_000_000);
    format!(
        "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL idle_in_transaction_session_timeout = {idle}; \
         SELECT pg_current_snapshot()"
    )
}

/// A transaction on a replica, if it has come as far as this writer has.
async fn on_replica(pool: &Pool, position: Option<&str>, age: Duration) -> Result<Option<Object>, Failure> {
    let client = pool.get().await?;
    client.batch_execute(&begin(age).replace("pg_current_snapshot()", "1")).await?;
    let far = match position {
        Some(position) => {
            let text =
                "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, NOT pg_is_in_recovery())";
            client.query_one(text, &[&position]).await?.try_get::<_, bool>(0)?
        }
        None => true,
    };
    if far {
        return Ok(Some(client));
    }
    client.batch_execute("ROLLBACK").await?;
    Ok(None)
}

impl Snapshot for PostgresSnapshot {
    type Bytes = SharedBytes;
    type Range = PostgresRange;

    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<SharedBytes>, Error> {
        let (table, client) = (self.table(space)?, self.client()?);
        let found = self.0.link.wait(async {
            let statement = client.prepare_cached(&table.get).await?;
            let row = client.query_opt(&statement, &[&key]).await?;
            Ok(row.map(|row| row.try_get::<_, &[u8]>(0).map(SharedBytes::from)).transpose()?)
        });
        found.map_err(|failure| self.failed(failure))
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<PostgresRange, Error> {
        let table = self.table(space)?.clone();
        self.check()?;
        Ok(PostgresRange::new(self.clone(), table, range))
    }

    fn age(&self) -> Duration {
        self.0.ticket.age()
    }

    fn multi_get<K: AsRef<[u8]>>(
        &self,
        space: SpaceId,
        keys: &[K],
    ) -> Result<Vec<Option<SharedBytes>>, Error> {
        let (table, client) = (self.table(space)?, self.client()?);
        let mut found = Vec::new();
        found.resize_with(keys.len(), || None);
        let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        if keys.is_empty() {
            return Ok(found);
        }
        let read = self.0.link.wait(async {
            let statement = client.prepare_cached(&table.get_many).await?;
            for row in client.query(&statement, &[&keys]).await? {
                let place = row.try_get::<_, i64>(0)?.checked_sub(1);
                let slot = place.and_then(|place| usize::try_from(place).ok());
                if let Some(slot) = slot.and_then(|slot| found.get_mut(slot)) {
                    *slot = Some(SharedBytes::from(row.try_get::<_, &[u8]>(1)?));
                }
            }
            Ok(found)
        });
        read.map_err(|failure| self.failed(failure))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let link = self.link.clone();
        // In the background: nobody needs to wait for the end of a transaction that only read.
        drop(self.link.spawn(async move {
            let ended = tokio::time::timeout(Duration::from_secs(10), client.batch_execute("ROLLBACK")).await;
            if !matches!(ended, Ok(Ok(()))) {
                drop(Object::take(client));
            }
            drop(link);
        }));
    }
}

impl fmt::Debug for PostgresSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSnapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}

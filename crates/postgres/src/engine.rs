use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use keyplan_store::engine::kit::{Ages, Numbers};
use keyplan_store::engine::{
    Batch, Capabilities, Durability, Engine, Error, KeyRange, Setting, SharedBytes, Snapshot as _, Space,
    SpaceId, SpaceKind, SpaceUsage, Statistics, Survives, Writers,
};

use crate::commit::Writer;
use crate::failure::Failure;
use crate::layout::{FORMAT, Layout, Table};
use crate::link::Link;
use crate::settings::PostgresSettings;
use crate::snapshot::PostgresSnapshot;

/// A schema of a PostgreSQL database, with a table for each space.
///
/// | durability | what it means here |
/// | --- | --- |
/// | `Buffer` | visible to all; survives the end of this process, and may be lost with the last half second if the *server* crashes |
/// | `SyncData`, `SyncAll` | on the server's disk, and on those of its synchronous replicas if it has any |
pub struct Postgres {
    pub(crate) link: Arc<Link>,
    pub(crate) layout: Layout,
    pub(crate) settings: PostgresSettings,
    tables: RwLock<Arc<Vec<Arc<Table>>>>,
    // None if it was opened for reading only.
    pub(crate) writer: Option<Mutex<Writer>>,
    // Where the log of the server was after the last commit, if a replica is read from.
    pub(crate) position: Mutex<Option<String>>,
    pub(crate) closed: AtomicBool,
    ages: Ages,
    numbers: Numbers,
}

impl Postgres {
    /// Opens a database for reading and writing, and makes it if there is none.
    pub fn open(settings: PostgresSettings) -> Result<Self, Error> {
        Self::connect(settings, true, true)
    }

    /// Opens a database for reading and writing, and makes none.
    pub fn open_existing(settings: PostgresSettings) -> Result<Self, Error> {
        Self::connect(settings, true, false)
    }

    /// Opens a database for reading. Nothing is written, and a replica will do.
    pub fn open_read_only(mut settings: PostgresSettings) -> Result<Self, Error> {
        settings.config.target_session_attrs(tokio_postgres::config::TargetSessionAttrs::Any);
        if let Some(replica) = settings.replica.take() {
            settings.config = replica;
        }
        Self::connect(settings, false, false)
    }

    /// Whether there is a database of this engine.
    pub fn exists(settings: &PostgresSettings) -> Result<bool, Error> {
        let mut settings = settings.clone();
        settings.config.target_session_attrs(tokio_postgres::config::TargetSessionAttrs::Any);
        let link = Link::new(&settings)?;
        exists(&link, &Layout::new(&settings.schema), &settings.schema)
    }

    /// Removes a database of this engine with everything in it.
    pub fn remove(settings: &PostgresSettings) -> Result<(), Error> {
        let link = Link::new(settings)?;
        if !exists(&link, &Layout::new(&settings.schema), &settings.schema)? {
            return Err(not_found(settings));
        }
        let removal = format!("DROP SCHEMA \"{}\" CASCADE", settings.schema.replace('"', "\"\""));
        let removed = link.wait(async {
            let client = link.connection(&link.writes).await?;
            Ok(client.batch_execute(&removal).await?)
        });
        removed.map_err(|failure| failure.of("removing the schema"))
    }

    fn connect(settings: PostgresSettings, write: bool, create: bool) -> Result<Self, Error> {
        let link = Arc::new(Link::new(&settings)?);
        let layout = Layout::new(&settings.schema);
        if !exists(&link, &layout, &settings.schema)? {
            if !create {
                return Err(not_found(&settings));
            }
            let made = link.wait(async {
                let client = link.connection(&link.writes).await?;
                // One at a time: two that make the same schema at the same moment would fail.
                let text = format!("BEGIN; SELECT {}; {}; COMMIT", layout.lock(), layout.create());
                Ok(client.batch_execute(&text).await?)
            });
            made.map_err(|failure| failure.of("making the schema"))?;
        }
        let found = link.wait(async {
            let pool = if write { &link.writes } else { &link.reads };
            let client = link.connection(pool).await?;
            Ok(client.query_one(&layout.format, &[]).await?.try_get::<_, i32>(0)?)
        });
        let found = found.map_err(|failure| failure.of("looking at the schema"))?;
        if found != FORMAT {
            return Err(Error::Format {
                what: format!("layout {found} of tables; this version has {FORMAT}"),
            });
        }
        let writer =
            if write { Some(Mutex::new(Writer::register(&link, &layout, settings.alone)?)) } else { None };
        let engine = Self {
            link,
            layout,
            settings,
            tables: RwLock::default(),
            writer,
            position: Mutex::default(),
            closed: AtomicBool::new(!write),
            ages: Ages::default(),
            numbers: Numbers::default(),
        };
        engine.refresh()?;
        Ok(engine)
    }

    pub(crate) fn tables(&self) -> Arc<Vec<Arc<Table>>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn table(&self, space: SpaceId) -> Result<Arc<Table>, Error> {
        let index = self.numbers.index(space);
        self.tables().get(index).cloned().ok_or(Error::NoSpace { number: space.0 })
    }

    pub(crate) fn writable(&self) -> Result<&Mutex<Writer>, Error> {
        match &self.writer {
            Some(writer) if !self.closed.load(Ordering::Acquire) => Ok(writer),
            _ => Err(Error::Closed),
        }
    }

    /// Reads which spaces there are.
    fn refresh(&self) -> Result<(), Error> {
        let rows = self.link.wait(async {
            let pool = if self.writer.is_some() { &self.link.writes } else { &self.link.reads };
            self.link
                .again(async || {
                    let client = pool.get().await?;
                    let statement = client.prepare_cached(&self.layout.spaces).await?;
                    Ok(client.query(&statement, &[]).await?)
                })
                .await
        });
        let rows = rows.map_err(|failure| failure.of("reading the list of spaces"))?;
        let mut tables = Vec::with_capacity(rows.len());
        for row in rows {
            let read = || -> Result<(i32, String, String), tokio_postgres::Error> {
                Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
            };
            let (number, name, usage) = read().map_err(|error| Failure::from(error).of("reading a space"))?;
            if usize::try_from(number) != Ok(tables.len()) {
                return Err(Error::Corrupt {
                    what: format!("the list of spaces has number {number} in place of {}", tables.len()),
                    source: None,
                });
            }
            let usage = match usage.as_str() {
                "structures" => SpaceUsage::Structures,
                "mixed" => SpaceUsage::Mixed,
                _ => SpaceUsage::Rows,
            };
            let space = Space { usage, ..Space::map(name) };
            tables.push(Arc::new(Table::new(&self.layout, number, space)));
        }
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tables);
        Ok(())
    }

    fn known(&self, name: &str) -> Option<SpaceId> {
        let found = self.tables().iter().position(|table| table.space.name == name)?;
        u32::try_from(found).ok().map(|found| SpaceId(self.numbers.first().wrapping_add(found)))
    }

    fn make_space(&self, space: &Space) -> Result<(), Failure> {
        let usage = match space.usage {
            SpaceUsage::Rows => "rows",
            SpaceUsage::Structures => "structures",
            SpaceUsage::Mixed => "mixed",
        };
        self.link.wait(async {
            let client = self.link.connection(&self.link.writes).await?;
            client.batch_execute(&format!("BEGIN; SELECT {}", self.layout.lock())).await?;
            let made = async {
                let rows = client.query(&self.layout.spaces, &[]).await?;
                for row in &rows {
                    if row.try_get::<_, &str>(1)? == space.name {
                        return Ok(());
                    }
                }
                let number = i32::try_from(rows.len()).unwrap_or(i32::MAX);
                client.execute(&self.layout.insert_space(), &[&number, &space.name, &usage]).await?;
                client.batch_execute(&self.layout.add_space(number, usage)).await?;
                Ok::<(), tokio_postgres::Error>(())
            };
            let made = made.await;
            let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
            let ended = client.batch_execute(end).await;
            made?;
            Ok(ended?)
        })
    }
}

fn exists(link: &Link, layout: &Layout, schema: &str) -> Result<bool, Error> {
    let found = link.wait(async {
        link.again(async || {
            let client = link.reads.get().await?;
            Ok(client.query_one(layout.exists, &[&schema]).await?.try_get::<_, bool>(0)?)
        })
        .await
    });
    found.map_err(|failure| failure.of("connecting"))
}

fn not_found(settings: &PostgresSettings) -> Error {
    Error::NotFound { path: PathBuf::from(settings.shown()) }
}

/// What a row may be.
const LIMITS: keyplan_plan::Limits = keyplan_plan::Engine::Postgres.limits();

impl Engine for Postgres {
    type Buffer = SharedBytes;
    type Snapshot = PostgresSnapshot;

    const NAME: &'static str = "postgres";

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::PLAIN;
        capabilities.key_bytes = Some(LIMITS.key_bytes);
        capabilities.value_bytes = Some(LIMITS.value_bytes);
        capabilities.batch_bytes = Some(self.settings.batch_bytes);
        capabilities.snapshot_age = Some(self.settings.snapshot_age);
        capabilities.empty_keys = LIMITS.empty_keys;
        capabilities.buffer = Survives::Process;
        capabilities.sync = Survives::Power;
        capabilities.writers = if self.settings.alone { Writers::Newest } else { Writers::Several };
        // Reads go on after another has taken over, and see what it writes.
        capabilities.foreign_commits = true;
        capabilities.checks = true;
        capabilities
    }

    fn first_space(&self) -> u32 {
        self.numbers.first()
    }

    fn spaces(&self) -> Vec<Space> {
        // Another handle may have made one. If the server cannot be asked, those that are known are all that can be used.
        let _ = self.refresh();
        self.tables().iter().map(|table| table.space.clone()).collect()
    }

    fn space(&self, name: &str) -> Option<SpaceId> {
        self.known(name).or_else(|| {
            self.refresh().ok()?;
            self.known(name)
        })
    }

    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        if space.kind == SpaceKind::Multimap {
            return Err(Error::Unsupported {
                engine: Self::NAME,
                what: "spaces with several values for a key",
            });
        }
        if space.name.is_empty() || space.name.contains('\0') {
            return Err(Error::SpaceName { name: space.name.clone() });
        }
        if let Some(known) = self.space(&space.name) {
            return Ok(known);
        }
        self.writable()?;
        self.make_space(space).map_err(|failure| failure.of("making a space"))?;
        self.refresh()?;
        self.known(&space.name).ok_or_else(|| Error::SpaceName { name: space.name.clone() })
    }

    fn snapshot(&self) -> Result<PostgresSnapshot, Error> {
        let position = self.position.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ticket = self.ages.open(Some(self.settings.snapshot_age));
        let age = self.settings.snapshot_age;
        PostgresSnapshot::open(&self.link, position.as_deref(), self.tables(), self.numbers, ticket, age)
    }

    fn commit(&self, batch: Batch<Self>, durability: Durability) -> Result<(), Error> {
        self.commit_batch(batch, durability)
    }

    fn sync(&self) -> Result<(), Error> {
        if self.writer.is_none() {
            return Ok(());
        }
        // Whatever was committed before is in the log before this, and is on the disk with it.
        self.commit_nothing()
    }

    /// The same as [`sync`](Engine::sync): a server opens again by itself.
    fn checkpoint(&self, _: Duration) -> Result<(), Error> {
        self.sync()
    }

    /// Has the server vacuum and analyse every table. Readers and writers go on meanwhile, and the files keep their size.
    fn compact(&self) -> Result<(), Error> {
        self.writable()?;
        for table in self.tables().iter() {
            let text = format!("VACUUM (ANALYZE) {}", table.quoted);
            let done = self.link.block_on(async {
                let client = self.link.connection(&self.link.writes).await?;
                Ok::<(), Failure>(client.batch_execute(&text).await?)
            });
            done.map_err(|failure| failure.of("vacuuming"))?;
        }
        Ok(())
    }

    fn shutdown(&self, _: Duration) -> Result<(), Error> {
        let Some(writer) = &self.writer else { return Ok(()) };
        // A batch that is being committed is one of those that are made durable.
        let guard = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let already = self.closed.swap(true, Ordering::AcqRel);
        drop(guard);
        if already { Ok(()) } else { self.commit_nothing() }
    }

    fn ingest<I>(&self, space: SpaceId, rows: I) -> Result<u64, Error>
    where
        I: IntoIterator<Item = Result<(SharedBytes, SharedBytes), Error>>,
    {
        self.load(space, rows.into_iter())
    }

    /// Reads everything, and has the server check its indexes if it has the extension `amcheck`.
    fn verify(&mut self) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        for table in self.tables().iter() {
            if let Some(id) = self.known(&table.space.name) {
                snapshot.range(id, KeyRange::ALL)?.try_for_each(|row| row.map(drop))?;
            }
        }
        drop(snapshot);
        let checked = self.link.block_on(async {
            let client = self.link.connection(&self.link.reads).await?;
            let there = client.query_one("SELECT to_regproc('bt_index_check') IS NOT NULL", &[]).await?;
            if there.try_get::<_, bool>(0)? {
                for table in self.tables().iter() {
                    let text = format!(
                        "SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = '{}'::regclass",
                        table.quoted.replace('\'', "''")
                    );
                    client.batch_execute(&text).await?;
                }
            }
            Ok::<(), Failure>(())
        });
        checked.map_err(|failure| match failure {
            Failure::Refused(error) => Error::Corrupt {
                what: "an index is not that of its table".to_owned(),
                source: Some(error.into()),
            },
            other => other.of("checking the indexes"),
        })
    }

    fn statistics(&self) -> Statistics {
        let (open_snapshots, oldest_snapshot) = self.ages.oldest();
        let size = self.link.wait(async {
            let client = self.link.connection(&self.link.reads).await?;
            Ok(client.query_one(&self.layout.size, &[]).await?.try_get::<_, i64>(0)?)
        });
        let mut statistics = Statistics::default();
        statistics.open_snapshots = open_snapshots;
        statistics.oldest_snapshot = oldest_snapshot;
        statistics.disk_bytes = size.ok().and_then(|bytes| u64::try_from(bytes).ok());
        statistics
    }

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::per_open("batch_bytes", &self.settings.batch_bytes)]
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let Some(writer) = &self.writer else { return };
        let id = writer.lock().unwrap_or_else(PoisonError::into_inner).id;
        let (link, leave) = (self.link.clone(), self.layout.leave.clone());
        // The row says nothing any more. If it stays, nobody is harmed.
        drop(self.link.spawn(async move {
            if let Ok(client) = link.writes.get().await {
                let _ = client.execute(&leave, &[&id]).await;
            }
        }));
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(feature = "chains")]
impl keyplan_chains::cardano::StateEngine for Postgres {
    type Values = std::iter::Empty<Result<SharedBytes, Error>>;
}

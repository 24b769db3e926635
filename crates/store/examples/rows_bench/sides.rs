//! The same rows on each side.

use std::hint::black_box;
use std::path::Path;

use fjall::Readable as _;
use keyplan_lmdb::heed::types::Bytes;
use keyplan_lmdb::{Access, Environment, Options, Sync};
use keyplan_store::cache::{Cached as Above, MemoryBudget};
use keyplan_store::engine::{
    Batch, Durability, Engine as _, Fjall, FjallSettings, Snapshot as _, Space, SpaceId,
};
use redb::{Database, ReadableDatabase as _, TableDefinition};

use crate::Result;
use crate::work::{Change, Key, key, sorted, value};

/// Somewhere that rows are read from and written to.
pub(crate) trait Side {
    /// Reads keys from one state.
    fn gets(&self, keys: &[Key]) -> Result<()>;
    /// Makes a change, without waiting for the disk.
    fn commit(&self, change: &Change) -> Result<()>;
}

/// Fjall below a row cache: a quarter of the budget is for blocks.
pub(crate) struct Cached {
    engine: Above<Fjall>,
    space: SpaceId,
}

/// Fjall by hand, with the whole budget for blocks.
pub(crate) struct RawFjall {
    database: fjall::Database,
    rows: fjall::Keyspace,
}

/// LMDB by hand.
pub(crate) struct RawLmdb {
    environment: Environment,
    rows: keyplan_lmdb::heed::Database<Bytes, Bytes>,
}

/// Redb by hand.
pub(crate) struct RawRedb {
    database: Database,
}

const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows");

fn empty(directory: &Path, name: &str) -> Result<std::path::PathBuf> {
    let path = directory.join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// Ingests the rows, sorted, and compacts them: both sides on fjall begin with the same tables.
fn fill_fjall(path: &Path, rows: u64) -> Result<()> {
    let mut engine = Fjall::open(path, FjallSettings::default())?;
    let space = engine.create_space(&Space::map("rows"))?;
    let all = sorted(rows);
    engine.ingest(
        space,
        all.iter().map(|(key, number)| Ok((key.as_slice().into(), value(*number).as_slice().into()))),
    )?;
    engine.compact()?;
    engine.shutdown(std::time::Duration::from_mins(1))?;
    Ok(())
}

impl Cached {
    pub(crate) fn fill(directory: &Path, rows: u64, budget: u64) -> Result<Self> {
        let path = empty(directory, "cached")?;
        fill_fjall(&path, rows)?;
        let divided = MemoryBudget::of(budget);
        let mut settings = FjallSettings::default();
        settings.cache_bytes = divided.blocks;
        let engine = Above::new(Fjall::open(&path, settings)?, divided.rows);
        let space = engine.space("rows").ok_or("the rows are not there")?;
        Ok(Self { engine, space })
    }
}

impl Side for Cached {
    fn gets(&self, keys: &[Key]) -> Result<()> {
        let view = self.engine.snapshot()?;
        for key in keys {
            black_box(view.get(self.space, key)?.is_some());
        }
        Ok(())
    }

    fn commit(&self, change: &Change) -> Result<()> {
        let mut batch = Batch::new();
        for number in &change.put {
            batch.put_row(self.space, &key(*number), &value(*number));
        }
        for number in &change.delete {
            batch.delete(self.space, key(*number).as_slice());
        }
        Ok(self.engine.commit(batch, Durability::Buffer)?)
    }
}

impl RawFjall {
    pub(crate) fn fill(directory: &Path, rows: u64, budget: u64) -> Result<Self> {
        let path = empty(directory, "fjall")?;
        fill_fjall(&path, rows)?;
        let ours = FjallSettings::default();
        let database = fjall::Database::builder(&path)
            .cache_size(budget)
            .max_journaling_size(ours.journal_bytes)
            .worker_threads(ours.workers)
            .open()?;
        let rows = database.keyspace("rows", fjall::KeyspaceCreateOptions::default)?;
        Ok(Self { database, rows })
    }
}

impl Side for RawFjall {
    fn gets(&self, keys: &[Key]) -> Result<()> {
        let view = self.database.snapshot();
        for key in keys {
            black_box(view.get(&self.rows, key)?.is_some());
        }
        Ok(())
    }

    fn commit(&self, change: &Change) -> Result<()> {
        let mut batch = self.database.batch();
        for number in &change.put {
            batch.insert(&self.rows, key(*number), value(*number));
        }
        for number in &change.delete {
            batch.remove(&self.rows, key(*number));
        }
        Ok(batch.commit()?)
    }
}

impl RawLmdb {
    pub(crate) fn fill(directory: &Path, rows: u64) -> Result<Self> {
        let path = empty(directory, "lmdb")?;
        let options = Options {
            map_bytes: Some(64 << 30),
            least_map_bytes: 64 << 30,
            readers: 16,
            databases: 2,
            sync: Sync::None,
            access: Access::Write,
            verify: false,
        };
        let environment = Environment::open(&path, &options).map_err(|refused| format!("{refused:?}"))?;
        let all = sorted(rows);
        let rows = environment.with(|env| -> Result<_> {
            let mut write = env.write_txn()?;
            let made = env.create_database::<Bytes, Bytes>(&mut write, Some("rows"))?;
            for (key, number) in &all {
                made.put(&mut write, key, &value(*number))?;
            }
            write.commit()?;
            Ok(made)
        })?;
        Ok(Self { environment, rows })
    }
}

impl Side for RawLmdb {
    fn gets(&self, keys: &[Key]) -> Result<()> {
        let view = self.environment.read()?;
        for key in keys {
            black_box(self.rows.get(view.transaction(), key)?.is_some());
        }
        Ok(())
    }

    fn commit(&self, change: &Change) -> Result<()> {
        self.environment.write(|write, _| -> std::result::Result<(), keyplan_lmdb::heed::Error> {
            for number in &change.put {
                self.rows.put(write, &key(*number), &value(*number))?;
            }
            for number in &change.delete {
                self.rows.delete(write, &key(*number))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl RawRedb {
    pub(crate) fn fill(directory: &Path, rows: u64, budget: u64) -> Result<Self> {
        let path = empty(directory, "redb")?;
        let mut builder = Database::builder();
        builder.set_cache_size(usize::try_from(budget)?);
        let database = builder.create(path.join("rows"))?;
        let all = sorted(rows);
        let write = database.begin_write()?;
        {
            let mut table = write.open_table(ROWS)?;
            for (key, number) in &all {
                table.insert(key.as_slice(), value(*number).as_slice())?;
            }
        }
        write.commit()?;
        Ok(Self { database })
    }
}

impl Side for RawRedb {
    fn gets(&self, keys: &[Key]) -> Result<()> {
        let table = self.database.begin_read()?.open_table(ROWS)?;
        for key in keys {
            black_box(table.get(key.as_slice())?.is_some());
        }
        Ok(())
    }

    fn commit(&self, change: &Change) -> Result<()> {
        let mut write = self.database.begin_write()?;
        write.set_durability(redb::Durability::None)?;
        {
            let mut table = write.open_table(ROWS)?;
            for number in &change.put {
                table.insert(key(*number).as_slice(), value(*number).as_slice())?;
            }
            for number in &change.delete {
                table.remove(key(*number).as_slice())?;
            }
        }
        Ok(write.commit()?)
    }
}

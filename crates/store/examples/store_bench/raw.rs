use std::hint::black_box;
use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use keyplan_store::engine::FjallSettings;

use crate::cpu::{self, Span};
use crate::data::{self, Step};
use crate::{Figures, Result};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settings {
    Default,
    Ours,
}

pub(crate) struct Raw {
    pub(crate) database: Database,
    pub(crate) cursor: Keyspace,
    pub(crate) utxos: Keyspace,
    pub(crate) entities: Keyspace,
}

pub(crate) fn raw(directory: &Path, settings: Settings) -> Result<Raw> {
    let mut builder = Database::builder(directory);
    if settings == Settings::Ours {
        let ours = FjallSettings::default();
        builder = builder
            .cache_size(ours.cache_bytes)
            .max_journaling_size(ours.journal_bytes)
            .worker_threads(ours.workers);
    }
    let database = builder.open()?;
    let [cursor, utxos, entities] = data::SPACES;
    let open = |name| database.keyspace(name, KeyspaceCreateOptions::default);
    Ok(Raw { cursor: open(cursor)?, utxos: open(utxos)?, entities: open(entities)?, database })
}

pub(crate) fn commit(raw: &Raw, step: Step) -> Result<()> {
    let mut batch = raw.database.batch();
    for (key, value) in step.produced {
        batch.insert(&raw.utxos, key, value);
    }
    for key in step.consumed {
        batch.remove(&raw.utxos, key);
    }
    for (key, value) in step.entities {
        batch.insert(&raw.entities, key, value);
    }
    batch.insert(&raw.cursor, [0], step.cursor);
    Ok(batch.commit()?)
}

/// An import in batches, and the database that it leaves.
pub(crate) fn batched(directory: &Path, rows: u64) -> Result<(Raw, Figures)> {
    let raw = raw(directory, Settings::Default)?;
    let mut figures = data::measured(rows, |step| commit(&raw, step))?;
    figures.insert("rss_mib".into(), cpu::memory()?);
    figures.insert("disk_mib".into(), cpu::disk(directory)?);
    Ok((raw, figures))
}

/// The same, and then the entities that are scanned.
pub(crate) fn import(directory: &Path, rows: u64) -> Result<Figures> {
    let (raw, figures) = batched(directory, rows)?;
    for first in (0..rows / 2).step_by(5_000) {
        let mut batch = raw.database.batch();
        for n in first..first + 5_000 {
            batch.insert(&raw.entities, data::entity_key(n), data::entity_value(n));
        }
        batch.commit()?;
    }
    Ok(figures)
}

pub(crate) fn open(directory: &Path, rows: u64) -> Result<Figures> {
    let filled = raw(directory, Settings::Default)?;
    data::steps(rows).try_for_each(|step| commit(&filled, step))?;
    let close = Span::begin();
    drop(filled);
    let closed = close.wall();
    let mut figures = reopen(directory)?;
    let open = figures.get("open_s").copied().unwrap_or_default();
    figures.insert("close_and_open_s".into(), closed + open);
    figures.insert("closed_disk_mib".into(), cpu::disk(directory)?);
    Ok(figures)
}

pub(crate) fn reopen(directory: &Path) -> Result<Figures> {
    let span = Span::begin();
    let raw = raw(directory, Settings::Default)?;
    let figures = Figures::from([("open_s".into(), span.wall()), ("open_cpu_s".into(), span.process())]);
    black_box(&raw.database);
    Ok(figures)
}

pub(crate) fn fill_and_abort(directory: &Path, rows: u64) -> Result<Figures> {
    let raw = raw(directory, Settings::Default)?;
    data::steps(rows).try_for_each(|step| commit(&raw, step))?;
    std::process::abort()
}

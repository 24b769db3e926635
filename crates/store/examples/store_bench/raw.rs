use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, Readable as _};
use keyplan_store::engine::FjallSettings;

use crate::cpu::{self, Span};
use crate::data::{self, Step};
use crate::{Figures, Result};

/// How long the writer and the reader run beside each other.
pub(crate) const MIXED: Duration = Duration::from_secs(6);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settings {
    Default,
    Ours,
}

struct Raw {
    database: Database,
    cursor: Keyspace,
    utxos: Keyspace,
    entities: Keyspace,
}

fn raw(directory: &Path, settings: Settings) -> Result<Raw> {
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

fn commit(raw: &Raw, step: Step) -> Result<()> {
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

pub(crate) fn import(directory: &Path, rows: u64) -> Result<Figures> {
    let raw = raw(directory, Settings::Default)?;
    let mut figures = data::measured(rows, |step| commit(&raw, step))?;
    figures.insert("rss_mib".into(), cpu::memory()?);
    figures.insert("disk_mib".into(), cpu::disk(directory)?);
    for first in (0..rows / 2).step_by(5_000) {
        let mut batch = raw.database.batch();
        for n in first..first + 5_000 {
            batch.insert(&raw.entities, data::entity_key(n), data::entity_value(n));
        }
        batch.commit()?;
    }
    Ok(figures)
}

/// Times random lookups: hits, then misses; a pass before each warms the cache.
pub(crate) fn timed(
    rows: u64,
    figures: &mut Figures,
    mut get: impl FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    for pass in 0..3 {
        let numbers: Vec<u64> = data::lookups(rows, pass).take(100_000).collect();
        let span = Span::begin()?;
        for &n in &numbers {
            if !get(&data::utxo_key(n))? {
                return Err(format!("output {n} is missing").into());
            }
        }
        figures.insert("hit_us".into(), span.thread()? * 1e6 / 100_000.0);
        let span = Span::begin()?;
        for &n in &numbers {
            if get(&data::missing_key(n))? {
                return Err(format!("output {n} should be missing").into());
            }
        }
        figures.insert("miss_us".into(), span.thread()? * 1e6 / 100_000.0);
    }
    Ok(())
}

pub(crate) fn reads(directory: &Path, rows: u64, settings: Settings) -> Result<Figures> {
    let raw = raw(directory, settings)?;
    let snapshot = raw.database.snapshot();
    let mut figures = Figures::new();
    timed(rows, &mut figures, |key| Ok(black_box(snapshot.get(&raw.utxos, key)?).is_some()))?;
    let keys: Vec<u64> = data::lookups(rows, 4).take(100_000).collect();
    let span = Span::begin()?;
    for group in keys.chunks(10) {
        let mut found = Vec::with_capacity(10);
        for &n in group {
            found.push(snapshot.get(&raw.utxos, data::utxo_key(n))?);
        }
        black_box(found);
    }
    figures.insert("ten_us".into(), span.thread()? * 1e6 / 10_000.0);
    let span = Span::begin()?;
    for &n in &keys {
        black_box(raw.database.snapshot().get(&raw.utxos, data::utxo_key(n))?);
    }
    figures.insert("fresh_us".into(), span.thread()? * 1e6 / 100_000.0);
    Ok(figures)
}

pub(crate) fn scan(directory: &Path, settings: Settings) -> Result<Figures> {
    let raw = raw(directory, settings)?;
    let snapshot = raw.database.snapshot();
    let mut figures = Figures::new();
    for pass in 0..2 {
        for (name, rows) in [
            ("utxos_ns", snapshot.iter(&raw.utxos)),
            ("entities_ns", snapshot.prefix(&raw.entities, data::NAMESPACE.to_be_bytes())),
        ] {
            let span = Span::begin()?;
            let (mut count, mut sum) = (0_u32, 0_usize);
            for row in rows {
                let (key, value) = row.into_inner()?;
                sum += key.len() + value.len();
                count += 1;
            }
            black_box(sum);
            if pass == 1 {
                figures.insert(name.into(), span.thread()? * 1e9 / f64::from(count));
            }
        }
    }
    Ok(figures)
}

pub(crate) fn open(directory: &Path, rows: u64) -> Result<Figures> {
    let filled = raw(directory, Settings::Default)?;
    data::steps(rows).try_for_each(|step| commit(&filled, step))?;
    let close = Span::begin()?;
    drop(filled);
    let closed = close.wall();
    let mut figures = reopen(directory)?;
    let open = figures.get("open_s").copied().unwrap_or_default();
    figures.insert("close_and_open_s".into(), closed + open);
    figures.insert("closed_disk_mib".into(), cpu::disk(directory)?);
    Ok(figures)
}

pub(crate) fn reopen(directory: &Path) -> Result<Figures> {
    let span = Span::begin()?;
    let raw = raw(directory, Settings::Default)?;
    let figures = Figures::from([("open_s".into(), span.wall()), ("open_cpu_s".into(), span.process()?)]);
    black_box(&raw.database);
    Ok(figures)
}

pub(crate) fn fill_and_abort(directory: &Path, rows: u64) -> Result<Figures> {
    let raw = raw(directory, Settings::Default)?;
    data::steps(rows).try_for_each(|step| commit(&raw, step))?;
    std::process::abort()
}

/// Microseconds for a commit of 500 rows, and for a read, of those that were done beside each other.
pub(crate) fn rates(writes: u32, writing: f64, reads: u64, reading: f64) -> Result<Figures> {
    let per = |time: f64, count: u32| time * 1e6 / f64::from(count.max(1));
    let reads = per(reading, u32::try_from(reads)?);
    Ok(Figures::from([("write_us".into(), per(writing, writes)), ("read_us".into(), reads)]))
}

pub(crate) fn mixed(directory: &Path, rows: u64) -> Result<Figures> {
    let rows = rows / 4;
    let raw = raw(directory, Settings::Ours)?;
    data::steps(rows).try_for_each(|step| commit(&raw, step))?;
    for keyspace in [&raw.cursor, &raw.utxos, &raw.entities] {
        keyspace.rotate_memtable_and_wait()?;
    }
    let (done, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut writes, mut reading) = (0_u32, 0.0);
    let span = Span::begin()?;
    std::thread::scope(|scope| -> Result<()> {
        let reader = scope.spawn(|| -> std::result::Result<f64, String> {
            let span = Span::begin().map_err(|error| error.to_string())?;
            let mut numbers = data::lookups(rows, 9);
            while !done.load(Ordering::Relaxed) {
                let snapshot = raw.database.snapshot();
                for n in numbers.by_ref().take(100) {
                    let found = snapshot.get(&raw.utxos, data::utxo_key(n));
                    black_box(found.map_err(|error| error.to_string())?);
                }
                reads.fetch_add(100, Ordering::Relaxed);
            }
            span.own().map_err(|error| error.to_string())
        });
        let until = Instant::now() + MIXED;
        while Instant::now() < until {
            let first = rows + u64::from(writes) * 400;
            let mut batch = raw.database.batch();
            for n in first..first + 400 {
                batch.insert(&raw.utxos, data::utxo_key(n), data::utxo_value(n));
            }
            for n in 0..100 {
                batch.remove(&raw.utxos, data::utxo_key((u64::from(writes) * 100 + n) * 10));
            }
            batch.insert(&raw.cursor, [0], first.to_be_bytes());
            batch.commit()?;
            writes += 1;
        }
        done.store(true, Ordering::Relaxed);
        reading = reader.join().map_err(|_| "the reader failed")??;
        Ok(())
    })?;
    rates(writes, span.own()?, reads.into_inner(), reading)
}

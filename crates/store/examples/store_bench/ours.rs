use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use keyplan_store::engine::{Batch, Durability, Engine as _, Fjall, FjallSettings, KeyRange, SpaceId};
use keyplan_store::{BulkLoad, BulkOptions, Schema, Store};

use crate::cpu::{self, Span};
use crate::data::{self, Step};
use crate::{Figures, Result};

pub(crate) const SHUTDOWN: Duration = Duration::from_secs(60);

pub(crate) fn store(directory: &Path) -> Result<Store<Fjall>> {
    let compiled = keyplan_plan::compile("bench.keyplan", data::PLAN, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan does not compile")?;
    Ok(Store::open_or_create(Fjall::open(directory, FjallSettings::default())?, &schema)?)
}

fn spaces(store: &Store<Fjall>) -> Result<[SpaceId; 3]> {
    let [cursor, utxos, entities] = data::SPACES;
    Ok([store.space(cursor)?, store.space(utxos)?, store.space(entities)?])
}

fn commit(store: &Store<Fjall>, [cursor, utxos, entities]: [SpaceId; 3], step: Step) -> Result<()> {
    let mut batch = Batch::with_capacity(step.produced.len() + step.consumed.len() + step.entities.len() + 1);
    for (key, value) in step.produced {
        batch.put(utxos, &key[..], value);
    }
    for key in step.consumed {
        batch.delete(utxos, &key[..]);
    }
    for (key, value) in step.entities {
        batch.put(entities, &key[..], &value[..]);
    }
    batch.put(cursor, &[0][..], &step.cursor[..]);
    Ok(store.commit(batch, Durability::Buffer)?)
}

pub(crate) fn import(directory: &Path, rows: u64) -> Result<Figures> {
    let store = store(directory)?;
    let ids = spaces(&store)?;
    let mut figures = data::measured(rows, |step| commit(&store, ids, step))?;
    figures.insert("rss_mib".into(), cpu::memory()?);
    let statistics = store.engine().statistics();
    figures.insert("paced_s".into(), statistics.paced_time.as_secs_f64());
    figures.insert("stalled".into(), f64::from(u32::try_from(statistics.stalled_commits)?));
    figures.insert("disk_mib".into(), cpu::disk(directory)?);
    let [_, _, entities] = ids;
    for first in (0..rows / 2).step_by(5_000) {
        let mut batch = Batch::with_capacity(5_000);
        for n in first..first + 5_000 {
            batch.put(entities, &data::entity_key(n)[..], &data::entity_value(n)[..]);
        }
        store.commit(batch, Durability::Buffer)?;
    }
    store.shutdown(SHUTDOWN)?;
    Ok(figures)
}

pub(crate) fn reads(directory: &Path, rows: u64) -> Result<Figures> {
    let store = store(directory)?;
    let [_, utxos, _] = spaces(&store)?;
    let snapshot = store.snapshot()?;
    let mut figures = Figures::new();
    crate::raw::timed(rows, &mut figures, |key| Ok(black_box(snapshot.get(utxos, key)?).is_some()))?;
    let keys: Vec<u64> = data::lookups(rows, 4).take(100_000).collect();
    let span = Span::begin()?;
    for group in keys.chunks(10) {
        let group: Vec<[u8; 36]> = group.iter().map(|&n| data::utxo_key(n)).collect();
        black_box(snapshot.multi_get(utxos, &group)?);
    }
    figures.insert("ten_us".into(), span.thread()? * 1e6 / 10_000.0);
    let span = Span::begin()?;
    for &n in &keys {
        black_box(store.snapshot()?.get(utxos, &data::utxo_key(n))?);
    }
    figures.insert("fresh_us".into(), span.thread()? * 1e6 / 100_000.0);
    Ok(figures)
}

pub(crate) fn scan(directory: &Path, _: u64) -> Result<Figures> {
    let store = store(directory)?;
    let [_, utxos, entities] = spaces(&store)?;
    let snapshot = store.snapshot()?;
    let mut figures = Figures::new();
    for pass in 0..2 {
        for (name, range) in [
            ("utxos_ns", snapshot.range(utxos, KeyRange::ALL)?),
            ("entities_ns", snapshot.prefix(entities, &data::NAMESPACE.to_be_bytes())?),
        ] {
            let span = Span::begin()?;
            let (mut count, mut sum) = (0_u32, 0_usize);
            for row in range {
                let (key, value) = row?;
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
    let filled = store(directory)?;
    let ids = spaces(&filled)?;
    data::steps(rows).try_for_each(|step| commit(&filled, ids, step))?;
    let close = Span::begin()?;
    filled.shutdown(SHUTDOWN)?;
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
    let store = store(directory)?;
    let figures = Figures::from([("open_s".into(), span.wall()), ("open_cpu_s".into(), span.process()?)]);
    black_box(&store);
    Ok(figures)
}

pub(crate) fn fill_and_abort(directory: &Path, rows: u64) -> Result<Figures> {
    let store = store(directory)?;
    let ids = spaces(&store)?;
    data::steps(rows).try_for_each(|step| commit(&store, ids, step))?;
    std::process::abort()
}

pub(crate) fn bulk(directory: &Path, rows: u64) -> Result<Figures> {
    let store = store(directory)?;
    let [cursor, utxos, entities] = spaces(&store)?;
    let mut options = BulkOptions::default();
    options.duplicates = keyplan_store::Duplicates::KeepLast;
    let mut load = BulkLoad::new(&store, options)?;
    let mut last = Batch::new();
    // Making the rows is left out. Until the end this thread alone works.
    let mut pushing = std::time::Duration::ZERO;
    for step in data::steps(rows) {
        let begun = cpu::thread()?;
        for (key, value) in &step.produced {
            load.push(utxos, key, value)?;
        }
        for (key, value) in &step.entities {
            load.push(entities, key, value)?;
        }
        last.put(cursor, &[0][..], &step.cursor[..]);
        pushing += cpu::thread()?.saturating_sub(begun);
    }
    let span = Span::begin()?;
    load.finish(last, |_| ())?;
    let mut figures = Figures::from([
        ("process_cpu_s".into(), pushing.as_secs_f64() + span.process()?),
        ("rss_mib".into(), cpu::memory()?),
    ]);
    store.shutdown(SHUTDOWN)?;
    drop(store);
    figures.insert("disk_mib".into(), cpu::disk(directory)?);
    Ok(figures)
}

pub(crate) fn mixed(directory: &Path, rows: u64) -> Result<Figures> {
    let rows = rows / 4;
    let store = store(directory)?;
    let ids = spaces(&store)?;
    data::steps(rows).try_for_each(|step| commit(&store, ids, step))?;
    store.engine().checkpoint(SHUTDOWN)?;
    let [cursor, utxos, _] = ids;
    let (done, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut writes, mut reading) = (0_u32, 0.0);
    let span = Span::begin()?;
    std::thread::scope(|scope| -> Result<()> {
        let reader = scope.spawn(|| -> std::result::Result<f64, String> {
            let span = Span::begin().map_err(|error| error.to_string())?;
            let mut numbers = data::lookups(rows, 9);
            while !done.load(Ordering::Relaxed) {
                let snapshot = store.snapshot().map_err(|error| error.to_string())?;
                for n in numbers.by_ref().take(100) {
                    let found = snapshot.get(utxos, &data::utxo_key(n)).map_err(|error| error.to_string())?;
                    black_box(found);
                }
                reads.fetch_add(100, Ordering::Relaxed);
            }
            span.own().map_err(|error| error.to_string())
        });
        let until = Instant::now() + crate::raw::MIXED;
        while Instant::now() < until {
            let first = rows + u64::from(writes) * 400;
            let mut batch = Batch::with_capacity(501);
            for n in first..first + 400 {
                batch.put(utxos, &data::utxo_key(n)[..], data::utxo_value(n));
            }
            for n in 0..100 {
                batch.delete(utxos, &data::utxo_key((u64::from(writes) * 100 + n) * 10)[..]);
            }
            batch.put(cursor, &[0][..], &first.to_be_bytes()[..]);
            store.commit(batch, Durability::Buffer)?;
            writes += 1;
        }
        done.store(true, Ordering::Relaxed);
        reading = reader.join().map_err(|_| "the reader failed")??;
        Ok(())
    })?;
    crate::raw::rates(writes, span.own()?, reads.into_inner(), reading)
}

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use keyplan_store::engine::{Batch, Durability, Engine as _, Fjall, FjallSettings, SpaceId};
use keyplan_store::{BulkLoad, BulkOptions, Schema, Store};

use crate::cpu::{self, Span};
use crate::data::{self, Step};
use crate::{Figures, Result};

pub(crate) const SHUTDOWN: Duration = Duration::from_mins(1);

pub(crate) fn store(directory: &Path) -> Result<Store<Fjall>> {
    let compiled = keyplan_plan::compile("bench.keyplan", data::PLAN, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan does not compile")?;
    Ok(Store::open_or_create(Fjall::open(directory, FjallSettings::default())?, &schema)?)
}

pub(crate) fn spaces(store: &Store<Fjall>) -> Result<[SpaceId; 3]> {
    let [cursor, utxos, entities] = data::SPACES;
    Ok([store.space(cursor)?, store.space(utxos)?, store.space(entities)?])
}

pub(crate) fn commit(
    store: &Store<Fjall>,
    [cursor, utxos, entities]: [SpaceId; 3],
    step: Step,
) -> Result<()> {
    let mut batch = Batch::with_capacity(step.produced.len() + step.consumed.len() + step.entities.len() + 1);
    for (key, value) in step.produced {
        batch.put_row(utxos, &key[..], &value);
    }
    for key in step.consumed {
        batch.delete(utxos, &key[..]);
    }
    for (key, value) in step.entities {
        batch.put_row(entities, &key[..], &value[..]);
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

pub(crate) fn open(directory: &Path, rows: u64) -> Result<Figures> {
    let filled = store(directory)?;
    let ids = spaces(&filled)?;
    data::steps(rows).try_for_each(|step| commit(&filled, ids, step))?;
    let close = Span::begin();
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
    let span = Span::begin();
    let store = store(directory)?;
    let figures = Figures::from([("open_s".into(), span.wall()), ("open_cpu_s".into(), span.process())]);
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
    // Making the rows is left out. Until the end only this thread works.
    let mut pushing = std::time::Duration::ZERO;
    for step in data::steps(rows) {
        let begun = cpu::thread();
        for (key, value) in &step.produced {
            load.push(utxos, key, value)?;
        }
        for (key, value) in &step.entities {
            load.push(entities, key, value)?;
        }
        last.put(cursor, &[0][..], &step.cursor[..]);
        pushing += cpu::thread().saturating_sub(begun);
    }
    let span = Span::begin();
    load.finish(last, |_| ())?;
    let mut figures = Figures::from([
        ("process_cpu_s".into(), pushing.as_secs_f64() + span.process()),
        ("rss_mib".into(), cpu::memory()?),
    ]);
    store.shutdown(SHUTDOWN)?;
    drop(store);
    figures.insert("disk_mib".into(), cpu::disk(directory)?);
    Ok(figures)
}

//! What a get and a scan cost in databases of different sizes. The work is a process of its own that is counted from
//! outside: the difference between two counts of passes is what a pass costs.

use std::hint::black_box;
use std::path::Path;

use keyplan_store::engine::{Batch, KeyRange};
use keyplan_store::{BulkLoad, BulkOptions};

use crate::{Figures, Result, data, ours};

/// Rows that a pass reads.
pub(crate) const READ: u64 = 2_000;

/// `fill` makes a database of so many rows; `get` and `scan` read the same rows of it `passes` times, the first time into
/// the cache.
pub(crate) fn work(what: &str, base: &Path, rows: u64, passes: u64) -> Result<Figures> {
    let directory = base.join(format!("growth-{rows}"));
    if what == "fill" {
        fill(&directory, rows)?;
        return Ok(Figures::new());
    }
    let store = ours::store(&directory)?;
    let utxos = store.space(data::UTXOS)?;
    let snapshot = store.snapshot()?;
    let keys: Vec<[u8; 36]> = (0..READ).map(|n| data::utxo_key(data::mix(n) % rows)).collect();
    let first = keys.first().copied().unwrap_or([0; 36]);
    for _ in 0..passes {
        if what == "get" {
            for key in &keys {
                black_box(snapshot.get(utxos, key)?.ok_or("a row is missing")?);
            }
        } else {
            let from = KeyRange { start: std::ops::Bound::Included(&first[..]), ..KeyRange::ALL };
            for row in snapshot.range(utxos, from)?.take(usize::try_from(READ)?) {
                black_box(row?);
            }
        }
    }
    Ok(Figures::new())
}

fn fill(directory: &Path, rows: u64) -> Result<()> {
    if directory.exists() {
        std::fs::remove_dir_all(directory)?;
    }
    let store = ours::store(directory)?;
    let utxos = store.space(data::UTXOS)?;
    let mut load = BulkLoad::new(&store, BulkOptions::default())?;
    for n in 0..rows {
        load.push(utxos, &data::utxo_key(n), &data::utxo_value(n))?;
    }
    load.finish(Batch::new(), |_| ())?;
    Ok(store.shutdown(ours::SHUTDOWN)?)
}

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fjall::Readable as _;
use keyplan_store::engine::{Batch, Durability, Engine as _};

use crate::turns::median;
use crate::{Figures, Result, cpu, data, ours, raw};

/// How long a burst is: at this pace two memtables are filled in each, and what is compacted after them is part of it.
const BURST: Duration = Duration::from_secs(5);
const BURSTS: u32 = 12;

/// One writer of 500-row batches beside one reader of snapshots: ours, and by hand with our settings, in turns.
pub(crate) fn mixed(directories: [&Path; 2], rows: u64) -> Result<Figures> {
    let rows = rows / 4;
    let [ours_in, raw_in] = directories;
    let store = ours::store(ours_in)?;
    let ids = ours::spaces(&store)?;
    data::steps(rows).try_for_each(|step| ours::commit(&store, ids, step))?;
    store.engine().checkpoint(ours::SHUTDOWN)?;
    let raw = raw::raw(raw_in, raw::Settings::Ours)?;
    data::steps(rows).try_for_each(|step| raw::commit(&raw, step))?;
    for keyspace in [&raw.cursor, &raw.utxos, &raw.entities] {
        keyspace.rotate_memtable_and_wait()?;
    }

    let [cursor, utxos, _] = ids;
    let mut mine = Side::default();
    let mut theirs = Side::default();
    for turn in 0..2 * BURSTS {
        // Ours comes second, then first, and so on.
        if matches!(turn % 4, 1 | 2) {
            burst(
                &mut mine,
                rows,
                |change| {
                    let mut batch = Batch::with_capacity(501);
                    for n in change.produced() {
                        batch.put_row(utxos, &data::utxo_key(n), &data::utxo_value(n));
                    }
                    for n in change.consumed() {
                        batch.delete(utxos, &data::utxo_key(n)[..]);
                    }
                    batch.put(cursor, &[0][..], &change.number.to_be_bytes()[..]);
                    Ok(store.commit(batch, Durability::Buffer)?)
                },
                |numbers| {
                    let view = store.snapshot()?;
                    for n in numbers {
                        black_box(view.get(utxos, &data::utxo_key(n))?);
                    }
                    Ok(())
                },
            )?;
        } else {
            burst(
                &mut theirs,
                rows,
                |change| {
                    let mut batch = raw.database.batch();
                    for n in change.produced() {
                        batch.insert(&raw.utxos, data::utxo_key(n), data::utxo_value(n));
                    }
                    for n in change.consumed() {
                        batch.remove(&raw.utxos, data::utxo_key(n));
                    }
                    batch.insert(&raw.cursor, [0], change.number.to_be_bytes());
                    Ok(batch.commit()?)
                },
                |numbers| {
                    let view = raw.database.snapshot();
                    for n in numbers {
                        black_box(view.get(&raw.utxos, data::utxo_key(n))?);
                    }
                    Ok(())
                },
            )?;
        }
    }
    let figures = [("ours", mine), ("raw", theirs)].into_iter().flat_map(|(name, side)| {
        let [writes, reads] = [side.write_us, side.read_us].map(median);
        [(format!("{name}.write_us"), writes), (format!("{name}.read_us"), reads)]
    });
    Ok(figures.collect())
}

/// What a side has done so far, and what one of each cost in every burst.
#[derive(Default)]
struct Side {
    writes: u64,
    write_us: Vec<f64>,
    read_us: Vec<f64>,
}

/// A batch of 400 new outputs, and 100 that are spent.
struct Change {
    number: u64,
    rows: u64,
}

impl Change {
    fn produced(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.rows + self.number * 400;
        first..first + 400
    }

    fn consumed(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.number * 100;
        (first..first + 100).map(|n| n * 10)
    }
}

/// Runs a writer and a reader beside each other for a while.
fn burst(
    side: &mut Side,
    rows: u64,
    mut write: impl FnMut(Change) -> Result<()>,
    read: impl Fn(Vec<u64>) -> Result<()> + Sync,
) -> Result<()> {
    cpu::settle();
    let done = AtomicBool::new(false);
    let begun = Instant::now();
    let earlier = side.writes;
    let reads = std::thread::scope(|scope| -> Result<u64> {
        let reader = scope.spawn(|| -> std::result::Result<u64, String> {
            let mut numbers = data::lookups(rows, earlier);
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                read(numbers.by_ref().take(100).collect()).map_err(|error| error.to_string())?;
                reads += 100;
            }
            Ok(reads)
        });
        let written = (|| {
            while begun.elapsed() < BURST {
                write(Change { number: side.writes, rows })?;
                side.writes += 1;
            }
            Ok(())
        })();
        done.store(true, Ordering::Relaxed);
        let reads = reader.join().map_err(|_| "the reader failed")??;
        written.map(|()| reads)
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let each = |count: u64| -> Result<f64> { Ok(seconds * 1e6 / f64::from(u32::try_from(count)?)) };
    side.write_us.push(each(side.writes - earlier)?);
    side.read_us.push(each(reads)?);
    Ok(())
}

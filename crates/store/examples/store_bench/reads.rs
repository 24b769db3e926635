use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fjall::Readable as _;
use keyplan_store::engine::{Fjall, KeyRange, RowRange};
use keyplan_store::{Direction, Store};

use crate::raw::{self, Raw, Settings};
use crate::turns::{Bursts, Side, turns};
use crate::{Figures, Result, cpu, data, ours};

type Keys = Vec<[u8; 36]>;

/// Lookups in a burst.
const GETS: u32 = 5_000;
/// Rows in a burst of a scan.
const ROWS: u32 = 10_000;

/// The caches are warm by then.
const WARM: Bursts = Bursts { warm: 1, timed: 40 };

/// Opens what the imports have left: ours, what was written by hand, and our files once more.
fn open(base: &Path) -> Result<(Store<Fjall>, Raw, Raw)> {
    let store = ours::store(&base.join("ours"))?;
    // Opening begins what compaction was left. Files are copied, and read, when that is done: else one side has more of
    // them to look at than the other.
    cpu::settle();
    let same = raw::raw(&copy(base)?, Settings::Ours)?;
    let raw = raw::raw(&base.join("raw"), Settings::Default)?;
    cpu::settle();
    Ok((store, raw, same))
}

/// Random lookups by three sides in turns: ours; by hand on a database that was written by hand with the engine's
/// defaults; by hand on our files with our settings.
pub(crate) fn reads(base: &Path, rows: u64) -> Result<Figures> {
    let (store, raw, same) = open(base)?;
    let [_, utxos, _] = ours::spaces(&store)?;
    let (view, raw_view, same_view) = (store.snapshot()?, raw.database.snapshot(), same.database.snapshot());
    let mut figures = Figures::new();
    let micro = 1e6 / f64::from(GETS);
    // A block holds some twenty rows: once a quarter of all has been looked for, hardly a block has not been read.
    let many = Bursts { warm: usize::try_from(rows / 4 / u64::from(GETS))?, timed: 40 };

    for (figure, there, key) in
        [("hit_us", true, data::utxo_key as fn(u64) -> [u8; 36]), ("miss_us", false, data::missing_key)]
    {
        let mut numbers = data::lookups(rows, 1);
        let check = |found: bool| if found == there { Ok(()) } else { Err("a get that went wrong") };
        let costs = turns(
            many,
            || numbers.by_ref().take(GETS as usize).map(key).collect::<Vec<_>>(),
            [
                &mut |keys: &Keys| {
                    keys.iter().try_for_each(|key| Ok(check(black_box(view.get(utxos, key)?).is_some())?))
                },
                &mut |keys: &Keys| {
                    keys.iter()
                        .try_for_each(|key| Ok(check(black_box(same_view.get(&same.utxos, key)?).is_some())?))
                },
                &mut |keys: &Keys| {
                    keys.iter()
                        .try_for_each(|key| Ok(check(black_box(raw_view.get(&raw.utxos, key)?).is_some())?))
                },
            ],
        )?;
        record(&mut figures, (figure, micro), costs);
    }

    let mut numbers = data::lookups(rows, 2);
    let mut groups = || {
        let keys: Vec<_> = numbers.by_ref().take(GETS as usize).map(data::utxo_key).collect();
        keys.chunks(10).map(<[_]>::to_vec).collect::<Vec<_>>()
    };
    let ten = |view: &fjall::Snapshot, utxos: &fjall::Keyspace, group: &[[u8; 36]]| -> Result<()> {
        let mut found = Vec::with_capacity(group.len());
        for key in group {
            found.push(view.get(utxos, key)?);
        }
        black_box(found);
        Ok(())
    };
    let costs = turns(
        WARM,
        &mut groups,
        [
            &mut |groups: &Vec<Keys>| {
                groups.iter().try_for_each(|group| {
                    black_box(view.multi_get(utxos, group)?);
                    Ok(())
                })
            },
            &mut |groups: &Vec<Keys>| groups.iter().try_for_each(|group| ten(&same_view, &same.utxos, group)),
            &mut |groups: &Vec<Keys>| groups.iter().try_for_each(|group| ten(&raw_view, &raw.utxos, group)),
        ],
    )?;
    record(&mut figures, ("ten_us", micro * 10.0), costs);

    let mut numbers = data::lookups(rows, 3);
    let fresh = |raw: &raw::Raw, keys: &[[u8; 36]]| -> Result<()> {
        for key in keys {
            black_box(raw.database.snapshot().get(&raw.utxos, key)?);
        }
        Ok(())
    };
    let costs = turns(
        WARM,
        || numbers.by_ref().take(GETS as usize).map(data::utxo_key).collect::<Vec<_>>(),
        [
            &mut |keys: &Keys| {
                keys.iter().try_for_each(|key| {
                    black_box(store.snapshot()?.get(utxos, key)?);
                    Ok(())
                })
            },
            &mut |keys: &Keys| fresh(&same, keys),
            &mut |keys: &Keys| fresh(&raw, keys),
        ],
    )?;
    record(&mut figures, ("fresh_us", micro), costs);
    Ok(figures)
}

/// Keeps what a burst cost each side, multiplied by `unit`, under `side.figure`.
fn record(figures: &mut Figures, (figure, unit): (&str, f64), costs: [f64; 3]) {
    for (side, cost) in ["ours", "same", "raw"].into_iter().zip(costs) {
        figures.insert(format!("{side}.{figure}"), cost * unit);
    }
}

/// Scans by the same three sides in turns.
pub(crate) fn scan(base: &Path, rows: u64) -> Result<Figures> {
    let (store, raw, same) = open(base)?;
    let [_, utxos, entities] = ours::spaces(&store)?;
    let (view, raw_view, same_view) = (store.snapshot()?, raw.database.snapshot(), same.database.snapshot());
    let mut figures = Figures::new();
    // Nine of ten outputs are left, and ten of eleven of half as many entities are in one namespace. The first pass reads
    // everything into the caches.
    let all = [("utxos_ns", rows * 9 / 10), ("entities_ns", rows * 10 / 22)];
    for (figure, rows) in all.into_iter().flat_map(|figure| [figure, figure]) {
        let outputs = figure == "utxos_ns";
        let namespace = data::NAMESPACE.to_be_bytes();
        let mut mine =
            if outputs { view.range(utxos, KeyRange::ALL)? } else { view.prefix(entities, &namespace)? };
        let by_hand = |raw: &raw::Raw, view: &fjall::Snapshot| {
            if outputs { view.iter(&raw.utxos) } else { view.prefix(&raw.entities, namespace) }
        };
        let (mut theirs, mut same_rows) = (by_hand(&raw, &raw_view), by_hand(&same, &same_view));
        let bursts = usize::try_from(rows)? / ROWS as usize;
        let mut visit = |(): &()| {
            let (mut sum, mut left) = (0, ROWS);
            let visited = mine.visit(Direction::Ascending, |key, value| {
                sum += key.len() + value.len();
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            black_box(sum);
            if visited.is_break() { Ok(()) } else { Err("too few rows".into()) }
        };
        let bursts = Bursts { warm: 0, timed: bursts.saturating_sub(1).max(1) };
        let sides: [Side<'_, ()>; 3] =
            [&mut visit, &mut |()| burst(&mut same_rows), &mut |()| burst(&mut theirs)];
        record(&mut figures, (figure, 1e9 / f64::from(ROWS)), turns(bursts, || (), sides)?);
    }
    Ok(figures)
}

fn burst(rows: &mut fjall::Iter) -> Result<()> {
    let mut sum = 0;
    for _ in 0..ROWS {
        let (key, value) = rows.next().ok_or("too few rows")?.into_inner()?;
        sum += key.len() + value.len();
    }
    black_box(sum);
    Ok(())
}

/// Our files for a second handle: one database is open once. Tables are never changed, so that a link to each is enough.
fn copy(base: &Path) -> Result<PathBuf> {
    let to = base.join("same");
    if to.exists() {
        std::fs::remove_dir_all(&to)?;
    }
    copy_directory(&base.join("ours"), &to)?;
    Ok(to)
}

fn copy_directory(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    let tables = from.file_name().is_some_and(|name| name == "tables");
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else if tables {
            std::fs::hard_link(entry.path(), target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

use std::path::Path;

use fjall::Readable as _;
use keyplan_chains::cardano::{Config, StateStore, TxoRef};

use crate::chain::{self, Size};
use crate::hand::{self, Hand};
use crate::turns::{Bursts, turns};
use crate::{Figures, ITERATED, Result, cpu};

/// Lookups in a burst.
const GETS: u32 = 5_000;
/// Rows in a burst of a scan.
const ROWS: u32 = 10_000;

/// Lookups and iterations on both sides in turns, on what the imports have left: hand-written code first, then ours.
pub(crate) fn reads(hand_in: &Path, ours_in: &Path, size: Size) -> Result<Vec<Figures>> {
    let hand = Hand::open(hand_in)?;
    let store = StateStore::open(ours_in, Config::import())?;
    // Opening begins what compaction was left.
    cpu::settle();
    let (hand_view, view) = (hand.database.snapshot(), store.snapshot()?);
    let micro = |costs: [f64; 2], of: u32| costs.map(|cost| cost * 1e6 / f64::from(of));
    // A block holds some twenty rows: once a quarter of all has been looked for, hardly a block has not been read.
    let bursts = Bursts { warm: usize::try_from(size.outputs / 4 / u64::from(GETS))?, timed: 40 };

    let mut figures = Vec::new();
    let lookups: [(bool, Box<dyn Iterator<Item = TxoRef>>); 2] =
        [(true, Box::new(chain::hits(size))), (false, Box::new(chain::misses()))];
    for (there, mut all) in lookups {
        let check = |found: bool| if found == there { Ok(()) } else { Err("a get that went wrong".into()) };
        let costs = turns(
            bursts,
            || all.by_ref().take(GETS as usize).collect(),
            [
                &mut |txos: &Vec<_>| {
                    txos.iter().try_for_each(|txo| check(hand.get(&hand_view, txo)?.is_some()))
                },
                &mut |txos: &Vec<_>| txos.iter().try_for_each(|txo| check(view.get_utxo(txo)?.is_some())),
            ],
        )?;
        figures.push(micro(costs, GETS));
    }

    let mut all = chain::hits(size);
    let ten = |found: usize| if found == 10 { Ok(()) } else { Err("fewer than ten of ten".into()) };
    let costs = turns(
        Bursts { warm: 1, ..bursts },
        || all.by_ref().take(GETS as usize).collect(),
        [
            &mut |txos: &Vec<_>| {
                txos.chunks(10).try_for_each(|txos| {
                    let snapshot = hand.database.snapshot();
                    let found: Result<Vec<_>> = txos.iter().map(|txo| hand.get(&snapshot, txo)).collect();
                    ten(found?.iter().flatten().count())
                })
            },
            &mut |txos: &Vec<_>| {
                // One transaction can be looked for twice, and is found once.
                txos.chunks(10).try_for_each(|txos| {
                    let found = store.get_utxos(txos)?;
                    ten(txos.iter().filter(|txo| found.contains_key(txo)).count())
                })
            },
        ],
    )?;
    figures.push(micro(costs, GETS / 10));

    // The first pass reads everything into the caches.
    let mut entities = [0.0; 2];
    for _ in 0..2 {
        let mut by_hand = hand_view.prefix(&hand.entities, hand::iterated());
        let mut ours = store.iter_entities(ITERATED, ..)?;
        entities = turns(
            bursts_of(size.entities),
            || (),
            [
                &mut |()| {
                    burst(&mut by_hand, |row| {
                        let (key, value) = row.into_inner()?;
                        Ok(key.len() == 40 && value.len() == 64)
                    })
                },
                &mut |()| burst(&mut ours, |row| Ok(row?.1.len() == 64)),
            ],
        )?;
    }
    figures.push(micro(entities, ROWS));

    let mut outputs = [0.0; 2];
    for _ in 0..2 {
        let mut by_hand = hand_view.iter(&hand.utxos);
        let mut ours = store.iter_utxos()?;
        outputs = turns(
            bursts_of(chain::unspent(size)),
            || (),
            [&mut |()| burst(&mut by_hand, |row| Ok(row.into_inner()?.1.len() > 2)), &mut |()| {
                burst(&mut ours, |row| Ok(row?.1.era() == 6))
            }],
        )?;
    }
    figures.push(micro(outputs, ROWS));
    drop(view);
    store.shutdown()?;
    Ok(figures)
}

fn bursts_of(rows: u64) -> Bursts {
    Bursts { warm: 0, timed: usize::try_from(rows).unwrap() / ROWS as usize }
}

/// Takes the next rows, each of which has to be right.
fn burst<R>(rows: &mut impl Iterator<Item = R>, right: impl Fn(R) -> Result<bool>) -> Result<()> {
    for _ in 0..ROWS {
        if !right(rows.next().ok_or("too few rows")?)? {
            return Err("a row that is wrong".into());
        }
    }
    Ok(())
}

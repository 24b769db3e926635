use std::collections::BTreeMap;

use keyplan::store::collection::{History, HistoryMap, HistoryRows, Pruning, SpanKey};
use keyplan::store::engine::Memory;
use keyplan::store::{Error, Read as _, Store};
use keyplan::typed::{KeyError, Scan};

use super::collections::history::{
    Score, ScoreChanged, ScoreChangedAll, ScoreHeights, ScoreHeightsValue, ScoreLog, ScoreLogByPlayer,
    ScoreLogValue, ScoreLogValueOld, ScoreValue,
};
use super::{NAMES, PLAN, in_batches, name};
use crate::support::{Opened, on_every_engine};

impl SpanKey for ScoreHeights {
    fn value_of(floor: u64, tip: u64) -> ScoreHeightsValue {
        ScoreHeightsValue { floor, tip }
    }
    fn span_of(value: ScoreHeightsValue) -> (u64, u64) {
        (value.floor, value.tip)
    }
}

/// Scores with history.
pub(super) struct Scores;

impl History for Scores {
    type Current = Score<'static>;
    type Log = ScoreLog<'static>;
    type LogScan = ScoreLogByPlayer;
    type Changed = ScoreChanged<'static>;
    type ChangedScan = ScoreChangedAll;
    type Heights = ScoreHeights;

    fn heights() -> ScoreHeights {
        ScoreHeights
    }
    fn changed_through(height: u64) -> Scan<'static, ScoreChangedAll> {
        ScoreChanged::all().through(height)
    }
}

impl<'a> HistoryRows<'a> for Scores {
    fn log(key: &Score<'a>, height: u64) -> ScoreLog<'a> {
        ScoreLog { player: key.player, height }
    }
    fn log_from(key: &Score<'a>, height: u64) -> Result<Scan<'static, ScoreLogByPlayer>, KeyError> {
        Ok(ScoreLog::by_player(key.player)?.from(height))
    }
    fn changed(key: &Score<'a>, height: u64) -> ScoreChanged<'a> {
        ScoreChanged { height, player: key.player }
    }
    fn of_changed(changed: ScoreChanged<'a>) -> (u64, Score<'a>) {
        (changed.height, Score { player: changed.player })
    }
    fn logged(old: Option<ScoreValue>) -> ScoreLogValue {
        let old = match old {
            None => ScoreLogValueOld::None,
            Some(ScoreValue { points }) => ScoreLogValueOld::Some { points },
        };
        ScoreLogValue { old }
    }
    fn of_logged(logged: ScoreLogValue) -> Option<ScoreValue> {
        match logged.old {
            ScoreLogValueOld::None => None,
            ScoreLogValueOld::Some { points } => Some(ScoreValue { points }),
        }
    }
}

/// Every height with the whole of its state.
#[derive(Clone, Default)]
struct HistoryModel {
    now: BTreeMap<&'static str, u64>,
    at: BTreeMap<u64, BTreeMap<&'static str, u64>>,
    height: u64,
    floor: u64,
}

fn a_history<E: Opened>() {
    let map = HistoryMap::<Scores>::new();
    let probe = |read: &dyn Fn(&'static str, u64) -> Result<Option<u64>, Error>,
                 model: &HistoryModel,
                 height: u64| {
        for player in NAMES {
            let found = read(player, height);
            if height < model.floor {
                let floor = model.floor;
                assert!(
                    matches!(found, Err(Error::Pruned { height: h, floor: f }) if (h, f) == (height, floor))
                );
                continue;
            }
            let state = model.at.range(..=height).next_back().map(|(_, state)| state);
            assert_eq!(
                found.unwrap(),
                state.and_then(|state| state.get(player).copied()),
                "{player} at {height}"
            );
        }
    };
    in_batches::<E, HistoryModel>(
        5,
        HistoryModel::default(),
        |batch, model, random| {
            let player = name(random);
            let key = Score { player };
            match random.below(16) {
                0 if model.height > 0 => {
                    let floor = random.below(model.height + 1);
                    let pruned = map.prune(batch, floor, 1000).unwrap();
                    assert!(!pruned.more);
                    model.floor = model.floor.max(floor);
                }
                1 if model.height > 0 => {
                    let (height, tip) = (model.height - 1, model.height);
                    let refused = map.put(batch, &key, &ScoreValue { points: 0 }, height).unwrap_err();
                    assert!(
                        matches!(refused, Error::HeightPassed { height: h, tip: t } if (h, t) == (height, tip))
                    );
                }
                2..6 => {
                    let height = model.height + random.below(2);
                    let found = map.remove(batch, &key, height).unwrap();
                    assert_eq!(found, model.now.remove(player).is_some());
                    if found {
                        model.height = height;
                    }
                }
                _ => {
                    model.height += random.below(3);
                    let points = random.next();
                    map.put(batch, &key, &ScoreValue { points }, model.height).unwrap();
                    model.now.insert(player, points);
                }
            }
            let now = model.now.clone();
            model.at.insert(model.height, now);
            let height = random.below(model.height + 2);
            probe(
                &|player, height| {
                    let found = map.get_at(batch, &Score { player }, height)?;
                    Ok(found.map(|past| past.value().unwrap().unwrap().points))
                },
                model,
                height,
            );
        },
        |store, model| {
            let view = store.snapshot().unwrap();
            for height in 0..=model.height + 1 {
                probe(
                    &|player, height| {
                        let found = map.get_at(&view, &Score { player }, height)?;
                        Ok(found.map(|past| past.value().unwrap().unwrap().points))
                    },
                    model,
                    height,
                );
            }
            // The log and what changed when are of the same length, and nothing below the floor is left.
            let changed: Vec<u64> = view
                .scan(ScoreChanged::all())
                .map(|row| row.unwrap().key().map(|key| key.height).unwrap())
                .collect();
            let logged: usize =
                NAMES.iter().map(|player| view.scan(ScoreLog::by_player(player).unwrap()).count()).sum();
            assert_eq!(changed.len(), logged);
            assert!(changed.iter().all(|height| *height > model.floor || model.floor == 0));
        },
    );
}

on_every_engine! {
    a_history_reads_every_height_that_was_not_pruned = a_history;
}

#[test]
fn pruning_goes_on_where_its_limit_stopped_it() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let map = HistoryMap::<Scores>::new();
    let mut batch = store.batch().unwrap();
    for height in 1..=10 {
        map.put(&mut batch, &Score { player: "a" }, &ScoreValue { points: height }, height).unwrap();
    }
    assert_eq!(map.prune(&mut batch, 8, 5).unwrap(), Pruning { changes: 5, more: true });
    assert!(matches!(
        map.get_at(&batch, &Score { player: "a" }, 7),
        Err(Error::Pruned { height: 7, floor: 8 })
    ));
    assert_eq!(map.prune(&mut batch, 8, 5).unwrap(), Pruning { changes: 3, more: false });
    let at = |height| {
        let found = map.get_at(&batch, &Score { player: "a" }, height).unwrap();
        found.and_then(|past| past.value().unwrap()).map(|value| value.points)
    };
    assert_eq!([8, 9, 10, 99].map(at), [Some(8), Some(9), Some(10), Some(10)]);
    assert_eq!(map.heights(&batch).unwrap(), (8, 10));
}

//! Collections against those of the standard library, by random operations, on every engine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroU16;

use keyplan::store::collection::{
    CountedMap, Deque, History, HistoryMap, HistoryRows, IndexOf, IndexRows, Indexed, IndexedMap, Item, Map,
    NumberKey, Pruning, Sequence, Set, ShardedCounter, SpanKey,
};
use keyplan::store::engine::{Durability, Memory};
use keyplan::store::{Batch, Error, Read, Store};
use keyplan::typed::{KeyError, Scan};

use crate::support::{Opened, Random, on_every_engine};

keyplan::plan! {
    plan collections;

    space state {
        /// An item.
        key config = 0x01 -> version: u32 name: text;

        /// Rows of maps.
        key balance = 0x02 owner: bytes(1..=32).len8 denom: text("a-z", 3..=8) -> amount: u64
            scan all
            scan by owner in order;
        /// How many there are.
        key balances = 0x03 -> count: u64;

        /// Members of a group.
        key member = 0x04 group: u32 name: text(1..=16) -> ""
            scan by group in order;

        /// Pools, by id.
        key pool = 0x05 id: u64 -> owner: u32 name: text(1..=8)
            scan all in order;
        /// The pools of an owner.
        key pool_of_owner = 0x06 owner: u32 id: u64 -> ""
            scan all in order
            scan by owner in order;
        /// The pool of a name.
        key pool_of_name = 0x07 name: text(1..=8) -> id: u64
            scan all in order;

        /// The next pool.
        key next_pool = 0x08 -> id: u64;

        /// Visits of a page, by shard.
        key visits = 0x09 page: u64 shard: u16 -> count: u64
            scan by page in order;

        /// Jobs by place, and where they start and end.
        key job = 0x0A place: u64 -> text
            scan all in order;
        key job_ends = 0x0B -> start: u64 end: u64;
    }

    space history {
        key score = 0x01 player: text(1..=8) -> points: u64
            scan all in order;
        key score_log = 0x02 player: text(1..=8).len8 height: u64
                -> old: (none: 0x00 | some: 0x01 points: u64)
            scan by player in order;
        key score_changed = 0x03 height: u64 player: text(1..=8) -> ""
            scan all in order;
        key score_heights = 0x04 -> floor: u64 tip: u64;
    }
}

use collections::PLAN;
use collections::history::{
    Score, ScoreChanged, ScoreChangedAll, ScoreHeights, ScoreHeightsValue, ScoreLog, ScoreLogByPlayer,
    ScoreLogValue, ScoreLogValueOld, ScoreValue,
};
use collections::state::{
    Balance, BalanceAll, BalanceValue, Balances, BalancesValue, Config, ConfigValue, Job, JobEnds,
    JobEndsValue, JobValue, Member, NextPool, NextPoolValue, Pool, PoolAll, PoolOfName, PoolOfNameValue,
    PoolOfOwner, PoolOfOwnerValue, PoolValue, Visits, VisitsValue,
};

impl NumberKey for Balances {
    fn value_of(count: u64) -> BalancesValue {
        BalancesValue { count }
    }
    fn number_of(value: BalancesValue) -> u64 {
        value.count
    }
}

impl NumberKey for NextPool {
    fn value_of(id: u64) -> NextPoolValue {
        NextPoolValue { id }
    }
    fn number_of(value: NextPoolValue) -> u64 {
        value.id
    }
}

impl NumberKey for Visits {
    fn value_of(count: u64) -> VisitsValue {
        VisitsValue { count }
    }
    fn number_of(value: VisitsValue) -> u64 {
        value.count
    }
}

impl SpanKey for JobEnds {
    fn value_of(start: u64, end: u64) -> JobEndsValue {
        JobEndsValue { start, end }
    }
    fn span_of(value: JobEndsValue) -> (u64, u64) {
        (value.start, value.end)
    }
}

impl SpanKey for ScoreHeights {
    fn value_of(floor: u64, tip: u64) -> ScoreHeightsValue {
        ScoreHeightsValue { floor, tip }
    }
    fn span_of(value: ScoreHeightsValue) -> (u64, u64) {
        (value.floor, value.tip)
    }
}

/// Pools with an owner, of which there may be several, and a name, which is theirs alone.
struct Pools;

impl Indexed for Pools {
    type Row = Pool;

    fn index(key: &Pool, value: &PoolValue<'_>, rows: &mut IndexRows) -> Result<(), Error> {
        rows.multi(&PoolOfOwner { owner: value.owner, id: key.id }, &PoolOfOwnerValue)?;
        rows.unique(&PoolOfName { name: value.name }, &PoolOfNameValue { id: key.id })
    }
}

impl IndexOf<'_, Pools> for PoolOfOwner {
    fn row(key: PoolOfOwner, _: PoolOfOwnerValue) -> Pool {
        Pool { id: key.id }
    }
}

impl<'a> IndexOf<'a, Pools> for PoolOfName<'_> {
    fn row(_: PoolOfName<'a>, value: PoolOfNameValue) -> Pool {
        Pool { id: value.id }
    }
}

const POOLS: fn() -> IndexedMap<Pools, PoolAll> = || IndexedMap::new(Pool::all());

/// Scores with history.
struct Scores;

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

/// Runs random steps in several batches, some of which are dropped: these must leave no trace.
fn in_batches<E: Opened, M: Clone>(
    seed: u64,
    mut model: M,
    mut step: impl FnMut(&mut Batch<'_, E>, &mut M, &mut Random),
    mut check: impl FnMut(&Store<E>, &M),
) {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::create_on(E::open_at(directory.path()), &PLAN).unwrap();
    let mut random = Random::new(seed);
    for round in 0..12 {
        let mut attempt = model.clone();
        let mut batch = store.batch().unwrap();
        for _ in 0..25 {
            step(&mut batch, &mut attempt, &mut random);
        }
        if random.below(4) == 0 {
            drop(batch);
        } else {
            batch.commit(Durability::Buffer).unwrap();
            model = attempt;
        }
        check(&store, &model);
        if round % 5 == 4 {
            drop(store);
            store = Store::open_on(E::open_at(directory.path()), &PLAN).unwrap();
        }
    }
}

fn number(random: &mut Random, below: u64) -> u32 {
    u32::try_from(random.below(below)).unwrap()
}

const NAMES: [&str; 6] = ["a", "ab", "abc", "b", "z", "zz"];

fn name(random: &mut Random) -> &'static str {
    NAMES[usize::try_from(random.below(6)).unwrap()]
}

fn an_item<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create_on(E::open_at(directory.path()), &PLAN).unwrap();
    let item = Item::new(Config);
    let mut batch = store.batch().unwrap();
    assert!(!item.remove(&mut batch).unwrap());
    item.put(&mut batch, &ConfigValue { version: 3, name: "main" }).unwrap();
    assert_eq!(item.get(&batch).unwrap().unwrap().value().unwrap(), ConfigValue { version: 3, name: "main" });
    assert!(item.get(&store.snapshot().unwrap()).unwrap().is_none());
    batch.commit(Durability::Buffer).unwrap();
    let mut batch = store.batch().unwrap();
    assert!(item.remove(&mut batch).unwrap());
    assert!(item.get(&batch).unwrap().is_none());
}

type BalanceModel = BTreeMap<(u8, &'static str), u64>;

fn a_counted_map<E: Opened>() {
    let map = CountedMap::new(Balance::all(), Balances);
    let of_owner = Map::new(Balance::by_owner(&[3]).unwrap());
    let denom = ["abc", "abcd", "usd", "zzz"];
    in_batches::<E, BalanceModel>(
        1,
        BTreeMap::new(),
        |batch, model, random| {
            let owner = u8::try_from(random.below(5)).unwrap();
            let denom = denom[usize::try_from(random.below(4)).unwrap()];
            let (bytes, place) = ([owner], (owner, denom));
            let key = Balance { owner: &bytes, denom };
            match random.below(16) {
                0 => {
                    assert_eq!(map.clear(batch).unwrap(), model.len() as u64);
                    model.clear();
                }
                1 => {
                    let gone = model.keys().filter(|(owner, _)| *owner == 3).count();
                    // Through the count, row by row: a map of a part does not know of it.
                    let keys: Vec<Vec<u8>> =
                        of_owner.rows(batch).map(|row| row.unwrap().key_bytes().to_vec()).collect();
                    assert_eq!(keys.len(), gone);
                    for bytes in keys {
                        let key = Balance::decode(&bytes).unwrap();
                        assert!(map.remove(batch, &key).unwrap());
                    }
                    model.retain(|(owner, _), _| *owner != 3);
                }
                2..8 => assert_eq!(map.remove(batch, &key).unwrap(), model.remove(&place).is_some()),
                _ => {
                    let amount = random.next();
                    let new = map.put(batch, &key, &BalanceValue { amount }).unwrap();
                    assert_eq!(new, model.insert(place, amount).is_none());
                }
            }
            assert_eq!(map.count(batch).unwrap(), model.len() as u64);
            let found = map.get(batch, &key).unwrap().map(|found| found.value().unwrap().amount);
            assert_eq!(found, model.get(&place).copied());
        },
        |store, model| {
            let view = store.snapshot().unwrap();
            let rows: BTreeMap<(u8, String), u64> = map
                .rows(&view)
                .map(|row| {
                    let row = row.unwrap();
                    let (key, value) = row.read().unwrap();
                    ((key.owner[0], key.denom.to_owned()), value.amount)
                })
                .collect();
            let want: BTreeMap<(u8, String), u64> = model
                .iter()
                .map(|((owner, denom), amount)| ((*owner, (*denom).to_owned()), *amount))
                .collect();
            assert_eq!(rows, want);
            assert_eq!(map.count(&view).unwrap(), model.len() as u64);
            assert_eq!(
                of_owner.count(&view).unwrap(),
                model.keys().filter(|(owner, _)| *owner == 3).count() as u64
            );
        },
    );
}

fn a_set<E: Opened>() {
    let sets: Vec<_> = (0..3).map(|group| Set::new(Member::by_group(group))).collect();
    in_batches::<E, BTreeSet<(u32, &'static str)>>(
        2,
        BTreeSet::new(),
        |batch, model, random| {
            let (group, name) = (number(random, 3), name(random));
            let set = &sets[group as usize];
            let key = Member { group, name };
            match random.below(12) {
                0 => {
                    let before = model.len();
                    model.retain(|(other, _)| *other != group);
                    assert_eq!(set.clear(batch).unwrap(), (before - model.len()) as u64);
                }
                1..5 => assert_eq!(set.remove(batch, &key).unwrap(), model.remove(&(group, name))),
                _ => assert_eq!(set.insert(batch, &key).unwrap(), model.insert((group, name))),
            }
            assert_eq!(set.contains(batch, &key).unwrap(), model.contains(&(group, name)));
        },
        |store, model| {
            let view = store.snapshot().unwrap();
            for (group, set) in sets.iter().enumerate() {
                let names: Vec<String> =
                    set.rows(&view).map(|row| row.unwrap().key().unwrap().name.to_owned()).collect();
                let want: Vec<&str> =
                    model.iter().filter(|(of, _)| *of as usize == group).map(|(_, name)| *name).collect();
                assert_eq!(names, want);
            }
        },
    );
}

type PoolModel = BTreeMap<u64, (u32, &'static str)>;

/// Rows and indexes are exactly those of the model: nothing is missing, and nothing is left over.
fn pools_are(read: &impl Read, model: &PoolModel) {
    let map = POOLS();
    let rows: Vec<(u64, u32, String)> = map
        .rows(read)
        .map(|row| {
            let row = row.unwrap();
            let (key, value) = row.read().unwrap();
            (key.id, value.owner, value.name.to_owned())
        })
        .collect();
    let want: Vec<(u64, u32, String)> =
        model.iter().map(|(id, (owner, name))| (*id, *owner, (*name).to_owned())).collect();
    assert_eq!(rows, want);
    let owners: Vec<(u32, u64)> = read
        .scan(PoolOfOwner::all())
        .map(|row| row.unwrap().key().map(|key| (key.owner, key.id)).unwrap())
        .collect();
    let want: BTreeSet<(u32, u64)> = model.iter().map(|(id, (owner, _))| (*owner, *id)).collect();
    assert_eq!(owners, want.into_iter().collect::<Vec<_>>());
    let names: Vec<(String, u64)> = read
        .scan(PoolOfName::all())
        .map(|row| row.unwrap().read().map(|(key, value)| (key.name.to_owned(), value.id)).unwrap())
        .collect();
    let want: BTreeSet<(String, u64)> =
        model.iter().map(|(id, (_, name))| ((*name).to_owned(), *id)).collect();
    assert_eq!(names, want.into_iter().collect::<Vec<_>>());
    for owner in 0..4 {
        let selected: Vec<u64> = map
            .select(read, PoolOfOwner::by_owner(owner))
            .map(|row| row.unwrap().key().unwrap().id)
            .collect();
        let want: Vec<u64> = model.iter().filter(|(_, (of, _))| *of == owner).map(|(id, _)| *id).collect();
        assert_eq!(selected, want);
    }
    for name in NAMES {
        let found = map.find(read, &PoolOfName { name }).unwrap().map(|row| row.key().unwrap().id);
        assert_eq!(found, model.iter().find(|(_, (_, of))| *of == name).map(|(id, _)| *id));
    }
}

fn an_indexed_map<E: Opened>() {
    let map = POOLS();
    in_batches::<E, PoolModel>(
        3,
        BTreeMap::new(),
        |batch, model, random| {
            let key = Pool { id: random.below(6) };
            match random.below(20) {
                0 => {
                    assert_eq!(map.clear(batch).unwrap(), model.len() as u64);
                    model.clear();
                }
                1..5 => assert_eq!(map.remove(batch, &key).unwrap(), model.remove(&key.id).is_some()),
                _ => {
                    let (owner, name) = (number(random, 4), name(random));
                    let put = map.put(batch, &key, &PoolValue { owner, name });
                    if model.iter().any(|(id, (_, of))| *id != key.id && *of == name) {
                        let refused = put.unwrap_err();
                        assert!(
                            matches!(refused, Error::NotUnique { index: "state.pool_of_name", .. }),
                            "{refused}"
                        );
                    } else {
                        assert_eq!(put.unwrap(), model.insert(key.id, (owner, name)).is_none());
                    }
                }
            }
            pools_are(batch, model);
        },
        |store, model| pools_are(&store.snapshot().unwrap(), model),
    );
}

fn a_deque<E: Opened>() {
    let deque = Deque::new(|place| Job { place }, JobEnds);
    in_batches::<E, VecDeque<String>>(
        4,
        VecDeque::new(),
        |batch, model, random| {
            let text = random.below(1000).to_string();
            let value = JobValue { value: &text };
            match random.below(20) {
                0 => {
                    deque.clear(batch).unwrap();
                    model.clear();
                }
                1..5 => {
                    let taken = deque.pop_front(batch).unwrap();
                    assert_eq!(taken.map(|taken| taken.value().unwrap().value.to_owned()), model.pop_front());
                }
                5..8 => {
                    let taken = deque.pop_back(batch).unwrap();
                    assert_eq!(taken.map(|taken| taken.value().unwrap().value.to_owned()), model.pop_back());
                }
                8..13 => {
                    deque.push_back(batch, &value).unwrap();
                    model.push_back(text);
                }
                13..17 => {
                    deque.push_front(batch, &value).unwrap();
                    model.push_front(text);
                }
                _ => {
                    let index = random.below(model.len() as u64 + 2);
                    let set = deque.set(batch, index, &value);
                    if let Some(place) = model.get_mut(usize::try_from(index).unwrap()) {
                        set.unwrap();
                        *place = text;
                    } else {
                        let length = model.len() as u64;
                        assert!(
                            matches!(set, Err(Error::NoElement { index: i, length: l }) if (i, l) == (index, length))
                        );
                    }
                }
            }
            assert_eq!(deque.len(batch).unwrap(), model.len() as u64);
            for index in 0..=model.len() {
                let found = deque.get(batch, index as u64).unwrap();
                let found = found.map(|found| found.value().unwrap().value.to_owned());
                assert_eq!(found.as_ref(), model.get(index));
            }
        },
        |store, model| {
            let view = store.snapshot().unwrap();
            let found: Vec<String> = deque
                .elements(&view)
                .unwrap()
                .map(|row| row.unwrap().value().unwrap().value.to_owned())
                .collect();
            assert_eq!(found, model.iter().cloned().collect::<Vec<_>>());
            // No row of an element that was taken is left.
            assert_eq!(view.scan(Job::all()).count(), model.len());
        },
    );
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

fn numbers<E: Opened>() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create_on(E::open_at(directory.path()), &PLAN).unwrap();
    let sequence = Sequence::new(NextPool).starting_at(1);
    let mut batch = store.batch().unwrap();
    assert_eq!((sequence.take(&mut batch).unwrap(), sequence.take(&mut batch).unwrap()), (1, 2));
    assert_eq!(sequence.take_many(&mut batch, 10).unwrap(), 3..13);
    batch.commit(Durability::Buffer).unwrap();
    let mut batch = store.batch().unwrap();
    assert_eq!(sequence.take(&mut batch).unwrap(), 13);
    drop(batch);
    assert_eq!(sequence.peek(&store.snapshot().unwrap()).unwrap(), 13);
    let mut batch = store.batch().unwrap();
    let refused = sequence.take_many(&mut batch, u64::MAX).unwrap_err();
    assert!(matches!(refused, Error::Exhausted { family: "state.next_pool" }), "{refused}");

    let shards = NonZeroU16::new(8).unwrap();
    let counter =
        |page| ShardedCounter::new(Visits::by_page(page), shards, move |shard| Visits { page, shard });
    let mut random = Random::new(9);
    let mut want = [0_u64; 3];
    for _ in 0..100 {
        let (page, amount) = (random.below(3), random.below(50));
        counter(page).add(&mut batch, random.next(), amount).unwrap();
        want[usize::try_from(page).unwrap()] += amount;
    }
    batch.commit(Durability::Buffer).unwrap();
    let view = store.snapshot().unwrap();
    assert_eq!([0, 1, 2].map(|page| counter(page).total(&view).unwrap()), want);
    // The adds went to all of the keys.
    assert_eq!(view.scan(Visits::by_page(1)).count(), 8);
    let mut batch = store.batch().unwrap();
    counter(1).clear(&mut batch).unwrap();
    assert_eq!([0, 1, 2].map(|page| counter(page).total(&batch).unwrap()), [want[0], 0, want[2]]);
}

on_every_engine! {
    an_item_is_one_value = an_item;
    a_counted_map_knows_its_number = a_counted_map;
    a_set_is_the_rows_of_its_scan = a_set;
    indexes_are_exactly_those_of_the_rows = an_indexed_map;
    a_deque_counts_from_its_front_as_it_is_now = a_deque;
    a_history_reads_every_height_that_was_not_pruned = a_history;
    sequences_and_counters_lose_no_number = numbers;
}

#[test]
fn a_row_outside_of_a_map_s_scan_is_refused() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let map = Map::<collections::state::BalanceByOwner>::new(Balance::by_owner(&[3]).unwrap());
    let mut batch = store.batch().unwrap();
    let key = Balance { owner: &[4], denom: "usd" };
    let refused = map.put(&mut batch, &key, &BalanceValue { amount: 1 }).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "0x020104757364 is not one of the rows of `state.balance by owner` that the collection holds"
    );
    assert!(batch.is_empty());
    let all = Map::<BalanceAll>::new(Balance::all());
    assert!(all.put(&mut batch, &key, &BalanceValue { amount: 1 }).unwrap());
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

#[test]
fn a_row_that_an_index_names_and_that_is_gone_is_an_error() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let map = POOLS();
    let mut batch = store.batch().unwrap();
    map.put(&mut batch, &Pool { id: 1 }, &PoolValue { owner: 2, name: "a" }).unwrap();
    // Past the collection.
    batch.delete(&Pool { id: 1 }).unwrap();
    let missing = map.find(&batch, &PoolOfName { name: "a" }).unwrap_err();
    assert_eq!(missing.to_string(), "`state.pool_of_name` names 0x050000000000000001, which is not there");
    let missing = map.select(&batch, PoolOfOwner::by_owner(2)).next().unwrap().unwrap_err();
    assert!(matches!(missing, Error::Dangling { index: "state.pool_of_owner", .. }));
}

/// All rows of a batch's view of a space, as bytes.
fn dumped(batch: &Batch<'_, Memory>, space: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = batch.range_bytes(space, keyplan::store::engine::KeyRange::ALL).unwrap();
    rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

#[test]
fn what_is_refused_leaves_the_batch_as_it_was() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let mut batch = store.batch().unwrap();
    let pools = POOLS();
    pools.put(&mut batch, &Pool { id: 1 }, &PoolValue { owner: 2, name: "a" }).unwrap();
    pools.put(&mut batch, &Pool { id: 2 }, &PoolValue { owner: 2, name: "b" }).unwrap();
    let history = HistoryMap::<Scores>::new();
    history.put(&mut batch, &Score { player: "a" }, &ScoreValue { points: 1 }, 3).unwrap();
    let before = (batch.len(), dumped(&batch, "state"), dumped(&batch, "history"));

    // A name that another row has, on a new row and on one that is there.
    for id in [2, 3] {
        let refused = pools.put(&mut batch, &Pool { id }, &PoolValue { owner: 9, name: "a" });
        assert!(matches!(refused, Err(Error::NotUnique { index: "state.pool_of_name", .. })));
    }
    // A value outside of its domain.
    let refused = pools.put(&mut batch, &Pool { id: 1 }, &PoolValue { owner: 9, name: "far too long" });
    assert!(matches!(refused, Err(Error::Refused(_))));
    // A key outside of its domain, at a height that would have moved the tip.
    let refused = history.put(&mut batch, &Score { player: "" }, &ScoreValue { points: 1 }, 9);
    assert!(matches!(refused, Err(Error::Refused(_))));
    assert_eq!((batch.len(), dumped(&batch, "state"), dumped(&batch, "history")), before);
}

#[test]
fn a_deque_whose_places_are_used_up_refuses_and_does_not_wrap() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let deque = Deque::new(|place| Job { place }, JobEnds);
    let mut batch = store.batch().unwrap();
    for (start, end) in [(0, 1), (u64::MAX - 1, u64::MAX)] {
        let place = start;
        batch.put(&JobEnds, &JobEndsValue { start, end }).unwrap();
        batch.put(&Job { place }, &JobValue { value: "only" }).unwrap();
        let refused = if start == 0 {
            deque.push_front(&mut batch, &JobValue { value: "x" })
        } else {
            deque.push_back(&mut batch, &JobValue { value: "x" })
        };
        assert!(matches!(refused, Err(Error::Exhausted { family: "state.job_ends" })));
        assert_eq!(deque.len(&batch).unwrap(), 1);
        assert_eq!(deque.pop_back(&mut batch).unwrap().unwrap().value().unwrap().value, "only");
        // Empty, it has all places again.
        deque.push_front(&mut batch, &JobValue { value: "y" }).unwrap();
        deque.clear(&mut batch).unwrap();
        assert_eq!(batch.scan(Job::all()).count(), 0);
    }
}

#[test]
fn a_deque_of_many_that_were_taken_reads_its_front_at_once() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let deque = Deque::new(|place| Job { place }, JobEnds);
    let mut batch = store.batch().unwrap();
    for n in 0..2_000 {
        deque.push_back(&mut batch, &JobValue { value: &n.to_string() }).unwrap();
    }
    for n in 0..1_999 {
        let taken = deque.pop_front(&mut batch).unwrap().unwrap();
        assert_eq!(taken.value().unwrap().value, n.to_string());
    }
    assert_eq!(deque.len(&batch).unwrap(), 1);
    assert_eq!(deque.get(&batch, 0).unwrap().unwrap().value().unwrap().value, "1999");
}

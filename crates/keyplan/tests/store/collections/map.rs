use std::collections::{BTreeMap, BTreeSet};

use keyplan::store::Store;
use keyplan::store::collection::{CountedMap, Item, Map, NumberKey, Set};
use keyplan::store::engine::{Durability, Memory};

use super::collections::state::{
    Balance, BalanceAll, BalanceByOwner, BalanceValue, Balances, BalancesValue, Config, ConfigValue, Member,
};
use super::{PLAN, in_batches, name, number};
use crate::support::{Opened, on_every_engine};

impl NumberKey for Balances {
    fn value_of(count: u64) -> BalancesValue {
        BalancesValue { count }
    }
    fn number_of(value: BalancesValue) -> u64 {
        value.count
    }
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

on_every_engine! {
    an_item_is_one_value = an_item;
    a_counted_map_knows_its_number = a_counted_map;
    a_set_is_the_rows_of_its_scan = a_set;
}

#[test]
fn a_row_outside_of_a_map_s_scan_is_refused() {
    let store = Store::create_on(Memory::new(), &PLAN).unwrap();
    let map = Map::<BalanceByOwner>::new(Balance::by_owner(&[3]).unwrap());
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

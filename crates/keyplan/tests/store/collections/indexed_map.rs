use std::collections::{BTreeMap, BTreeSet};

use keyplan::store::collection::{IndexOf, IndexRows, Indexed, IndexedMap};
use keyplan::store::engine::Memory;
use keyplan::store::{Error, Read, Store};

use super::collections::state::{
    Pool, PoolAll, PoolOfName, PoolOfNameValue, PoolOfOwner, PoolOfOwnerValue, PoolValue,
};
use super::{NAMES, PLAN, in_batches, name, number};
use crate::support::{Opened, on_every_engine};

/// Pools with an owner, of which there may be several, and a name, which is only theirs.
pub(super) struct Pools;

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

pub(super) const POOLS: fn() -> IndexedMap<Pools, PoolAll> = || IndexedMap::new(Pool::all());

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

on_every_engine! {
    indexes_are_exactly_those_of_the_rows = an_indexed_map;
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

//! Rows that are also found by their indexes, and numbers that are given out once.

use keyplan::store::collection::{IndexOf, IndexRows, Indexed, IndexedMap, NumberKey, Sequence};
use keyplan::store::engine::{Durability, Memory};
use keyplan::store::{Error, Store};

keyplan::plan! {
    plan names;

    space state {
        key pool = 0x01 id: u64 -> owner: u32 name: text(1..=8) scan all in order;
        key pool_of_owner = 0x02 owner: u32 id: u64 -> "" scan by owner in order;
        key pool_of_name = 0x03 name: text(1..=8) -> id: u64;
        key next_pool = 0x04 -> id: u64;
    }
}

use names::state::{
    NextPool, NextPoolValue, Pool, PoolOfName, PoolOfNameValue, PoolOfOwner, PoolOfOwnerValue, PoolValue,
};

/// Pools are also found by their owner and, because no two may have one, by their name.
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

impl NumberKey for NextPool {
    fn value_of(id: u64) -> NextPoolValue {
        NextPoolValue { id }
    }

    fn number_of(value: NextPoolValue) -> u64 {
        value.id
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let store = Store::create_on(Memory::new(), &names::PLAN)?;
    let pools = IndexedMap::<Pools, _>::new(Pool::all());
    let ids = Sequence::new(NextPool);

    // The row, its two index rows and the number are one step.
    let mut batch = store.batch()?;
    for (owner, name) in [(5, "atom"), (5, "osmo"), (6, "juno")] {
        let id = ids.take(&mut batch)?;
        pools.put(&mut batch, &Pool { id }, &PoolValue { owner, name })?;
    }
    let taken = pools.put(&mut batch, &Pool { id: 99 }, &PoolValue { owner: 7, name: "osmo" });
    assert!(matches!(taken, Err(Error::NotUnique { index: "state.pool_of_name", .. })));
    batch.commit(Durability::Buffer)?;

    let view = store.snapshot()?;
    for row in pools.select(&view, PoolOfOwner::by_owner(5)) {
        let row = row?;
        println!("pool {} of owner 5 is {}", row.key()?.id, row.value()?.name);
    }
    assert_eq!(pools.select(&view, PoolOfOwner::by_owner(5)).count(), 2);
    assert!(pools.find(&view, &PoolOfName { name: "juno" })?.is_some());
    assert!(pools.find(&view, &PoolOfName { name: "luna" })?.is_none());
    Ok(())
}

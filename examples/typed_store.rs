//! A database on disk by typed keys: batches, scans from both ends, opening it again.

use std::error::Error;
use std::time::Duration;

use keyplan::store::engine::Durability;
use keyplan::store::{Read as _, Store};

keyplan::plan! {
    plan dex;

    space state {
        /// Liquidity at every initialised tick of a pool, most negative first.
        key tick = 0x01 pool: u64 tick: i64.tick9 -> liquidity: u64
            scan by pool in order;
        /// The tick that a pool is at.
        key current = 0x02 pool: u64 -> tick: i64.tick9;
    }
}

use dex::state::{Current, CurrentValue, Tick, TickValue};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let store = Store::open(directory.path().join("dex"), &dex::PLAN)?;

    // One step: all of it is there afterwards, or nothing.
    let mut batch = store.batch()?;
    for pool in [1, 10] {
        for tick in [-200, -100, 0, 100, 200] {
            batch.put(&Tick { pool, tick }, &TickValue { liquidity: pool * 1000 })?;
        }
        batch.put(&Current { pool }, &CurrentValue { tick: -50 })?;
    }
    batch.commit(Durability::SyncData)?;

    // The next tick in either direction. Pool 1 is never mixed up with pool 10: the plan is proved.
    let view = store.snapshot()?;
    let at = view.get(&Current { pool: 1 })?.ok_or("no such pool")?.value()?.tick;
    let above = view.scan(Tick::by_pool(1).from(at)).next().ok_or("nothing above")??.key()?.tick;
    let below = view.scan(Tick::by_pool(1).to(at).rev()).next().ok_or("nothing below")??.key()?.tick;
    println!("pool 1 is at {at}, between {below} and {above}");
    assert_eq!((below, above), (-100, 0));

    let mut liquidity = 0;
    view.scan(Tick::by_pool(1)).each(|_, TickValue { liquidity: here }| liquidity += here)?;
    assert_eq!(liquidity, 5000);
    drop(view);

    store.shutdown(Duration::from_secs(10))?;
    drop(store);
    let store = Store::open(directory.path().join("dex"), &dex::PLAN)?;
    let rows = store.snapshot()?.scan(Tick::by_pool(10)).count();
    println!("pool 10 has {rows} ticks after opening the database again");
    assert_eq!(rows, 5);
    Ok(())
}

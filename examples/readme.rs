//! The lines of Rust that `README.md` shows, as a program.

use std::error::Error;

keyplan::plan! {
    plan dex;
    space state { key tick = 0x01 pool: u64 tick: i64.tick9 -> liquidity: u64 scan by pool in order; }
}
use dex::state::{Tick, TickValue};
use keyplan::store::{Read as _, Store, engine::Durability};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("dex");

    let store = Store::open(path, &dex::PLAN)?;
    let mut batch = store.batch()?;
    batch.put(&Tick { pool: 7, tick: -100 }, &TickValue { liquidity: 5 })?;
    batch.commit(Durability::SyncData)?; // all of it is there after a crash, or nothing
    let view = store.snapshot()?;
    let mut ticks = view.scan(Tick::by_pool(7).from(-1_000)); // exists because it is proved
    assert_eq!(ticks.next().ok_or("no tick")??.key()?, Tick { pool: 7, tick: -100 });
    Ok(())
}

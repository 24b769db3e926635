//! A store that answers the command while it is open, as `docs/guide/explore.md` shows it.

use std::sync::Arc;

use keyplan_store::engine::{Fjall, FjallSettings};
use keyplan_store::{Schema, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "plan chain; space cl { key tick = 0x01 pool: u64 -> liquidity: u64; }";
    let compiled = keyplan_plan::compile("chain.keyplan", text, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan is not sound")?;
    let store = Store::open_or_create(Fjall::open("data", FjallSettings::default())?, &schema)?;
    let store = Arc::new(store);
    let answering = store.answer()?; // feature `live`; as long as this is held
    std::thread::park();
    drop(answering);
    Ok(())
}

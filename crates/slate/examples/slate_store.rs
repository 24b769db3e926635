//! A store on object storage, as `README.md` and `docs/scale.md` open it.

use keyplan_slate::{Slate, SlateSettings};
use keyplan_store::{Schema, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "plan chain; space cl { key tick = 0x01 pool: u64 -> liquidity: u64; }";
    let compiled = keyplan_plan::compile("chain.keyplan", text, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan is not sound")?;
    let settings = SlateSettings::new("s3://bucket/chain?region=eu-central-1")?;
    let store = Store::open_or_create(Slate::open(settings)?, &schema)?;
    drop(store);
    // In the region that the environment names.
    Store::open_or_create(Slate::open(SlateSettings::new("s3://bucket/chain")?)?, &schema)?;
    Ok(())
}

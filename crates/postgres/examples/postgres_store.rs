//! A store on PostgreSQL, as `README.md` and `docs/scale.md` open it.

use keyplan_postgres::{Postgres, PostgresSettings};
use keyplan_store::{Schema, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "plan chain; space cl { key tick = 0x01 pool: u64 -> liquidity: u64; }";
    let compiled = keyplan_plan::compile("chain.keyplan", text, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan is not sound")?;
    let settings = PostgresSettings::new("postgres://indexer@db.example/chain")?.schema("chain");
    let store = Store::open_or_create(Postgres::open(settings)?, &schema)?;
    drop(store);
    // In the schema that the server has for this user.
    Store::open_or_create(Postgres::open(PostgresSettings::new("postgres://db.example/chain")?)?, &schema)?;
    Ok(())
}

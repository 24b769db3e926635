//! The explorer's pages in a program of one's own, as `docs/guide/explore.md` shows it.

use keyplan_explorer::Explorer;
use keyplan_store::engine::Memory;
use keyplan_store::{Schema, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "plan chain; space cl { key tick = 0x01 pool: u64 -> liquidity: u64; }";
    let compiled = keyplan_plan::compile("chain.keyplan", text, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan is not sound")?;
    let store = std::sync::Arc::new(Store::open_or_create(Memory::new(), &schema)?);
    let app =
        axum::Router::new().merge(keyplan_explorer::web::router_at("/explore", Explorer::of_store(&store)?));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
        axum::serve(listener, app).await
    })?;
    Ok(())
}

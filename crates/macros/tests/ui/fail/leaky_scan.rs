keyplan::plan! {
    plan leaky;
    space s {
        key snapshot = 0x05 asset: text("A-Z", 3..=12) height: u64
            scan all
            scan by asset
            accept leak "BTC also returns BTCUSD";
    }
}

fn main() {
    let _ = leaky::s::Snapshot::all();
    let _ = leaky::s::Snapshot::by_asset("BTC");
}

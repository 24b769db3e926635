keyplan::plan! {
    plan scans;
    space s {
        key tick = 0x01 pool: u64 tick: i64.tick9 scan by pool in order;
        key position = 0x02 owner: u64 id: i64 scan by owner;
    }
}

fn main() {
    let _ = scans::s::Tick::by_tick(5);
    let _ = scans::s::Position::by_owner(5).from(7);
}

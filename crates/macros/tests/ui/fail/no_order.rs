keyplan::plan! {
    plan unordered;
    space s {
        key tick = 0x01 pool: u64 tick: i64.tick9 scan by pool in order;
        key height = 0x02 pool: u64 height: i64 scan by pool;
    }
}

fn compared<T: Ord>() {}

fn main() {
    compared::<unordered::s::Tick>();
    compared::<unordered::s::Height>();
}

keyplan::plan! {
    plan needless;
    space cl {
        key tick = 0x01 pool: u64 tick: i64.tick9
            scan by pool in order
            accept unordered "negative ticks come last";
    }
}

fn main() {}

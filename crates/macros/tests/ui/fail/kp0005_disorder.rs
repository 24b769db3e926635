keyplan::plan! {
    plan disorder;
    space cl {
        key position = 0x08 pool: u64 id: u64.dec
            scan by pool in order;
    }
}

fn main() {}

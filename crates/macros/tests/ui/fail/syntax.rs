keyplan::plan! {
    plan broken;
    space s {
        key tick = 0x01 pool u64;
        key pool = 0x1 id: u64;
        key at = 0x02 id: u64 @ 5;
    }
}

fn main() {}

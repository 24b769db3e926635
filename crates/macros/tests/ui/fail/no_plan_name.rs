keyplan::plan! {
    space s { key pool = 0x01 id: u64; }
}

fn main() {}

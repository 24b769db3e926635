keyplan::plan! {
    plan unproved;
    space s {
        key short = 0x01 id: u64.hashed(sha256, 4);
        key other = 0x01 "aaaa";
    }
}

fn main() {}

keyplan::plan! {
    plan foreign_rows;
    space compute {
        key commitment = 0x29 validator: bytes(4)
            scan all;
        key rate_limit = 0x29 account: bytes(4) window: u32;
    }
}

fn main() {}

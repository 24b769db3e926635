keyplan::plan! {
    plan unknown;
    type Address = bytes(20);
    space s {
        key position = 0x02 owner: Adress.hex "/" pool: u64.dec
            scan by ownr;
        key flag = 0x03 on: bool.dec;
    }
}

fn main() {}

//! A plan in a private module, of which nothing is used, is not dead code.
#![deny(warnings)]

mod keys {
    keyplan::plan! {
        plan unused;
        space s { key pool = 0x01 id: u64.dec scan all; }
    }
}

fn main() {}

keyplan::plan! {
    plan unproved;
    space s {
        key wide = 0x01 pair: (x: text(0..=3000) "/" y: text(0..=3000)).len16 n: u8;
    }
}

fn main() {}

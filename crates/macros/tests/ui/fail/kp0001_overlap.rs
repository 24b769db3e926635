keyplan::plan! {
    plan overlap;
    space contract {
        key item = name: bytes(1..=32);
        key map = namespace: bytes(1..=32).len16 key: bytes(0..=32);
    }
}

fn main() {}

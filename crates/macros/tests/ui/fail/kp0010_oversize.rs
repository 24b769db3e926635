keyplan::plan! {
    plan oversize;
    space contract {
        key entry = namespace: bytes(0..=65535).len16 key: bytes(0..=65535);
    }
}

fn main() {}

keyplan::plan! {
    plan name_collision;
    names Namespace = text("a-z", 1..=16) {
        "lots",
        "leaves",
    }
    space entities {
        key entity = ns: Namespace.hashed(sha256, 1) id: u64;
    }
}

fn main() {}

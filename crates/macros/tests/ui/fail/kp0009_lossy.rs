keyplan::plan! {
    plan lossy;
    space store {
        zset event = "z:" event: text("a-z", 1..=64)
            member txid: bytes(32)
            score at: score.height_score;
    }
}

fn main() {}

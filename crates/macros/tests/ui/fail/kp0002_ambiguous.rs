keyplan::plan! {
    plan ambiguous;
    space dex {
        key pool_by_tokens = 0x03 token_a: text("a-z", 1..=8) token_b: text("a-z", 1..=8);
    }
}

fn main() {}

//! `accept` is the way past a refuted guarantee.
keyplan::plan! {
    plan accepted;
    space dex {
        key pool_by_tokens = 0x03 token_a: text("a-z", 1..=8) token_b: text("a-z", 1..=8)
            scan all
            scan by token_a
            accept ambiguous "nothing ends the first token"
            accept leak "and so a scan returns more than it should";
    }
}

fn main() {
    use accepted::dex::PoolByTokens;
    assert!(PoolByTokens { token_a: "a", token_b: "b" }.encode().is_ok());
    let error = PoolByTokens { token_a: "upaw", token_b: "usdc" }.encode().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`dex.pool_by_tokens`: its bytes are also pool_by_tokens(token_a=\"u\", token_b=\"pawusdc\")"
    );
}

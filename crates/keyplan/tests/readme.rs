//! What `README.md` shows.
#![cfg(test)]

#[test]
fn the_lines_of_the_readme() -> Result<(), Box<dyn std::error::Error>> {
    keyplan::plan! {
        plan example;
        space cl {
            /// Liquidity at every initialised tick of a pool, most negative first.
            key tick = 0x01 pool: u64 tick: i64.tick9 -> liquidity: u64 scan by pool in order;
        }
    }
    use example::cl::Tick;

    let key = Tick { pool: 7, tick: -100 }.encode();
    assert_eq!(Tick::decode(&key)?, Tick { pool: 7, tick: -100 });
    Ok(())
}

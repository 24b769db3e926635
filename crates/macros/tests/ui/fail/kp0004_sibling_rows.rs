keyplan::plan! {
    plan sibling_rows;
    space oracle {
        key snapshot = 0x05 asset: text("A-Z", 3..=12) height: u64
            scan by asset;
    }
}

fn main() {}

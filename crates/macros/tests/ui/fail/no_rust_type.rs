keyplan::plan! {
    plan unbounded;
    space s {
        key backwards = 0x01 name: text.desc;
    }
}

fn main() {}

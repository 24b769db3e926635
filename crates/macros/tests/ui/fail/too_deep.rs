keyplan::plan! {
    plan deep;
    space s {
        key k = 0x01 a: option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(option(u8))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));
    }
}

fn main() {}

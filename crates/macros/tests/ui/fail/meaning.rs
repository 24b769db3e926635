keyplan::plan! {
    plan meaning;
    type Circle = (a: u8 again: Circle);
    type Twice = u8;
    type Twice = u16;
    import "nowhere.keyplan";
    space s {
        key domain = 0x01 a: u64(1, 2) twice: Twice circle: Circle;
        key encoding = 0x02 a: text.bech32("x");
        key class = 0x03 a: text("z-a");
        key range = 0x04 a: bytes(5..=2);
        key language = 0x05 a: text(300..).len8;
        key clause = 0x06 a: u8 score b: u8;
        key scan = 0x07 a: u8 b: u8 scan by b;
        key accept = 0x08 a: u8 accept sloppy "why";
        key reference = 0x09 same(a) a: u8;
        module m = 0x0a {
            allot 0x01..=0x0f core "one";
            allot 0x0f..=0x1f more "two";
        }
    }
}

fn main() {}

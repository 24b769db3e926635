//! Generated code passes the strictest lints of its user.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, unused, nonstandard_style)]
#![deny(unused_lifetimes, unused_qualifications, single_use_lifetimes, elided_lifetimes_in_paths, let_underscore_drop)]

keyplan::plan! {
    plan strict;

    type Outpoint = (txid: bytes(4) vout: u32);
    names Kind = text(1..=9) { "accounts" }

    /// A space.
    space s {
        key tick = 0x01 pool: u64 tick: i64.tick9 -> proto("T") scan all scan by pool in order;
        key result = 0x02 option: option(text(1..=4)).len8 ok: text;
        key some = 0x03 at: Outpoint kind: Kind.hashed(xxh3_64) rest: (a: 0x00 n: u8 | b: 0x01 | c: 0x02 name: text);
        key string = 0x04 a: text "/" b: text scan by a accept ambiguous "either may hold a slash"
            accept leak "it does";
        key type = 0x05 self: u8 super: u8 fn: list(u16).count8;
    }

    /// Structures.
    space t {
        hash output = 0x06 at: Outpoint field events = "ev" -> json field data = "d" tag: text -> n: u8;
        zset event = 0x07 name: text member at: Outpoint score at: score.height_score accept lossy "a float";
    }
}

fn main() {
    let key = strict::s::Tick { pool: 1, tick: 2 }.encode();
    assert!(matches!(strict::s::Key::decode(&key), Ok(strict::s::Key::Tick(_))));
}

//! What moves the fingerprint of a plan, and what does not.

use crate::plan;

const BASE: &str = "type Id = u64; space s { /// Doc.
    key a = 0x01 id: Id -> json scan by id; key b = 0x02 x: (p: u8 q: u16); }";

#[test]
fn the_fingerprint_keeps_still_when_no_byte_moves() {
    let base = plan(BASE).fingerprint();
    for same in [
        "space s { key b = 0x02 x: (p: u8 q: u16); key a = 0x01 id: u64 -> json; }",
        "space other = \"s\" { key z = 0x01 n: u64 -> json accept ambiguous \"x\"; key y = 0x02 m: (r: u8 t: u16); }",
        "space s { key a = 0x01 id: u64 -> json; key b = 0x02 p: u8 q: u16; }",
        "space s { module m = 0x01 { key a = id: u64 -> json; } key b = b\"\\x02\" x: (p: u8 q: u16); }",
    ] {
        assert_eq!(plan(same).fingerprint(), base, "{same}");
    }
}

#[test]
fn the_fingerprint_moves_with_every_byte() {
    let mut seen = vec![plan(BASE).fingerprint()];
    for other in [
        "space s { key a = 0x01 id: u64.le -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64 -> cbor; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64(0..=9) -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x03 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16).len8; }",
        "space s { key a = 0x01 id: u64 -> json; } space t { key b = 0x02 x: (p: u8 q: u16); }",
        "space other { key a = 0x01 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s = \"real\" { key a = 0x01 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64 -> json; }",
    ] {
        let fingerprint = plan(other).fingerprint();
        assert!(!seen.contains(&fingerprint), "{other}");
        seen.push(fingerprint);
    }
}

#[test]
fn spaces_that_swap_their_layouts_have_another_fingerprint() {
    let [one, other] = [
        "space a { key x = 0x01 i: u64; } space b { key y = 0x02 t: text; }",
        "space a { key y = 0x02 t: text; } space b { key x = 0x01 i: u64; }",
    ]
    .map(|text| plan(text).fingerprint());
    assert_ne!(one, other);
}

/// Every encoding that the language has, in one plan.
const EVERY: &str = r#"space s {
    key ints = 0x01 a: u8 b: u16.le c: i32.signflip d: i64.tick9 e: u64.dec "/" f: u64.dec(20) g: u32.hex "/"
        h: u32.HEX "/" i: u32.hex(8) j: u32.HEX(8) k: u64.leb128 l: u64.ordvar m: u64.bitcoin_varint
        n: u64.compact_size o: i64.saturating p: u64.tuple q: u128(1..=9) r: i128(-1..=1);
    key others = 0x02 a: bool b: bool.tuple c: f64 d: f64.ordered e: f64.badger f: f64.fixed(8) g: f64.tuple
        h: time i: time.nanos j: score k: score.height_score;
    key strings = 0x03 a: bytes(20 | 32).len8 b: bytes(4).hex c: bytes(4).HEX d: bytes(20).bech32("osmo") e: bytes.fit(8)
        f: bytes.tuple g: text("a-z", 1..=9).len16 h: text.tuple i: nibbles(3) j: nibbles(3).packed
        k: nibbles(3).hex_prefix;
    key frames = 0x04 a: bytes.len8 b: bytes.len16 c: bytes.len32 d: bytes.len64 e: bytes.len64le f: bytes.varlen
        g: bytes.terminated h: bytes.escaped "x" i: bytes.memcmp j: bytes.terminated.desc
        k: text.hashed(sha256, 20) l: text("a-z", 3).hash_concat(xxh3_64);
    key groups = 0x05 a: (x: u8 y: u8) b: (p: "p" n: u8 | q: "q") c: list(u8).count8 d: list(u8, 2)
        e: list(u8).joined("/") "|" same(a) z = crc16(a) % 7 as u8 f: option(u8) -> proto("a.B");
    key opaque = 0x06 -> cbor;
    hash h = 0x07 field f = "f" -> raw field g = "g" n: u8 -> json;
    zset z = 0x08 member m: bytes(32) score at: score.height_score;
    set t = 0x09 member m: u8;
    queue u = 0x0a member m: u8 score at: score;
}"#;

#[test]
fn the_fingerprint_is_the_same_in_every_release() {
    // Databases keep it: a change here is a change of format and goes into the changelog under Bytes.
    let two = "space s = \"real\" { key a = 0x01 id: u64; } space t { key b = 0x02 n: u8; }";
    assert_eq!(
        [BASE, EVERY, two].map(|text| plan(text).fingerprint().to_string()),
        [
            "a6f249f9ae1378fcf82d21b46ac743ae",
            "06db022dfa5880bc75ee4ec47078ada2",
            "e21b554fea396d1be4f94bfb1f26127c"
        ]
    );
}

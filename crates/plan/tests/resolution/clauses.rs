//! What a clause may say, and of which family.

use crate::check;

#[test]
fn encodings_must_fit_their_domain() {
    check(
        "space s { key k = a: u64.tick9 b: text.bech32(\"x\") c: bytes.dec d: u64.dec.hex e: u64.dec(19) f: u8.len8(3); }",
        &[
            ("KP0207", "tick9", "`tick9` does not encode an unsigned integer"),
            ("KP0207", "bech32(\"x\")", "`bech32` does not encode text"),
            ("KP0207", "dec", "`dec` does not encode bytes"),
            ("KP0207", "hex", "`hex` does not encode an unsigned integer that is already encoded"),
            ("KP0207", "dec(19)", "`dec` cannot hold every value of its domain"),
            ("KP0206", "len8(3)", "`len8` does not take these arguments"),
        ],
    );
}

#[test]
fn numbers_that_are_all_written_as_0_are_refused() {
    let refused = "`saturating` writes every number of this domain as 0";
    check(
        "space s { key k = a: i16(-9..=-1).saturating b: i64(-5..=-5).saturating.len8 c: i16(-9..=0).saturating; }",
        &[("KP0207", "saturating", refused), ("KP0207", "saturating", refused)],
    );
}

#[test]
fn ranges_and_classes_must_hold_something() {
    check(
        "space s { key k = a: bytes(5..=2) b: u8(0..=300) c: text(\"z-a\", 1..) d: text(300..).len8 e: bytes(-1); }",
        &[
            ("KP0209", "5..=2", "no length lies in this range"),
            ("KP0209", "0..=300", "no `u8` lies in this range, or it goes beyond the type"),
            ("KP0208", "\"z-a\"", "the character class is malformed"),
            ("KP0210", "text(300..).len8", "`len8` can hold none of these values"),
            ("KP0209", "-1", "no length lies in this range"),
        ],
    );
}

#[test]
fn clauses_belong_to_their_kind_of_family() {
    check(
        "space s { zset z = 0x01 member m: u8; key k = 0x02 score s: u8; set t = 0x03 member a: u8 member b: u8; }",
        &[
            ("KP0211", "z", "a `zset` family needs a `score` clause"),
            ("KP0211", "s: u8", "a `key` family has no `score`"),
            ("KP0211", "b: u8", "`member` is given twice"),
        ],
    );
}

#[test]
fn one_hash_is_spread_over_the_slots_of_a_cluster_at_most() {
    check(
        "space s { hash h = \"h\" field f = a: u8 spread 1; hash i = \"i\" field f = a: u8 spread 16384; }",
        &[],
    );
    let cannot = "the hash cannot be spread";
    check(
        "space s { hash h = \"h\" field f = a: u8 spread 0; hash i = \"i\" field f = a: u8 spread 16385;
            hash j = \"j\" field f = a: u8 spread -1; hash k = \"k\" id: u8 field f = a: u8 spread 2;
            hash l = \"{l}\" field f = a: u8 spread 3; set m = \"m\" member a: u8 spread 4;
            hash n = \"n\" field f = a: u8 spread 5 spread 6; }",
        &[
            ("KP0211", "0", cannot),
            ("KP0211", "16385", cannot),
            ("KP0211", "-1", cannot),
            ("KP0211", "2", cannot),
            ("KP0211", "3", cannot),
            ("KP0211", "4", "a `set` family has no `spread`"),
            ("KP0211", "6", "`spread` is given twice"),
        ],
    );
}

#[test]
fn accepted_flaws_name_families_of_the_space() {
    check(
        "space s { key a = 0x01 accept overlap(b) \"x\" accept overlap(c) \"y\" accept sloppy \"z\" accept ambiguous(b) \"w\"; key b = 0x01; }",
        &[
            ("KP0213", "accept overlap(c) \"y\"", "no other family of the space is called `c`"),
            ("KP0213", "sloppy", "no flaw is called `sloppy`"),
            ("KP0213", "accept ambiguous(b) \"w\"", "`accept ambiguous` is not written like this"),
        ],
    );
}

#[test]
fn allotments_are_bytes_and_do_not_overlap() {
    check(
        "space s { module m = 0x01 { allot 0x01..=0x0f core; allot 0x0f..=0x1f more; allot 300 x; key k = 0x01 allot cor; } allot 0x01 y; }",
        &[
            ("KP0214", "allot 0x0f..=0x1f more;", "the allotment `more` overlaps `core`"),
            ("KP0214", "allot 300 x;", "numbers are one byte: 0x00 to 0xff"),
            ("KP0201", "cor", "no allotment is called `cor`"),
            ("KP0214", "allot 0x01 y;", "numbers are allotted inside a module"),
        ],
    );
}

#[test]
fn copies_and_derived_parts_refer_to_arguments_of_their_sequence() {
    check(
        "space s { key k = same(a) a: u8 x = crc16(b) y = md5(a) z = crc16(a) as u8 w = crc16(a) % 0; }",
        &[("KP0215", "a", "no argument `a` comes before this")],
    );
    check(
        "space s { key k = a: u8 x = crc16(b); key l = a: u8 y = md5(a); key m = a: u8 z = crc16(a) as u8; key n = a: u8 w = crc16(a) % 0; key o = a: u8 v = crc16(a) as u16.dec; }",
        &[
            ("KP0215", "b", "the sequence has no argument `b`"),
            ("KP0201", "md5", "no function is called `md5`"),
            ("KP0215", "z = crc16(a) as u8", "`u8` is too narrow for values up to 65535"),
            ("KP0215", "0", "a modulus is at least 1"),
            ("KP0215", "v = crc16(a) as u16.dec", "a derived part must tell where it ends"),
        ],
    );
}

#[test]
fn a_copy_in_another_encoding_is_of_what_is_read_back() {
    let refused = "one of the two encodings of `a` loses what the other tells";
    check(
        "space s { key k = a: u8.hashed(sha256, 16) same(a).dec; key l = a: u8 same(a).hashed(sha256, 16); \
         key m = a: u64.high(2) same(a).dec; key n = 0x01 a: u64 same(a).low(1); }",
        &[
            ("KP0215", "same(a).dec", refused),
            ("KP0215", "same(a).hashed(sha256, 16)", refused),
            ("KP0215", "same(a).dec", refused),
            ("KP0215", "same(a).low(1)", refused),
        ],
    );
    // The same bytes once more, the argument after its hash, and numbers that are all told.
    check(
        "space s { key k = a: u8.hashed(sha256, 16) same(a); key l = a: u8.hash_concat(twox_64) same(a).dec; \
         key m = a: u64.low(1) same(a); key n = a: u16(254..=257).float same(a).dec; }",
        &[],
    );
}

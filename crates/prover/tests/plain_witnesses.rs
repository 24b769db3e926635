//! Layouts of real programs that a plain pair of keys decides: none of them may be left unknown.
#![cfg(test)]

use std::fmt::Write as _;

use keyplan_prover::{Guarantee, Options, Verdict, Witness, diagnose, prove};

/// What is said of a guarantee of the one family of a plan: `proved`, or the keys that refute it.
fn said(family: &str, guarantee: Guarantee) -> String {
    let text = format!("plan p; space s {{ key k = {family}; }}");
    let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("no imports".to_owned()));
    assert_eq!(compiled.diagnostics, [], "{text}");
    let report = prove(&compiled.plan.unwrap(), &Options::default());
    let statement = report.statements.iter().find(|statement| statement.guarantee == guarantee).unwrap();
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    match &statement.verdict {
        Verdict::Holds => "proved".to_owned(),
        Verdict::Fails(witness) => match &**witness {
            Witness::SameKey { first, second } => {
                assert_ne!(first.values, second.values);
                format!("collides in {} bytes", hex(&first.bytes).len() / 2)
            }
            Witness::Row { scan, row } => format!("{} -> {}", hex(&scan.bytes), hex(&row.bytes)),
            Witness::Disorder { first, second } => format!("{} > {}", hex(&first.bytes), hex(&second.bytes)),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}

const DENOM: &str = r#"text("a-zA-Z", "a-zA-Z0-9/:._-", 3..=128)"#;

#[test]
fn a_denom_at_the_end_leaks_into_a_longer_one() {
    let family = format!(r#"0x01 a: {DENOM}.len8 "|" b: {DENOM} scan by a, b"#);
    assert_eq!(said(&family, Guarantee::NoSiblingRows), "01036161617c616161 -> 01036161617c61616161");
}

#[test]
fn an_address_of_two_lengths_before_a_length_collides() {
    let family = r#"0x01 addr: bytes(20 | 32) d: text("a-zA-Z", "a-zA-Z0-9/", 3..=128).len8"#;
    // 20 bytes, then a denomination of 59; 32 bytes, then one of 47, the number of `/`.
    assert_eq!(said(family, Guarantee::Unambiguous), "collides in 81 bytes");
}

#[test]
fn a_range_that_ends_before_what_begins_alike_is_proved() {
    // `aa` begins with `a`, and comes after every range from `a` to `aa`.
    let family = r#"0x06 a: text("a-z", 1..=40) "/" n: u8 scan by a bare to "a""#;
    assert_eq!(said(family, Guarantee::NoSiblingRows), "proved");
    let family = r#"0x06 a: text("a-z", 1..=40) "/" n: u8 scan by a bare to "b""#;
    let found = said(family, Guarantee::NoSiblingRows);
    assert!(found.starts_with("Range "), "{found}");
}

#[test]
fn elements_of_a_list_without_an_end_of_their_own_collide() {
    assert_eq!(said("0x01 a: list(u8.dec, 1..).count16 0xff", Guarantee::Unambiguous), "collides in 7 bytes");
    let family = "0x01 a: list(text(\"a-z\", 1..), 2..).varcount.len16 b: u8 scan by a";
    assert!(said(family, Guarantee::NoSiblingRows).contains(" -> "));
}

#[test]
fn copies_and_derived_parts_of_small_domains_are_decided_by_their_keys() {
    let family = r#"0x01 a: text("01", 1..=3) b: text("01", 1..=3) same(a)"#;
    assert_eq!(said(family, Guarantee::Unambiguous), "collides in 6 bytes");
    // Three or four bytes with one letter of `a`, five or six with two.
    let family = r#"0x01 a: text("01", 1..=2) b: text("01", 1..=2) same(a) check = crc16(b) % 3 as u8"#;
    assert_eq!(said(family, Guarantee::Unambiguous), "proved");
    let family = r#"0x01 a: u8(0..=9).dec b: text("ab", 0..=2) same(a) "0""#;
    assert_eq!(said(family, Guarantee::Unambiguous), "proved");
}

#[test]
fn a_list_of_bytes_under_a_length_is_read_one_way() {
    let family = "0x01 a: list(u8(1..=9), 1..=200).len8 b: u8";
    assert_eq!(said(family, Guarantee::Unambiguous), "proved");
    let family = "0x01 a: list(u8(1..=9), 0..).len8 b: text(\"a-z\", 0..=64) scan by a";
    assert_eq!(said(family, Guarantee::NoSiblingRows), "proved");
}

#[test]
fn lists_of_ranged_bytes_under_a_length_are_not_in_order() {
    let family = "0x01 a: list(u8(1..=9), 1..=200).len8 scan all in order";
    assert_eq!(said(family, Guarantee::InOrder), "01020101 > 010102");
}

#[test]
fn the_length_of_a_key_tells_a_copy_from_its_argument() {
    let family = format!("0x01 denom: {DENOM} same(denom)");
    assert_eq!(said(&family, Guarantee::Unambiguous), "proved");
    let family = format!("0x01 id: u64 denom: {DENOM} same(denom) tail: bytes(4)");
    assert_eq!(said(&family, Guarantee::Unambiguous), "proved");
    // A second length that is not known: `a`, `aa` + `b`…
    let family = "0x01 a: text(\"a\", 1..=9) same(a) b: text(\"a\", 1..=9)";
    assert!(
        said(family, Guarantee::Unambiguous).starts_with("collides in"),
        "{}",
        said(family, Guarantee::Unambiguous)
    );
}

/// `CometBFT` writes `tx.height/5/5/0$es$0`: the height as a value, and once more as a height.
#[test]
fn a_copy_is_known_where_its_argument_has_been_read() {
    let sound = |family: &str| {
        assert_eq!(said(family, Guarantee::NoSiblingRows), "proved", "{family}");
        assert_eq!(said(family, Guarantee::Unambiguous), "proved", "{family}");
    };
    sound(r#""tx.height/" n: u64.dec "/" same(n) "/" index: u32.dec "$es$0" scan by n"#);
    sound(r#""tx.height/" n: u64.dec "/" same(n) scan by n"#);
    sound(r#""tx.height/" n: u64.dec "/" same(n) index: u32 scan by n"#);
    sound(r#"0x01 d: text("a-z", 3..=128) "/" same(d) name: text("a-z", 1..=5) scan by d"#);
    sound(
        r#"0x01 d: text("a-z", 3..=128) "/" same(d) a: text("a-z", 1..=5) "/" b: text("a-z", 1..=5) scan by d, a"#,
    );
    // What tells the length of both is the byte after them, which neither has.
    sound(&format!("0x01 d: {DENOM} same(d) 0x00 n: u64 scan by d"));
    sound(&format!(r#"0x01 d: {DENOM} "/" same(d) "!" name: text("a-z", 1..=5) scan by d"#));
    assert_eq!(
        said(&format!(r#"0x01 a: text("a-z", 1..=5) "/" d: {DENOM} same(d)"#), Guarantee::Unambiguous),
        "proved"
    );
}

#[test]
fn a_little_endian_length_is_read_as_a_text() {
    // `-/-`: a separator and a length of 11,565 bytes, or three characters.
    let family = format!(r#"0x01 d: {DENOM} "/" value: bytes(0..=60000).len16le"#);
    let bigendian = family.replace("len16le", "len16");
    assert_eq!(said(&family, Guarantee::Unambiguous), said(&bigendian, Guarantee::Unambiguous));
    assert!(said(&family, Guarantee::Unambiguous).starts_with("collides in 115"));
    let family = format!(r#"0x01 d: {DENOM} "/" value: bytes(0..=60000).len16le scan by d"#);
    assert!(said(&family, Guarantee::NoSiblingRows).contains("->"));
}

#[test]
fn the_first_character_after_a_length_is_one_that_a_text_begins_with() {
    // The length is a digit, and no text begins with one: so the number ends before it.
    let family = format!("0x01 n: u32.dec d: {DENOM}.len8");
    assert_eq!(said(&family, Guarantee::Unambiguous), "proved");
    let family = r#"0x01 n: u32.dec d: text("a-zA-Z0-9/:._-", 3..=128).len8"#;
    assert!(said(family, Guarantee::Unambiguous).starts_with("collides in"));
    let family = r#"0x01 n: u32.dec d: text("1-9", "0-9a-z", 3..=128).len8"#;
    assert!(said(family, Guarantee::Unambiguous).starts_with("collides in"));
}

/// A copy tells nothing where its argument may have two readings, or may not be read back.
#[test]
fn a_copy_of_what_is_not_known_proves_nothing() {
    let refuted = |family: &str, guarantee: Guarantee| {
        let said = said(family, guarantee);
        assert!(said.contains("->") || said.starts_with("collides"), "{family}: {said}");
    };
    refuted(r#"0x01 n: u64.dec "/" same(n) "/" index: u32.dec scan by n bare"#, Guarantee::NoSiblingRows);
    refuted(&format!("0x01 d: {DENOM} same(d) n: u64 scan by d"), Guarantee::NoSiblingRows);
    // The mark is a byte of the texts.
    refuted(r#"0x01 d: text("a/", 1..=9) same(d) "/" n: u8 scan by d"#, Guarantee::NoSiblingRows);
    refuted(r#"0x01 d: text("a", 1..=9) same(d) "a" n: text("ab", 1..=9) scan by d"#, Guarantee::Unambiguous);
    refuted(
        r#"0x01 d: text("a", 1..=9) same(d).len8 0x00 n: text("a", 1..=9) b: text("a", 1..=9)"#,
        Guarantee::Unambiguous,
    );
    // What is lost is not told by a copy that loses it too.
    let lossy = said("0x01 n: u16.low(1) same(n) x: u8 scan by n", Guarantee::NoSiblingRows);
    assert!(lossy.contains("->"), "{lossy}");
}

#[test]
fn lengths_that_do_not_sort_are_not_proved_in_order() {
    // 255 is `ff 00`, and 256 is `00 01`.
    let family = "0x01 a: (x: bytes(255) | y: bytes(256)).len64le scan all in order";
    assert_ne!(said(family, Guarantee::InOrder), "proved");
    // 255 is `ff 01`, and 256 is `80 02`.
    let family = "0x01 a: (x: bytes(255) | y: bytes(256)).varlen scan all in order";
    assert_ne!(said(family, Guarantee::InOrder), "proved");
}

#[test]
fn numbers_as_text_behind_their_length_are_in_order() {
    assert_eq!(said("0x01 height: u64.dec.len8 scan all in order", Guarantee::InOrder), "proved");
    assert_eq!(said("0x01 height: u64.hex.len16 scan all in order", Guarantee::InOrder), "proved");
    assert_eq!(said("0x01 level: u8(126..=129).leb128 scan all in order", Guarantee::InOrder), "proved");
    // -1 takes two characters, and 0 one.
    let signed = said("0x01 delta: i64.dec.len8 scan all in order", Guarantee::InOrder);
    assert!(signed.contains(" > "), "{signed}");
}

#[test]
fn a_length_sorts_only_as_it_is_written() {
    let ordered = |frame: &str, lengths: &str| {
        said(&format!(r#"0x01 a: text("a", {lengths}).{frame} scan all in order"#), Guarantee::InOrder)
    };
    assert_eq!(ordered("len16", "0..=300"), "proved");
    assert_eq!(ordered("len16le", "0..=255"), "proved");
    assert!(ordered("len16le", "0..=300").contains(" > "), "{}", ordered("len16le", "0..=300"));
    assert_eq!(ordered("varlen", "126..=129"), "proved");
    assert!(ordered("scalelen", "60..=68").contains(" > "), "{}", ordered("scalelen", "60..=68"));
}

#[test]
fn a_range_up_to_given_bytes_leaves_out_what_may_follow_and_no_more() {
    let missing =
        |rest: &str| said(&format!(r#"0x01 a: bytes("a/", 0..=2) {rest}"#), Guarantee::NoMissingRows);
    assert_eq!(missing(r#"scan by a bare to "9""#), "proved");
    assert!(
        missing(r#"b: u8 scan by a bare to "9""#).contains("Range"),
        "{}",
        missing(r#"b: u8 scan by a bare to "9""#)
    );
}

#[test]
fn a_count_bounds_the_length_of_a_list() {
    assert_eq!(said("0x01 a: list(u64, 1..).count8", Guarantee::Fits), "proved");
}

#[test]
fn what_has_its_count_or_length_in_front_is_read_one_way() {
    let family = "0x01 a: list(list(bytes.len8, 1..).count8.len16, 1..).varcount b: text scan by a";
    assert_eq!(said(family, Guarantee::Unambiguous), "proved");
    assert_eq!(said(family, Guarantee::NoSiblingRows), "proved");
    // An item that may be empty can stand anywhere in a list without a count.
    let family = "0x01 a: list(text(\"a\", 0..=1), 0..).len8";
    assert_eq!(said(family, Guarantee::Unambiguous), "collides in 2 bytes");
}

/// Counts that are not written as a run of continuation bytes: 200 is `c8`, and 40 is `a0`.
#[test]
fn a_long_count_is_drawn_as_it_is_written() {
    for (framing, first, count) in [
        ("compactcount", "c8", 200),
        ("scalecount", "a0", 40),
        ("count8", "c8", 200),
        ("count16le", "2800", 40),
    ] {
        let text = format!(
            r#"plan p; space s {{
                key k = 0x01 a: list(u8(128..=255), 1..).{framing};
                key l = 0x01 0x{first} b: bytes("\\x80-\\xff", {count});
                key m = 0x01 0x{first} b: bytes("\\x80-\\xff", 3);
            }}"#
        );
        let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("no imports".to_owned()));
        let report = prove(&compiled.plan.unwrap(), &Options::default());
        let verdict = |other: &str| {
            let both = |statement: &&keyplan_prover::Statement| {
                statement.guarantee == Guarantee::Disjoint
                    && statement.family == "s.k"
                    && statement.other.as_deref() == Some(other)
            };
            report.statements.iter().find(both).map(|statement| &statement.verdict)
        };
        assert!(matches!(verdict("s.l"), Some(Verdict::Fails(_))), "{framing}: {:?}", verdict("s.l"));
        // Three bytes are not so many elements.
        assert_eq!(verdict("s.m"), None, "{framing}");
    }
}

/// A number of which only some bytes are written is in order as far as those go.
#[test]
fn the_order_of_truncated_integers_is_decided() {
    let ordered = |family: &str| said(&format!("0x01 {family} scan all in order"), Guarantee::InOrder);
    // 2^24 is written like 0.
    assert!(ordered("n: u64.low(3)").contains(" > "), "{}", ordered("n: u64.low(3)"));
    assert!(ordered("n: u16(254..=257).low(1)").contains(" > "));
    assert_eq!(ordered("n: u64(0..=16777215).low(3)"), "proved");
    assert_eq!(ordered("n: u16(256..=511).low(1)"), "proved");
    // 0 and 1 have the same first bytes, and what follows decides.
    assert!(ordered("n: u64.high(2) m: u8").contains(" > "), "{}", ordered("n: u64.high(2) m: u8"));
    assert!(ordered("n: u64.float m: u8").contains(" > "), "{}", ordered("n: u64.float m: u8"));
    assert_eq!(ordered("n: u32.float m: u8"), "proved");
    for family in ["n: u64.high(2)", "n: u64.float", "n: list(u64.float, 2).count8", "n: u64.low(3).desc"] {
        assert!(!ordered(family).contains("Unknown"), "{family}: {}", ordered(family));
    }
}

/// What comes before an argument is alike in all rows that differ in it, and so are copies of that.
#[test]
fn copies_and_derived_parts_do_not_disturb_the_order_of_what_comes_first() {
    let family =
        "0x01 a: list(bytes(1..), 0 | 2).compactcount.desc 0x00ff b: u64 same(a) scan by a bare in order";
    assert_eq!(said(family, Guarantee::InOrder), "proved");
    let family = "0x01 a: u64 check = crc16(a) b: text(\"a-z\", 1..=9).len8 scan by a in order";
    assert!(said(family, Guarantee::InOrder).contains(" > "));
    // A part that is derived from what comes after it decides first.
    let family = "0x01 check = crc16(a) a: u64 scan all in order";
    assert!(said(family, Guarantee::InOrder).contains(" > "));
}

/// The range of 63 ends where that of 64 begins, which has one byte more.
#[test]
fn a_range_up_to_the_next_value_is_decided_where_numbers_grow() {
    let family = "0x01 n: i64.orderedcode.compactlen 0x00ff scan by n to next";
    assert!(
        said(family, Guarantee::NoSiblingRows).starts_with("Range"),
        "{}",
        said(family, Guarantee::NoSiblingRows)
    );
    assert!(said(family, Guarantee::NoMissingRows).starts_with("Range"));
    let family = "0x01 n: u64.low(3).len32 t: text(\"ab\", 0..=2).memcmp scan by n to next";
    assert!(said(family, Guarantee::NoMissingRows).starts_with("Range"));
}

/// Beside a hash, what can be read in two ways can still be shown.
#[test]
fn an_ambiguity_beside_a_hash_is_shown() {
    let family = "0x01 a: option(option(u8.dec)) \"b\" h: u8.hashed(blake2b_128, 16)";
    assert!(said(family, Guarantee::Unambiguous).starts_with("collides"));
    let family = "0x01 a: list(text(\"ab\", 0..=2), 1..=2) \"b\" h: u8.hashed(sha256, 8)";
    assert!(said(family, Guarantee::Unambiguous).starts_with("collides"));
}

/// A hash inside of what the graph sees as plain bytes is a hash nevertheless.
#[test]
fn a_hash_under_a_length_is_assumed_not_to_collide() {
    let family = "0x01 a: list(text(\"a-z\", 1..).hashed(xxh3_64), 1..).len16";
    let found = said(family, Guarantee::Unambiguous);
    assert!(found.starts_with("Assumed"), "{found}");
}

/// No collision of the hash is needed where two values are written alike before they are hashed.
#[test]
fn what_is_written_alike_is_hashed_alike() {
    let ambiguous = [
        "list(text(\"ab\", 0..=2), 1..=2).hashed(sha256)",
        "(x: text(\"ab\", 0..=2) y: text(\"ab\", 0..=2)).hashed(xxh3_64)",
        "option(text(\"a\", 0..=2)).len8.hashed(keccak256)",
        "option(list(u8.dec, 1..=3).hashed(sha256, 8)).len8",
        "(x: u8 y: list(option(u8), 1..=2).hashed(twox_128).desc)",
    ];
    let lossy = [
        "u16.low(1).hashed(sha256, 8)",
        "bytes(0..=9).fit(2).len8.hashed(blake2b_256)",
        "i8.saturating.hashed(xxh3_64).len8",
        "list(u64.float, 1..=2).count8.hashed(sha256)",
    ];
    for domain in ambiguous.into_iter().chain(lossy) {
        let family = format!("0x01 a: {domain} b: u8 scan by a");
        let found = said(&family, Guarantee::Unambiguous);
        assert!(found.starts_with("collides"), "{domain}: {found}");
        let found = said(&family, Guarantee::NoSiblingRows);
        assert!(found.contains(" -> "), "{domain}: {found}");
    }
    for domain in lossy {
        let found = said(&format!("0x01 a: {domain}"), Guarantee::Lossless);
        assert!(found.starts_with("collides"), "{domain}: {found}");
    }
    for domain in [
        "list(text(\"ab\", 0..=2).len8, 1..=2).hashed(sha256)",
        "(x: text(\"a-z\", 1..=9) \"/\" y: bytes(20).bech32(\"osmo\")).hashed(xxh3_64)",
        "option(u64).hashed(keccak256)",
        "u16(0..=9).low(1).hashed(sha256, 8)",
        "bytes(3).hashed(sha256).hashed(xxh3_64)",
    ] {
        let family = format!("0x01 a: {domain} b: u8 scan by a");
        for guarantee in [Guarantee::Unambiguous, Guarantee::NoSiblingRows] {
            let found = said(&family, guarantee);
            assert!(found.starts_with("Assumed"), "{domain}: {found}");
        }
    }
}

/// What a digest hides is one argument, and the rows that begin with it are those of one scan and of another.
#[test]
fn a_hash_in_front_hides_no_leak() {
    let leaks = |family: &str| {
        let found = said(family, Guarantee::NoSiblingRows);
        assert!(found.contains(" -> "), "{family}: {found}");
    };
    leaks("h: text(1..=64).hashed(twox_128) pool: u64.dec \"/\" n: u8 scan by h, pool bare");
    leaks(
        "h: bytes(20).hashed(sha256, 8) name: text(\"a-z\", 1..=9) tail: text(\"a-z\", 1..=9) scan by h, name",
    );
    leaks("h: (x: u8 y: text.hashed(keccak256)) pool: u64.dec \"/\" n: u8 scan by h, pool bare");
    leaks("pool: u64.dec h: text.hashed(sha256) scan by pool");
}

/// What is said of two families, `k` and `l`: of a scan of `k`, or that they share no key.
fn said_of_two(k: &str, l: &str, guarantee: Guarantee) -> String {
    let text = format!("plan p; space s {{ key k = {k}; key l = {l}; }}");
    let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("no imports".to_owned()));
    assert_eq!(compiled.diagnostics, [], "{text}");
    let report = prove(&compiled.plan.unwrap(), &Options::default());
    let statement = report.statements.iter().find(|s| s.guarantee == guarantee && s.family == "s.k").unwrap();
    match &statement.verdict {
        Verdict::Holds => "proved",
        Verdict::Fails(_) => "refuted",
        Verdict::Assumed(_) => "assumed",
        Verdict::Unknown(_) => "unknown",
    }
    .to_owned()
}

/// Where a few bytes of a digest decide, some argument has them.
#[test]
fn a_hash_is_not_told_from_others_by_a_byte_or_two() {
    let named = |hash: &str| format!("name: text(1..=64).hashed({hash})");
    for hash in ["keccak256", "sha256", "xxh3_64"] {
        assert_eq!(said_of_two("0x01 n: u64 scan all", &named(hash), Guarantee::NoForeignRows), "refuted");
    }
    assert_eq!(said_of_two("0x0102 n: u64 scan all", &named("xxh3_64"), Guarantee::NoForeignRows), "refuted");
    assert_eq!(
        said_of_two("0x01 n: u64", "name: text(1..=64).hashed(sha256, 9)", Guarantee::Disjoint),
        "refuted"
    );
    let scanned = "name: text(1..=64).hashed(sha256) n: u8 scan by name";
    let other = "digest: bytes(31) 0x07 n: u16";
    assert_eq!(said_of_two(scanned, other, Guarantee::NoForeignRows), "refuted");
    // Three bytes are looked for in vain, and are not taken to be enough.
    assert_eq!(
        said_of_two("0x010203 n: u64 scan all", &named("sha256"), Guarantee::NoForeignRows),
        "unknown"
    );
    assert_eq!(
        said_of_two("0x0102030405060708 n: u8 scan all", &named("sha256"), Guarantee::NoForeignRows),
        "assumed"
    );
    let text = "name: text(\"a-z\", 8)";
    assert_eq!(said_of_two(text, "name: u64.hashed(xxh3_64)", Guarantee::Disjoint), "unknown");
}

/// A constant is the hash of its name, and whoever hashes any name may hash this one.
#[test]
fn two_families_that_hash_the_same_name_meet() {
    let constant = "0x01 twox_128(\"System\") n: u8";
    let named = "0x01 pallet: text(1..=64).hashed(twox_128) n: u8";
    assert_eq!(said_of_two(constant, named, Guarantee::Disjoint), "refuted");
    let scanned = format!("{named} scan by pallet");
    assert_eq!(said_of_two(&scanned, constant, Guarantee::NoForeignRows), "refuted");
    assert_eq!(said_of_two(&scanned, &format!("{constant} m: u8"), Guarantee::NoForeignRows), "refuted");
    let other = "0x01 name: bytes(0..=9).hashed(twox_128) n: u16";
    assert_eq!(said_of_two(&scanned, other, Guarantee::NoForeignRows), "refuted");
    let inside = "0x01 a: (name: text(\"a-z\", 0..=9).hashed(twox_128) n: u8)";
    assert_eq!(said_of_two(inside, named, Guarantee::Disjoint), "refuted");
    assert_eq!(said_of_two(&scanned, inside, Guarantee::NoForeignRows), "refuted");
    let raw = "0x01 digest: bytes(16) n: u16";
    assert_eq!(said_of_two(&scanned, raw, Guarantee::NoForeignRows), "refuted");
    // No such name, or another hash: only a collision brings them together.
    for apart in ["text(\"a-z\", 1..=64).hashed(twox_128)", "text(1..=64).hashed(blake2b_128)"] {
        let named = format!("0x01 pallet: {apart} n: u8");
        assert_eq!(said_of_two(constant, &named, Guarantee::Disjoint), "assumed", "{apart}");
    }
}

#[test]
fn the_longest_key_after_a_length_is_found() {
    let family = "0x01 a: bytes.tuple.len16";
    assert!(said(family, Guarantee::Fits).starts_with("TooLong"), "{}", said(family, Guarantee::Fits));
    assert_eq!(said("0x01 a: bytes.tuple.len8", Guarantee::Fits), "proved");
    // One byte, ten of the greatest number, three of the length and the bytes: 65,535 in all, and one more.
    let family = |most: usize| format!("0x01 n: u64.leb128 a: bytes(0..={most}).compactlen");
    assert_eq!(said(&family(65_521), Guarantee::Fits), "proved");
    assert!(said(&family(65_522), Guarantee::Fits).starts_with("TooLong"));
}

/// A count of some thousand elements of which most are empty.
#[test]
fn a_list_of_thousands_is_read_and_written() {
    let text = r#"plan p; space s {
        key k = "a" a: list(nibbles(0 | 2).packed, 1..).count16 0x01 scan by a;
        key l = "a" a: u16(254..=257).tuple b: nibbles(1).hex_prefix;
    }"#;
    let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("no imports".to_owned()));
    let report = prove(&compiled.plan.unwrap(), &Options::default());
    let leak = report.statements.iter().find(|s| s.guarantee == Guarantee::NoForeignRows).unwrap();
    let Verdict::Fails(witness) = &leak.verdict else { panic!("{leak:?}") };
    let Witness::Row { scan, row } = &**witness else { panic!("{witness:?}") };
    // 0x1601 empty elements and the literal; 257, and a path of one digit.
    assert_eq!(scan.bytes, [0x61, 0x16, 0x01, 0x01]);
    assert_eq!(row.bytes.get(..4), Some(scan.bytes.as_slice()));
}

/// -1 is the last of its bytes and 0 the first: the range of -1 is empty, and every other holds its own rows only.
#[test]
fn a_range_of_big_endian_numbers_holds_no_others_though_the_sign_turns() {
    let family = "0x00 n: i16.varlen.terminated 0x00ff scan by n to next";
    assert_eq!(said(family, Guarantee::NoSiblingRows), "proved");
    assert!(said(family, Guarantee::NoMissingRows).starts_with("Range"));
    let family = "0x00 n: i16.le t: u8 scan by n to next";
    assert!(said(family, Guarantee::NoSiblingRows).starts_with("Range"));
}

/// Neighbours that are written alike are one row to the order of bytes, where nothing comes after them.
#[test]
fn what_is_lost_at_the_end_of_a_key_disturbs_no_order() {
    let ordered = |family: &str| said(&format!("0x01 {family} scan all in order"), Guarantee::InOrder);
    for last in [
        "b: i8(-2..=2).saturating",
        "b: i8(-2..=2).saturating 0x01",
        "b: u16(48..=50).high(1)",
        "b: u64.float",
        "b: bytes(0..=2).fit(1).len64",
        "b: score(8388608..=8388609).height_score",
        "b: option(u64.float.len32)",
        "b: (0x02 x: u8 y: u16(48..=50).high(1) 0x03)",
    ] {
        assert_eq!(ordered(&format!("a: u16 {last}")), "proved", "{last}");
    }
    // What follows decides between two that are written alike, and no end of a range lies between them.
    assert!(ordered("a: u16 b: u16(48..=50).high(1) c: u8").contains(" > "));
    assert!(ordered("b: u16(48..=50).high(1)").starts_with("RangeEnd"));
    // Bytes of one length lose nothing when they are filled up.
    assert_eq!(ordered("a: bytes(1).fit(2) b: u8"), "proved");
}

/// The bytes of a number that sorts tell its rows from those of the next one, whatever comes before and after it.
#[test]
fn a_range_up_to_the_next_value_holds_its_rows_whatever_comes_before_the_number() {
    for number in ["u64.ordvar", "u32.dec(10)", "u16.terminated", "i8(-3..=-1)"] {
        let family = format!(
            r#"0x01 a: bytes("\x01", 0..=3) n: {number} same(a) b: u8(8..=11).dec scan by a, n bare to next"#
        );
        assert_eq!(said(&family, Guarantee::NoMissingRows), "proved", "{number}");
    }
    // 2⁵³ and the next number are written alike: the range between them is empty.
    let family = "0x01 a: u8 n: u64.float scan by a, n to next";
    assert!(said(family, Guarantee::NoMissingRows).starts_with("Range"));
    // Turned around, a range ends before it begins: nothing is in it, and so what should be is not.
    let family =
        "0x01 a: option(u8.dec) 0x80 n: u16(0..=2).leb128.len16.desc same(a) b: u8 scan by a, n to next";
    assert_eq!(said(family, Guarantee::NoSiblingRows), "proved");
    assert!(said(family, Guarantee::NoMissingRows).starts_with("Range"));
}

/// Whatever they come from, a derived part is one of its numbers and a copy one of its values.
#[test]
fn a_range_up_to_given_bytes_holds_what_begins_with_a_derived_part() {
    let range = |end: &str| {
        let family = format!(
            r#"0x01 a: bytes(0 | 2) check = crc16(b) % 3 as u8 b: text("a-z", 1..=9) same(a) scan by a {end}"#
        );
        said(&family, Guarantee::NoMissingRows)
    };
    assert_eq!(range("to 0xff"), "proved");
    assert_eq!(range("to 0x03"), "proved");
    assert_ne!(range("to 0x01"), "proved");
}

/// A part that comes before what it is derived from decides first: if that has few values, all of them are looked at.
#[test]
fn a_part_that_is_derived_from_few_values_after_it_is_decided() {
    let family = r#"0x01 a: bytes(2) part = crc32(b) % 3 as u8 b: bytes("\x01", 0..=3) scan by a in order"#;
    assert!(!said(family, Guarantee::InOrder).contains("Unknown"), "{}", said(family, Guarantee::InOrder));
    let family = "0x01 a: u64 part = crc32(b) % 2 as u8 b: list(list(i16(1..=3).float, 2).count8, 2).count8 \
                  scan all in order";
    assert!(said(family, Guarantee::InOrder).contains(" > "), "{}", said(family, Guarantee::InOrder));
}

/// Numbers after their length rise with it, so that their ranges follow each other: what lies in one of them lies between the first
/// number and the last.
#[test]
fn ranges_of_numbers_after_their_length_hold_no_other_family() {
    for number in ["u64.orderedcode.len32", "u64.bitcoin_varint.len64le", "u64.dec.len8"] {
        let text = format!(
            r#"plan p; space s {{ key k = "a" n: {number} b: u8 scan by n to next; key l = "a" n: u8(0..=250).dec c: u16; }}"#
        );
        let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("no imports".to_owned()));
        let report = prove(&compiled.plan.unwrap(), &Options::default());
        let leak = report.statements.iter().find(|s| s.guarantee == Guarantee::NoForeignRows).unwrap();
        assert_eq!(leak.verdict, Verdict::Holds, "{number}");
    }
}

/// What is out of order is told of the part that is, however deep inside.
#[test]
fn the_cause_of_a_wrong_order_is_that_of_the_part_in_which_two_rows_differ() {
    let causes = [
        ("n: u64.low(3).len8 m: u8", "what is not written has no place in the order"),
        ("r: (n: u64.high(2) m: u8).len8 m: u8", "what is not written has no place in the order"),
        ("r: (a: u8 n: option(u16.le).len8).desc", "the least byte comes first"),
        ("r: (p: n: u24 | q: bytes(2)).desc", "its alternatives do not sort as they are listed"),
        (
            "r: (p: n: u24 d = crc16(n) % 7 as u8 | q: bytes(2)).desc",
            "its alternatives do not sort as they are listed",
        ),
        ("n: u64.float.len8 m: u8", "a float rounds, and negative ones sort above positive ones"),
        ("t: text(\"a-z\", 1..=9).len8", "its length comes first, so shorter values do"),
        ("t: text(\"a-z\", 1..=9) \"|\" m: u8", "what comes after a short value sorts above a longer one"),
    ];
    for (parts, cause) in causes {
        let text = format!("plan p; space s {{ key k = 0x01 {parts} scan all in order; }}");
        let plan = keyplan_plan::compile("p.keyplan", &text, |_| Err("no imports".to_owned())).plan.unwrap();
        let options = Options::default();
        let found = diagnose(&plan, &prove(&plan, &options), &options, "p.keyplan");
        let unordered: Vec<_> = found.iter().filter(|found| found.code.id() == "KP0005").collect();
        let [one] = unordered.as_slice() else { panic!("{parts}: {unordered:?}") };
        let labels: Vec<&str> = one.labels.iter().map(|label| label.text.as_str()).collect();
        assert!(labels.contains(&cause), "{parts}: {labels:?}");
    }
}

//! Pairs of plans, each with its rows before and after written down as bytes: carried over, and brought back from every step.

use keyplan_store::engine::Memory;
use keyplan_store::migrate::{ASIDE_SPACE, Migration, Step};
use keyplan_store::{Schema, Store};

use crate::rows::fill;
use crate::support::{Rows, attach, plan, prove, rows};

/// A row before, and after: the space, the key and the value.
type Moved<'a> = (Place<'a>, Option<Place<'a>>);
type Place<'a> = (&'a str, &'a [u8], &'a [u8]);

/// Carries rows over; those without a new place are dropped, or set aside by the plan.
fn carried(old: &str, new: &str, moved: &[Moved<'_>]) {
    let (old, new) = (plan("old", &format!("plan p; {old}")), plan("new", &format!("plan p; {new}")));
    let own = |(space, key, value): Place<'_>| ((space.to_owned(), key.to_vec()), value.to_vec());
    let before: Rows = moved.iter().map(|(row, _)| own(*row)).collect();
    let after: Rows = moved.iter().filter_map(|(_, row)| row.map(own)).collect();
    assert_eq!(before.len(), moved.len());
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    for steps in 0.. {
        let engine = Memory::new();
        fill(engine.clone(), &old, &before);
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        assert_eq!(survey.open_rows(), 0, "{:?}", survey.problems);
        running.begin(&survey, false).unwrap();
        let taken = (0..steps).take_while(|_| running.step(2).unwrap() != Step::Finished).count();
        if taken < steps {
            while running.purge(1).unwrap() > 0 {}
            let mut found = rows(&engine);
            found.retain(|(space, _), _| space != ASIDE_SPACE);
            assert_eq!(found, after);
            Store::open(engine, &Schema::of(&new).unwrap()).unwrap();
            return;
        }
        running.turn_back().unwrap();
        while running.step(3).unwrap() != Step::Undone {}
        assert_eq!(rows(&engine), before, "after {steps} steps");
        Store::open(engine, &Schema::of(&old).unwrap()).unwrap();
    }
}

/// In one space, with values that stay.
fn keys(old: &str, new: &str, moved: &[(&[u8], &[u8])]) {
    let rows: Vec<Moved<'_>> =
        moved.iter().map(|(from, to)| (("s", *from, *from), Some(("s", *to, *from)))).collect();
    carried(&format!("space s {{ {old} }}"), &format!("space s {{ {new} }}"), &rows);
}

#[test]
fn families_take_each_others_prefixes() {
    keys(
        "key a = 0x01 x: u8; key b = 0x02 x: u8;",
        "key a = 0x02 x: u8; key b = 0x01 x: u8;",
        &[(&[1, 1], &[2, 1]), (&[1, 2], &[2, 2]), (&[2, 1], &[1, 1]), (&[2, 9], &[1, 9])],
    );
    // In a ring, with layouts of their own.
    keys(
        "key a = 0x01 x: u8; key b = 0x02 x: u16; key c = 0x03 x: u8.dec;",
        "key a = 0x02 x: u8; key b = 0x03 x: u16; key c = 0x01 x: u8.dec;",
        &[(&[1, 1], &[2, 1]), (&[2, 0, 7], &[3, 0, 7]), (b"\x0312", b"\x0112"), (b"\x031", b"\x011")],
    );
}

#[test]
fn a_family_goes_where_another_has_left() {
    keys(
        "key a = 0x01 x: u8; key b = 0x02 x: u8;",
        "key a = 0x02 x: u8; key b = 0x03 x: u8;",
        &[(&[1, 1], &[2, 1]), (&[2, 1], &[3, 1]), (&[2, 2], &[3, 2]), (&[1, 3], &[2, 3])],
    );
    let gone = [
        (("s", &b"\x01\x05"[..], &b"a"[..]), None),
        (("s", &b"\x02\x05"[..], &b"b"[..]), Some(("s", &b"\x01\x05"[..], &b"b"[..]))),
    ];
    carried(
        "space s { key a = 0x01 x: u8; key b = 0x02 x: u8; }",
        "space s { drop s.a \"unused\"; key b = 0x01 x: u8; }",
        &gone,
    );
}

#[test]
fn a_byte_more_after_a_prefix_may_be_an_old_key() {
    keys(
        "key name = 0x01 name: text;",
        "key name = 0x01 0x61 name: text;",
        &[(b"\x01", b"\x01a"), (b"\x01a", b"\x01aa"), (b"\x01aa", b"\x01aaa"), (b"\x01b", b"\x01ab")],
    );
    keys(
        "key a = 0x01 x: u8; key b = 0x01 0x02 x: u16;",
        "key a = 0x01 0x02 x: u16; key b = 0x01 0x02 0x03 x: u16;",
        &[(&[1, 2], &[1, 2, 0, 2]), (&[1, 3], &[1, 2, 0, 3]), (&[1, 2, 0, 2], &[1, 2, 3, 0, 2])],
    );
}

#[test]
fn keys_without_a_prefix_are_given_one() {
    keys(
        "key out = id: bytes(4) n: u8;",
        "key out = 0x75 id: bytes(4) n: u8;",
        &[(b"abcd\x01", b"uabcd\x01"), (b"uabc\x01", b"uuabc\x01"), (b"uuab\x02", b"uuuab\x02")],
    );
    keys(
        "key out = 0x75 id: bytes(4);",
        "key out = id: bytes(4);",
        &[(b"uabcd", b"abcd"), (b"uuuuu", b"uuuu"), (b"u\0\0\0\0", b"\0\0\0\0")],
    );
}

#[test]
fn integers_are_widened_and_turned() {
    keys(
        "key a = 0x01 x: u16 y: i32;",
        "key a = 0x02 y: i64.tick9 x: u64.le;",
        &[
            (&[1, 1, 2, 0, 0, 0, 3], &[2, 6, 0, 0, 0, 0, 0, 0, 0, 3, 2, 1, 0, 0, 0, 0, 0, 0]),
            (
                &[1, 0, 9, 255, 255, 255, 255],
                &[2, 5, 255, 255, 255, 255, 255, 255, 255, 255, 9, 0, 0, 0, 0, 0, 0, 0],
            ),
        ],
    );
    keys(
        "key a = \"n/\" x: u32.dec \"/\" y: u8.hex;",
        "key a = \"n/\" x: u32.dec(10) y: u8.leb128;",
        &[(b"n/7/ff", b"n/0000000007\xff\x01"), (b"n/4294967295/1", b"n/4294967295\x01")],
    );
}

#[test]
fn text_becomes_bytes_and_is_framed() {
    keys(
        "key a = \"t/\" x: text(\"a-z\", 1..=9) \"/\" y: text(0..=9);",
        "key a = \"t/\" x: bytes(1..=9).len8 y: text(0..=9).terminated;",
        &[
            (b"t/abc/", b"t/\x03abc\0\0"),
            (b"t/a/b/\xc3\xa9", b"t/\x01ab/\xc3\xa9\0\0"),
            (b"t/a/\0", b"t/\x01a\0\xff\0\0"),
        ],
    );
    keys(
        "key a = 0x01 x: bytes(1..=3).hex;",
        "key a = 0x01 x: bytes(1..=3).HEX;",
        &[(b"\x0109", b"\x0109"), (b"\x01ab", b"\x01AB"), (b"\x0109ab", b"\x0109AB")],
    );
}

#[test]
fn an_address_in_hex_becomes_bech32() {
    // BIP 173's program of 20 bytes, with another prefix.
    keys(
        "key a = 0x02 \"/\" who: bytes(20 | 32).hex \"/\" n: u64.dec;",
        "key a = 0x12 who: bytes(20 | 32).bech32(\"osmo\") \"|\" n: u64.dec;",
        &[(
            b"\x02/0000000000000000000000000000000000000000/0",
            b"\x12osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmcn030|0",
        )],
    );
}

#[test]
fn families_become_one_and_say_which_they_were() {
    let rows = [
        (("s", &b"\x01\x07"[..], &b"bid"[..]), Some(("s", &b"\x03\x00\x07"[..], &b"bid"[..]))),
        (("s", &b"\x02\x07"[..], &b"ask"[..]), Some(("s", &b"\x03\x01\x07"[..], &b"ask"[..]))),
        (("t", &b"\x02\x07"[..], &b"old"[..]), Some(("s", &b"\x03\x02\x07"[..], &b"old"[..]))),
    ];
    carried(
        "space s { key bid = 0x01 x: u8; key ask = 0x02 x: u8; } space t { key past = 0x02 x: u8; }",
        "space s { key order = 0x03 side: u8 x: u8 from s.bid(side = 0) from s.ask(side = 1) from t.past(side = 2); }",
        &rows,
    );
    // Without a side they are told apart by their domains.
    carried(
        "space s { key low = 0x01 x: u8(0..=9); key high = 0x02 x: u8(10..=99); }",
        "space s { key low = 0x03 x: u8(0..=9); key high = 0x03 x: u8(10..=99); }",
        &[
            (("s", b"\x01\x09", b""), Some(("s", b"\x03\x09", b""))),
            (("s", b"\x02\x0a", b""), Some(("s", b"\x03\x0a", b""))),
        ],
    );
}

#[test]
fn modules_and_spaces_are_left_and_entered() {
    carried(
        "space s { module m = 0x01 { key a = 0x01 x: u8; key b = 0x02 x: u8; } key c = 0x02 x: u8; }",
        "space s { module m = 0x02 { key a = 0x01 x: u8; } module n = 0x01 { key c = 0x02 x: u8 from s.c; } } space t { key b = x: u8 from s.m.b; }",
        &[
            (("s", &[1, 1, 9], b"a"), Some(("s", &[2, 1, 9], b"a"))),
            (("s", &[1, 2, 9], b"b"), Some(("t", &[9], b"b"))),
            (("s", &[2, 9], b"c"), Some(("s", &[1, 2, 9], b"c"))),
        ],
    );
    // The engine's name of a space.
    carried(
        "space s = \"state-old\" { key a = 0x01 x: u8; }",
        "space s = \"state-new\" { key a = 0x01 x: u8; }",
        &[(("state-old", &[1, 9], b"a"), Some(("state-new", &[1, 9], b"a")))],
    );
    // Spaces take each other's names.
    carried(
        "space s { key a = 0x01 x: u8; } space t { key b = 0x01 x: u8; }",
        "space s { key b = 0x01 x: u8 from t.b; } space t { key a = 0x01 x: u8 from s.a; }",
        &[
            (("s", &[1, 9], b"a"), Some(("t", &[1, 9], b"a"))),
            (("t", &[1, 9], b"b"), Some(("s", &[1, 9], b"b"))),
            (("t", &[1, 8], b"b"), Some(("s", &[1, 8], b"b"))),
        ],
    );
}

#[test]
fn arguments_come_from_names_constants_and_values() {
    carried(
        "space s { key a = 0x01 id: u32 -> owner: bytes(2) amount: u16; }",
        "space s { key a = 0x02 owner: bytes(2) chain: text(\"a-z\", 1..=5).len8 pool: u32.dec -> owner: bytes(2) amount: u32.le from s.a(owner = value.owner, chain = \"osmo\", pool = id); }",
        &[
            (("s", b"\x01\0\0\0\x07", b"ab\0\x09"), Some(("s", b"\x02ab\x04osmo7", b"ab\x09\0\0\0"))),
            (("s", b"\x01\0\0\0\x08", b"ab\x01\0"), Some(("s", b"\x02ab\x04osmo8", b"ab\0\x01\0\0"))),
        ],
    );
}

#[test]
fn options_records_choices_and_lists_are_written_anew() {
    keys(
        "key a = 0x01 at: (pool: u8 tick: u8) kind: (buy: 0x00 | sell: 0x01);",
        "key a = 0x02 kind: (sell: \"s\" | buy: \"b\") tick: u8 pool: u8 memo: option(text(1..=9));",
        &[(&[1, 1, 2, 0], &[2, b'b', 2, 1]), (&[1, 3, 4, 1], &[2, b's', 4, 3])],
    );
    keys(
        "key a = 0x01 all: list(u8, 0..=5);",
        "key a = 0x02 all: list(u16, 0..=5).count8;",
        &[(&[1], &[2, 0]), (&[1, 7], &[2, 1, 0, 7]), (&[1, 1, 2], &[2, 2, 0, 1, 0, 2])],
    );
    keys(
        "key a = 0x01 x: u16 flag: bool;",
        "key a = 0x01 flag: bool x: u16.desc;",
        &[
            (&[1, 0, 1, 0], &[1, 0, 255, 254]),
            (&[1, 0, 1, 1], &[1, 1, 255, 254]),
            (&[1, 1, 0, 1], &[1, 1, 254, 255]),
        ],
    );
}

#[test]
fn a_key_without_arguments_moves_too() {
    keys(
        "key params = \"params\"; key next = 0x01;",
        "key params = 0x01; key next = \"params\";",
        &[(b"params", &[1]), (&[1], b"params")],
    );
}

#[test]
fn what_does_not_fit_is_dropped_or_set_aside_as_the_plan_says() {
    carried(
        "space s { key a = 0x01 x: i8; key b = 0x02 x: u8; }",
        "space s { key a = 0x11 x: u8 from s.a park; key b = 0x12 x: u8(0..=9) from s.b drop; }",
        &[
            (("s", &[1, 5], b"a"), Some(("s", &[0x11, 5], b"a"))),
            (("s", &[1, 255], b"negative"), None),
            (("s", &[2, 5], b"b"), Some(("s", &[0x12, 5], b"b"))),
            (("s", &[2, 77], b"large"), None),
        ],
    );
    // The domains of the new layout leave one reading of two.
    carried(
        "space s { key pair = 0x03 a: text(\"a-z\", 1..=9) b: text(\"a-z\", 1..=9) accept ambiguous \"nothing ends the first\"; }",
        "space s { key pair = 0x13 a: text(\"a-z\", 4..=4) b: text(\"a-z\", 1..=9) from s.pair fitting park; }",
        &[
            (("s", b"\x03upawuusdc", b"1"), Some(("s", b"\x13upawuusdc", b"1"))),
            (("s", b"\x03abc", b"2"), None),
        ],
    );
}

#[test]
fn rows_that_are_as_they_were_stay_where_bounds_are_narrower() {
    carried(
        "space s { key a = 0x01 x: u8; key b = 0x02 x: text(0..=9); }",
        "space s { key a = 0x01 x: u8(0..=9) from s.a park; key b = 0x02 x: text(\"a-z\", 0..=9) from s.b drop; }",
        &[
            (("s", &[1, 5], b"a"), Some(("s", &[1, 5], b"a"))),
            (("s", &[1, 9], b"b"), Some(("s", &[1, 9], b"b"))),
            (("s", &[1, 10], b"c"), None),
            (("s", b"\x02ab", b"d"), Some(("s", b"\x02ab", b"d"))),
            (("s", b"\x02", b"e"), Some(("s", b"\x02", b"e"))),
            (("s", b"\x02A", b"f"), None),
        ],
    );
}

#[test]
fn values_and_keys_change_at_once_under_one_prefix() {
    carried(
        "space s { key a = 0x01 x: u8 -> n: u8; key b = 0x02 x: u8 -> n: u8 memo: text(0..=9); }",
        "space s { key a = 0x01 x: u8 -> n: u16; key b = 0x02 x: u8 -> memo: text(0..=9).len8 n: u64.leb128; }",
        &[
            (("s", &[1, 1], &[7]), Some(("s", &[1, 1], &[0, 7]))),
            (("s", &[1, 2], &[8]), Some(("s", &[1, 2], &[0, 8]))),
            (("s", &[2, 1], b"\xffhi"), Some(("s", &[2, 1], b"\x02hi\xff\x01"))),
        ],
    );
}

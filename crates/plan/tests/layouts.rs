//! Every domain and encoding of the language, from its text to its bytes and back.
#![cfg(test)]

use keyplan_plan::compile;
use keyplan_plan::dynamic::{self, Decoder, Failure, Value, encode, readings};
use keyplan_plan::model::{Extent, Family, Fingerprint, Plan};

fn plan(declarations: &str, parts: &str) -> Plan {
    let text = format!("plan p; {declarations} space s {{ key k = {parts}; }}");
    let compiled = compile("p.keyplan", &text, |_| Err("no imports".into()));
    assert_eq!(compiled.diagnostics, [], "{text}");
    compiled.plan.unwrap()
}

fn family(plan: &Plan) -> &Family {
    &plan.spaces[0].families[0]
}

fn parse_all(family: &Family, args: &[&str]) -> Vec<Value> {
    let arguments = family.key.arguments().zip(args);
    arguments.map(|(argument, text)| dynamic::parse(&argument.shape, text).unwrap()).collect()
}

/// The layout writes these arguments as these bytes, reads them back, and shows them as they were given.
#[track_caller]
fn check(parts: &str, args: &[&str], hex: &str) {
    let plan = plan("", parts);
    let family = family(&plan);
    let values = parse_all(family, args);
    assert_eq!(values.len(), family.key.argument_count(), "one text for each argument");
    let mut key = Vec::new();
    encode(&family.key, &values, &mut key).unwrap();
    assert_eq!(to_hex(&key), hex.replace(' ', ""), "bytes of {parts}");
    let read = readings(&family.key, &key, 8).unwrap();
    assert_eq!(read.readings, std::slice::from_ref(&values), "readings of {parts}");
    assert!(family.key.width().admits(key.len()), "width of {parts}");
    for (argument, value) in family.key.arguments().zip(&values) {
        let shown = value.display(&argument.shape).to_string();
        let again = dynamic::parse(&argument.shape, shown.trim_matches('"'));
        assert_eq!(again.as_ref(), Ok(value), "{shown} is not read back");
    }
}

/// The layout does not read these bytes, and says so at this offset.
#[track_caller]
fn refuse(parts: &str, hex: &str, offset: usize) {
    let plan = plan("", parts);
    let found = readings(&family(&plan).key, &from_hex(hex), 1);
    assert_eq!(found.map(|found| found.readings).map_err(|failure| failure.offset), Err(offset), "{parts}");
}

fn to_hex(bytes: &[u8]) -> String {
    const_hex::encode(bytes)
}

fn from_hex(hex: &str) -> Vec<u8> {
    const_hex::decode(hex.replace(' ', "")).unwrap()
}

#[test]
fn literals_stand_as_they_are() {
    check(r#"0x01 "ab" b"\x00c""#, &[], "01 61 62 00 63");
    check(r#"xxh3_64("accounts")"#, &[], "138a7b25414c083a");
    check(r#"sha256("", 4)"#, &[], "e3b0c442");
}

#[test]
fn integers_have_their_width() {
    check("a: u16 b: u32.le c: i16 d: i16.le", &["258", "1", "-2", "-2"], "0102 01000000 fffe feff");
    check("a: i64.signflip", &["-1"], "7fffffffffffffff");
    check("a: i8.signflip b: u8.desc", &["127", "0"], "ff ff");
    check("a: u128", &["340282366920938463463374607431768211455"], "ffffffffffffffffffffffffffffffff");
    check("a: i64.tick9", &["-100"], "05ffffffffffffff9c");
    refuse("a: i64.tick9", "06ffffffffffffff9c", 0);
    check("a: bool b: bool", &["true", "false"], "0100");
    refuse("a: bool", "02", 0);
    check("a: i64.saturating", &["7"], "0000000000000007");
    check("a: u64(0..=16777215).low(3)", &["66051"], "010203");
    check("a: u64.high(2)", &["72339069014638592"], "0101");
    check("a: u64.float", &["850000"], "4129f0a000000000");
}

#[test]
fn the_widths_of_a_layout_are_reached() {
    let width = |parts: &str| {
        let width = family(&plan("", parts)).key.width();
        (width.min, width.max)
    };
    assert_eq!(width("a: bytes(0..=127).varlen"), (1, Some(128)));
    assert_eq!(width("a: bytes(0..=65530).varlen"), (1, Some(65_533)));
    assert_eq!(width("a: bytes(1..=253).compactlen"), (2, Some(256)));
    assert_eq!(width("a: bytes(1..=64).scalelen"), (2, Some(66)));
    assert_eq!(width("a: list(u8, 0..=200).scalecount"), (1, Some(202)));
    assert_eq!(width("a: list(u8, 1..).varcount"), (2, None));
    assert_eq!(width("a: u16.leb128"), (1, Some(3)));
    assert_eq!(width("a: u64.compact_size"), (1, Some(9)));
    assert_eq!(width("a: u64(300..=400).compact_size"), (3, Some(3)));
    assert_eq!(width("a: u128.scale_compact"), (1, Some(17)));
    assert_eq!(width("a: u64.ordvar b: u64.bitcoin_varint"), (2, Some(19)));
    assert_eq!(width("a: i64.orderedcode b: i64.tuple"), (2, Some(19)));
    assert_eq!(width("a: i64(-300..=-1).tuple"), (2, Some(3)));
    assert_eq!(width("a: i16(-65..=70).orderedcode"), (1, Some(2)));
}

#[test]
fn a_narrowed_range_is_kept_both_ways() {
    check("a: u8(2..=5)", &["5"], "05");
    refuse("a: u8(2..=5)", "06", 0);
    let plan = plan("", "a: u8(2..=5)");
    let error = encode(&family(&plan).key, &[Value::Unsigned(1)], &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "`a`: the number is out of its range");
}

#[test]
fn decimal_and_hex_text_have_one_form() {
    check("a: u64.dec", &["18446744073709551615"], "3138343436373434303733373039353531363135");
    refuse("a: u64.dec", "303037", 0);
    refuse("a: u64.dec", "3138343436373434303733373039353531363136", 0);
    check("a: i8.dec \"/\" b: u8.dec(3)", &["-5", "7"], "2d35 2f 303037");
    check("a: u32.hex \"|\" b: u32.HEX(8)", &["255", "255"], "6666 7c 3030303030304646");
    check("a: bytes(2).hex b: bytes(1).HEX", &["00ff", "ab"], "30306666 4142");
}

#[test]
fn variable_length_numbers_mark_their_end() {
    check("a: u64.leb128 b: u8", &["300", "1"], "ac02 01");
    check("a: u64.ordvar b: u8", &["109", "1"], "f5 01");
    check("a: u64.ordvar b: u8", &["110", "1"], "f66e 01");
    check("a: u64.bitcoin_varint b: u8", &["128", "1"], "8000 01");
    check("a: u64.compact_size b: u8", &["253", "1"], "fdfd00 01");
    refuse("a: u64.leb128 b: u8", "800001", 1);
}

#[test]
fn floats_times_and_scores_keep_their_order_in_bytes() {
    check("a: f64 b: f64.ordered", &["1.0", "-1.0"], "3ff0000000000000 400fffffffffffff");
    check("a: f64.fixed(2)", &["1.5"], "8000000000000096");
    check("a: time", &["2006-01-02T15:04:05.000000001"], &to_hex(b"2006-01-02T15:04:05.000000001"));
    check("a: time.nanos", &["1"], "8000000000000001");
    check("a: score", &["850000/123"], "00 000cf850 000000000000007b");
    check("a: score", &["@1703097600.000000005"], "01 0000000065833500 00000005");
}

#[test]
fn a_float_score_is_read_back_as_the_float_it_became() {
    let plan = plan("", "a: score.height_score");
    let key = &family(&plan).key;
    let score = dynamic::parse(&key.arguments().next().unwrap().shape, "850000/123").unwrap();
    let mut bytes = Vec::new();
    encode(key, &[score], &mut bytes).unwrap();
    assert_eq!(to_hex(&bytes), "4129f0a000000421");
    let read = readings(key, &bytes, 2).unwrap().readings;
    assert_eq!(read, [[Value::Float(850_000.000_000_123)]]);
    let mut again = Vec::new();
    encode(key, &read[0], &mut again).unwrap();
    assert_eq!(again, bytes);
}

#[test]
fn a_bounded_score_is_at_one_of_its_heights() {
    check("a: score(3..=9)", &["9/999999999"], "00 00000009 000000003b9ac9ff");
    refuse("a: score(3..=9)", "00 0000000a 0000000000000000", 0);
    refuse("a: score(3..=9)", "00 00000009 000000003b9aca00", 0);
    refuse("a: score(3..=9)", "01 0000000000000003 00000000", 0);
    check("a: score(1..=8_388_607).height_score", &["8388607.999999999"], "415fffffffffffff");
    refuse("a: score(1..=8_388_607).height_score", "4160000000000000", 0);
    refuse("a: score(1..=8_388_607).height_score", "3fefffffffffffff", 0);
    let (bounded, any) = (plan("", "a: score(3..=9)"), plan("", "a: score"));
    assert_ne!(Fingerprint::of(&bounded), Fingerprint::of(&any));
    assert_ne!(Fingerprint::of(&bounded), Fingerprint::of(&plan("", "a: score(3..=8)")));
    let shape = &family(&bounded).key.arguments().next().unwrap().shape;
    let mut out = Vec::new();
    for outside in ["2/5", "10/0", "5/1000000000", "@1703097600.000000005"] {
        let value = dynamic::parse(shape, outside).unwrap();
        assert!(encode(&family(&bounded).key, &[value], &mut out).is_err(), "{outside}");
    }
}

#[test]
fn text_keeps_to_its_alphabet() {
    check(r#"d: text("a-zA-Z", "a-zA-Z0-9/:._-", 3..=128) "|""#, &["ibc/2"], "6962632f32 7c");
    refuse(r#"d: text("a-z", "a-z0-9", 3..=8)"#, "396162", 0);
    refuse(r#"d: text("a-z", 1..=8) "/" b: u8"#, "6141 2f01", 1);
    check("d: text(1..=8)", &["é"], "c3a9");
    refuse("d: text(1..=8)", "c3", 0);
}

#[test]
fn bytes_have_the_lengths_of_their_domain() {
    check("a: bytes(20 | 32)", &[&"00".repeat(20)], &"00".repeat(20));
    refuse("a: bytes(20 | 32)", &"00".repeat(21), 21);
    check("a: bytes(2..) ", &["0102"], "0102");
    check(
        "a: bytes(20).bech32(\"osmo\")",
        &["000102030405060708090a0b0c0d0e0f10111213"],
        &to_hex(b"osmo1qqqsyqcyq5rqwzqfpg9scrgwpugpzysntdz28t"),
    );
    check("a: nibbles(0..=4) ", &["1a2"], "010a02");
    check("a: nibbles(0..=4).packed", &["1a2b"], "1a2b");
    check("a: nibbles(0..=4).hex_prefix", &["1a2"], "11a2");
}

#[test]
fn frames_mark_the_end_of_what_they_hold() {
    check("a: bytes.len8 b: u8", &["0102", "3"], "02 0102 03");
    check("a: bytes.len16 b: bytes", &["", "ff"], "0000 ff");
    check("a: bytes.len32", &["aa"], "00000001 aa");
    check("a: bytes.len64", &["aa"], "0000000000000001 aa");
    check("a: bytes.len16le b: bytes.len32le", &["0xabcd", "0xef"], "0200abcd01000000ef");
    check(
        "a: bytes(\"\\\\x01-\\\\xff\", 0..=3) 0x00 b: bytes(\"a-c\", 2)",
        &["0x01ff", "0x6162"],
        "01ff 00 6162",
    );
    refuse("a: bytes(\"a-c\")", "6164", 1);
    check("a: text(\"a-z.\").except(\"tx.height\")", &["tx.heigh"], "74782e6865696768");
    refuse("a: text(\"a-z.\").except(\"tx.height\")", "74782e686569676874", 0);
    check("a: bytes.compactlen b: bytes.scalelen", &["0xabcd", "0xef"], "02abcd04ef");
    check("a: bytes.compactlen", &[&"ab".repeat(253)], &format!("fdfd00{}", "ab".repeat(253)));
    check("a: bytes.scalelen", &[&"ab".repeat(64)], &format!("0101{}", "ab".repeat(64)));
    check("a: bytes.orderedcode b: u8", &["6100ff", "1"], "61 00ff ff00 0001 01");
    check("a: list(u8).count16le b: u8", &["[7, 8]", "9"], "0200 0708 09");
    check("a: list(u8).scalecount b: list(u8).compactcount", &["[7, 8]", "[9]"], "08 0708 01 09");
    check("a: bytes(32).hex.len64le", &[&"ab".repeat(32)], &format!("4000000000000000{}", "6162".repeat(32)));
    check("a: bytes.varlen b: u8", &[&"00".repeat(128), "9"], &format!("8001{}09", "00".repeat(128)));
    check("a: bytes.terminated b: u8", &["610062", "255"], "61 00ff 62 0000 ff");
    check("a: bytes.escaped b: u8", &["6100", "1"], "61 00ff 00 01");
    check("a: bytes.memcmp b: u8", &["0102", "1"], "0102000000000000 f9 01");
    check("a: (x: u8 y: text(\"a-z\", 0..)).len16 b: u8", &["(x=1, y=ab)", "2"], "0003 01 6162 02");
    check("a: u64.len16", &["1"], "0008 0000000000000001");
    refuse("a: bytes.len16 b: u8", "0005 61", 3);
}

#[test]
fn an_end_is_found_before_bytes_that_look_like_an_escape() {
    check("a: text(0..=9).escaped b: u64.desc", &["a", "5"], "6100 fffffffffffffffa");
    check("a: bytes(0..=4).escaped b: u64.desc", &["0x6100", "5"], "6100ff00 fffffffffffffffa");
    check("a: bytes(0..=4).escaped 0xff b: u8", &["0x00", "0"], "00ff00 ff 00");
    check("a: bytes(0..=4).tuple b: i8", &["0x6100", "-1"], "016100ff00 ff");
    check("a: text(0..=4).tuple b: u8", &["", "255"], "0200 ff");
    check("a: bytes(0..=4).escaped.desc b: u16", &["0x61", "7"], "9eff 0007");
    check("a: (x: u8 y: text(0..=9).escaped) b: u8", &["(x=1, y=\"b\")", "255"], "016200 ff");
    check("a: list(bytes(1..=2).escaped, 2).count8 b: u8", &["[0x61, 0xff]", "255"], "02 6100 ff00 ff");
    check(
        "a: list(bytes(1).escaped.desc, 2).joined(\"\\x00\") b: u8",
        &["[0x61, 0x62]", "1"],
        "9eff 00 9dff 01",
    );
    // Nothing that begins so comes after it: then its own bytes say where it ends, as before.
    let marked = |parts: &str| plan("", parts).spaces[0].families[0].key.extents()[0];
    assert_eq!(marked("a: text(0..=9).escaped b: u64(0..=9)"), Extent::Delimited);
    assert_eq!(marked("a: text(0..=9).escaped b: text(0..=9)"), Extent::Delimited);
    assert_eq!(marked("a: text(0..=9).escaped"), Extent::Delimited);
    assert_eq!(marked("a: text(0..=9).escaped b: u64"), Extent::Open);
}

#[test]
fn elements_without_bytes_are_counted() {
    for (list, hex) in [("[]", "00"), ("[none]", "01"), ("[some(true)]", "0127")] {
        check("a: list(option(bool.tuple), 0..=1).count8", &[list], hex);
    }
    check("a: list(option(bool.tuple), 0..=1).count8 b: u8", &["[none]", "5"], "01 05");
    check("a: list(text(\"ab\", 0..=1), 3).count8", &["[\"\", \"\", \"\"]"], "03");
    check("a: list(bytes(0), 2).count8 b: u8", &["[0x, 0x]", "5"], "02 05");
    check("a: list(option(u8), 2)", &["[some(1), some(2)]"], "0102");
    let readings = |parts: &str, hex: &str| {
        let plan = plan("", parts);
        let read = readings(&family(&plan).key, &from_hex(hex), 99);
        read.map(|read| read.readings.len())
    };
    // Which of the two is there, nothing says.
    assert_eq!(readings("a: list(option(bool.tuple), 2).count8", "0227"), Ok(2));
    assert_eq!(readings("a: list(option(bool.tuple), 0..=2)", "27"), Ok(3));
    assert_eq!(readings("a: list(option(bool.tuple), 2)", ""), Ok(1));
    assert!(readings("a: list(option(u8))", "01").is_ok_and(|count| count > 1));
    // A count of four billions of nothing is given up in bounded time.
    assert!(readings("a: list(option(bool.tuple)).count32", "ffffffff2727").is_err());
}

#[test]
fn other_systems_write_integers_in_their_own_ways() {
    // CometBFT's index of blocks: the tag and the height by Google's orderedcode.
    check(
        "tag: text.orderedcode height: i64.orderedcode",
        &["block.height", "1000"],
        "626c6f636b2e686569676874 0001 c3e8",
    );
    check("a: i64.orderedcode b: u64.orderedcode", &["-65", "256"], "3fbf 02 0100");
    check("a: u32.scale_compact b: u8", &["69", "1"], "1501 01");
    check("a: u24 b: u40.le c: u48", &["66051", "1", "2"], "010203 0100000000 000000000002");
    check("a: u24.dec \"/\" b: u56.hex", &["16777215", "255"], "3136373737323135 2f 6666");
    check("a: nibbles.counted b: u8", &["123", "1"], "03 1230 01");
    refuse("a: u24.dec", "3136373737323136", 0);
    refuse("a: nibbles.counted b: u8", "03 1231 01", 2);
    refuse("a: u32.scale_compact", "0100", 0);
}

#[test]
fn tuple_elements_carry_their_type() {
    check("a: u64.tuple b: i64.tuple", &["256", "-1"], "160100 13fe");
    check("a: text.tuple b: bytes.tuple", &["a", "00"], "026100 0100ff00");
    check("a: bool.tuple b: f64.tuple", &["true", "1.0"], "27 21bff0000000000000");
}

#[test]
fn complements_reverse_any_layout() {
    check("a: u16.desc b: text(\"a-z\", 1..).desc", &["1", "ab"], "fffe 9e9d");
    check("a: bytes.len8.desc b: u8", &["01", "2"], "fefe 02");
}

#[test]
fn hashes_stand_for_their_argument_or_before_it() {
    check("a: u32.le.hash_concat(twox_64) b: u8", &["1", "2"], "5153cb1f00942ff401000000 02");
    refuse("a: u32.le.hash_concat(twox_64) b: u8", "5153cb1f00942ff402000000 02", 0);
    let plan = plan("", "a: text.hashed(xxh3_64) b: u8");
    let key = &family(&plan).key;
    let mut bytes = Vec::new();
    encode(key, &[Value::Text("accounts".into()), Value::Unsigned(1)], &mut bytes).unwrap();
    assert_eq!(to_hex(&bytes), "138a7b25414c083a01");
    let digest = Value::Digest(from_hex("138a7b25414c083a"));
    assert_eq!(readings(key, &bytes, 2).unwrap().readings, [[digest, Value::Unsigned(1)]]);
}

#[test]
fn a_digest_of_a_known_name_is_read_as_the_name() {
    let names = r#"names Ns = text("a-z", 1..=64) { "accounts", retired "pools" }"#;
    let plan = plan(names, "ns: Ns.hashed(xxh3_64)");
    let read = |hex: &str| readings(&family(&plan).key, &from_hex(hex), 2).unwrap().readings;
    assert_eq!(read("138a7b25414c083a"), [[Value::Text("accounts".into())]]);
    assert_eq!(read("9fa7410297c384fb"), [[Value::Text("pools".into())]]);
    assert_eq!(read("0000000000000001"), [[Value::Digest(vec![0, 0, 0, 0, 0, 0, 0, 1])]]);
}

#[test]
fn records_choices_options_and_lists_nest() {
    let accum = r#""acc/" a: (spread: 0x0b "/" pool: u64.dec | uptime: 0x0c "/" pool: u64.dec "/" i: u8.dec) "||" p: u8"#;
    check(accum, &["spread(pool=10)", "1"], "6163632f 0b2f3130 7c7c 01");
    check(accum, &["uptime(pool=1, i=5)", "1"], "6163632f 0c2f312f35 7c7c 01");
    check("side: (buy: 0x00 | sell: 0x01) n: u8", &["sell", "2"], "0102");
    check("a: (id: u64.len8 | name: 0x00 n: text(1..))", &["name(n=ab)"], "00 6162");
    check("a: (id: u64.len8 | name: 0x00 n: text(1..))", &["id(5)"], "08 0000000000000005");
    check("a: option(u8) ", &["none"], "");
    check("a: u8 b: option((\"/\" c: u8))", &["1", "some((c=2))"], "01 2f02");
    check("a: list(u16) ", &["[1, 2, 3]"], "000100020003");
    check("a: list(u8, 0..=9).count8 b: u8", &["[7, 8]", "9"], "02 0708 09");
    check("a: list(text(\"a-z\", 1..), 1..=4).joined(\"/\")", &["[\"ab\", \"c\"]"], "61622f63");
    check("a: list(bytes.len16) ", &["[0x61, 0x]"], "0001 61 0000");
}

#[test]
fn an_argument_may_be_written_twice() {
    check("a: u8 \"/\" same(a).dec", &["200"], "c8 2f 323030");
    refuse("a: u8 \"/\" same(a).dec", "c8 2f 323031", 2);
    check("a: u8 same(a)", &["3"], "0303");
}

#[test]
fn a_slot_is_computed_from_the_key_behind_it() {
    // CRC-16/XMODEM of "123456789" is 0x31c3.
    check("slot = crc16(user) user: text", &["123456789"], "31c3 313233343536373839");
    check("slot = crc16(user) % 16384 user: text", &["foo"], "2f96 666f6f");
    let crc = format!("{} 00000000 3132", crc32_le(b"12"));
    check("slot = crc32(a, b) as u64.le a: u8 b: u8", &["49", "50"], &crc);
    refuse("slot = crc16(user) % 16384 user: text", "2f97 666f6f", 0);
}

/// CRC-32 (IEEE) bit by bit, apart from the codec, in little-endian hex.
fn crc32_le(bytes: &[u8]) -> String {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    format!("{:08x}", (!crc).swap_bytes())
}

#[test]
fn an_ambiguous_key_has_all_its_readings() {
    let plan = plan("", "a: text(\"a\", 1..) b: text(\"a\", 1..)");
    let text = |n: usize| Value::Text("a".repeat(n));
    let found = readings(&family(&plan).key, b"aaaa", 8).unwrap();
    assert_eq!(found.readings, [[text(1), text(3)], [text(2), text(2)], [text(3), text(1)]]);
    assert!(!found.more);
    let found = readings(&family(&plan).key, b"aaaa", 2).unwrap();
    assert_eq!((found.readings.len(), found.more), (2, true));
}

#[test]
fn a_layout_with_too_many_splits_is_given_up_in_bounded_time() {
    let parts = (0..40).map(|i| format!("a{i}: text(\"a\", 0..)")).collect::<Vec<_>>().join(" ");
    let plan = plan("", &format!("{parts} \"b\""));
    let failure = readings(&family(&plan).key, &[b'a'; 400], 1).unwrap_err();
    assert_eq!(failure.fault, keyplan_plan::codec::Fault::Short { missing: 1 });
    // Copies make what comes later depend on what came before, so nothing can be remembered.
    let parts = (0..20).map(|i| format!("a{i}: text(\"a\", 0..) same(a{i})")).collect::<Vec<_>>().join(" ");
    let plan = self::plan("", &format!("{parts} \"b\""));
    let failure: Failure = readings(&family(&plan).key, &[b'a'; 4000], 1).unwrap_err();
    assert!(failure.exhausted || failure.offset == 4000);
}

#[test]
fn a_key_finds_its_family_by_its_leading_bytes() {
    let text = r#"plan p; space s {
        key a = 0x01 x: u8;
        key b = 0x01 0x02 x: u16;
        key c = "accum/" x: text;
        key rest = x: bytes(30);
    }"#;
    let plan = compile("p", text, |_| Err(String::new())).plan.unwrap();
    let decoder = Decoder::new(&plan);
    let name = |key: &[u8]| decoder.decode(0, key).map(|read| read.family.name.clone());
    assert_eq!(name(&[1, 2]), Ok("a".into()));
    assert_eq!(name(&[1, 2, 0, 0]), Ok("b".into()));
    assert_eq!(name(b"accum/x"), Ok("c".into()));
    assert_eq!(name(&[1; 30]), Ok("rest".into()));
    let miss = name(&[1, 2, 0]).unwrap_err();
    let nearest: Vec<(&str, usize)> = miss.nearest().into_iter().map(|(path, f)| (path, f.offset)).collect();
    assert_eq!(nearest, [("s.b", 3), ("s.rest", 3), ("s.a", 2)]);
}

#[test]
fn a_key_with_another_reading_is_told() {
    let text = r#"plan p; space s {
        key pair = 0x03 a: text("a-z", 1..) b: text("a-z", 1..);
        key event = "z:" name: text;
        key spent = "z:" name: text ":spnd";
        key fitted = 0x04 key: bytes(0..=64).fit(4);
        key shades = 0x05 of: option(list(i64.saturating, 0..=2));
        key copied = 0x06 a: (x: text(0..=3) y: text(0..=3)).len8 same(a);
    }"#;
    let plan = compile("p", text, |_| Err(String::new())).plan.unwrap();
    let decoder = Decoder::new(&plan);
    let other = |name: &str, args: &[&str]| {
        let (_, family) = plan.find(name)[0];
        let values = parse_all(family, args);
        let mut key = Vec::new();
        encode(&family.key, &values, &mut key).unwrap();
        let other = dynamic::other_key(&decoder, 0, family, &values, &key)?;
        Some((other.owner.to_owned(), other.values))
    };
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(other("pair", &["a", "b"]), None);
    assert_eq!(other("pair", &["ab", "c"]), Some(("s.pair".into(), vec![text("a"), text("bc")])));
    assert_eq!(other("event", &["own:x"]), None);
    assert_eq!(other("event", &["x:spnd"]), Some(("s.spent".into(), vec![text("x")])));
    assert_eq!(other("spent", &["x"]), Some(("s.event".into(), vec![text("x:spnd")])));
    // Lossy, but the key has one reading only.
    assert_eq!(other("fitted", &["0102030405"]), None);
    assert_eq!(other("shades", &["some([-1])"]), None);
    // The copy has the same second reading.
    assert_eq!(
        other("copied", &["(x=a, y=b)"]).map(|(_, values)| values),
        Some(vec![Value::Record(vec![text(""), text("ab")])])
    );
    // Nothing is no list without elements, though what is in such lists loses information.
    let empty = Value::Option(Some(Box::new(Value::List(Vec::new()))));
    assert_eq!(other("shades", &["none"]), Some(("s.shades".into(), vec![empty])));
    assert_eq!(other("shades", &["some([])"]), Some(("s.shades".into(), vec![Value::Option(None)])));
}

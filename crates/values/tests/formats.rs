//! Values of every format, with their offsets, and what is wrong with those that are none.
#![cfg(test)]

use keyplan_values::{Codec, Data, Format, Limits, Node, Type, Variant, decode, json, text, write_json};
use proptest::prelude::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn tree(json: &serde_json::Value) -> Node {
    decode(Format::Json, json.to_string().as_bytes(), &Limits::of_json()).unwrap()
}

fn check(format: Format, hex: &str, expected: &str) {
    let found = decode(format, &bytes(hex), &Limits::default());
    let found = found.map_or_else(|fault| fault.to_string(), |node| text(&node));
    assert_eq!(found, expected, "{hex}");
}

fn check_type(ty: &Type, codec: Codec, hex: &str, expected: &str) {
    assert_eq!(ty.check(&Limits::default()), Ok(()));
    let found = ty.decode(codec, &bytes(hex), &Limits::default());
    let found = found.map_or_else(|fault| fault.to_string(), |node| text(&node));
    assert_eq!(found, expected, "{hex}");
}

/// The examples of RFC 8949, appendix A.
#[test]
fn cbor_is_shown_in_diagnostic_notation() {
    for (hex, expected) in [
        ("00", "0"),
        ("1bffffffffffffffff", "18446744073709551615"),
        ("3bffffffffffffffff", "-18446744073709551616"),
        ("f90001", "5.960464477539063e-8"),
        ("f93c00", "1.0"),
        ("f97bff", "65504.0"),
        ("f9c400", "-4.0"),
        ("fa47c35000", "100000.0"),
        ("fb3ff199999999999a", "1.1"),
        ("f97c00", "Infinity"),
        ("f97e00", "NaN"),
        ("f4", "false"),
        ("f6", "null"),
        ("f7", "undefined"),
        ("f0", "simple(16)"),
        ("f8ff", "simple(255)"),
        ("c11a514b67b0", "1(1363896240)"),
        ("d818456449455446", "24(h'6449455446')"),
        ("4401020304", "h'01020304'"),
        ("62c3bc", "\"ü\""),
        ("62225c", "\"\\\"\\\\\""),
        ("8301820203820405", "[1, [2, 3], [4, 5]]"),
        ("a201020304", "{1: 2, 3: 4}"),
        ("a26161016162820203", "{\"a\": 1, \"b\": [2, 3]}"),
        ("5f42010243030405ff", "h'0102030405'"),
        ("7f657374726561646d696e67ff", "\"streaming\""),
        ("9f018202039f0405ffff", "[1, [2, 3], [4, 5]]"),
        ("bf61610161629f0203ffff", "{\"a\": 1, \"b\": [2, 3]}"),
    ] {
        check(Format::Cbor, hex, expected);
    }
}

#[test]
fn broken_cbor_is_told_by_its_offset() {
    for (hex, expected) in [
        ("", "byte 0: it ends too soon"),
        ("8201", "byte 2: it ends too soon"),
        ("9bffffffffffffffff", "byte 9: it ends too soon"),
        ("5bffffffffffffffff00", "byte 10: it ends too soon"),
        ("0001", "byte 1: bytes follow the value"),
        ("1c", "byte 0: a head that there is not"),
        ("ff", "byte 0: a head that there is not"),
        ("f818", "byte 0: a simple value that is written too long"),
        ("61ff", "byte 1: text that is not UTF-8"),
        ("5f6101ff", "byte 1: a part of another kind than its string"),
    ] {
        check(Format::Cbor, hex, expected);
    }
    let deep = decode(Format::Cbor, &[0x81; 10_000], &Limits::default()).unwrap_err();
    assert_eq!(deep.to_string(), "byte 64: parts are nested too deeply");
}

#[test]
fn json_keeps_order_digits_and_offsets() {
    let value =
        decode(Format::Json, br#" {"b": [1, -2.50e3], "a": "\u00e9\ud83d\ude00\n"} "#, &Limits::default());
    let value = value.unwrap();
    assert_eq!(text(&value), r#"{"b": [1, -2.50e3], "a": "é😀\n"}"#);
    let Data::Map(pairs) = &value.data else { panic!("{value:?}") };
    assert_eq!((value.span.clone(), pairs[0].1.span.clone()), (1..49, 7..19));
    for (json, expected) in [
        ("{", "byte 1: a key that is not a string"),
        ("[1,]", "byte 3: a character that begins no value"),
        ("01", "byte 0: a number that is not JSON's"),
        ("\"\\ud800\"", "byte 2: half of a character"),
        ("nul", "byte 0: a word that is not a value"),
        ("1 2", "byte 2: bytes follow the value"),
    ] {
        let found = decode(Format::Json, json.as_bytes(), &Limits::default()).unwrap_err();
        assert_eq!(found.to_string(), expected, "{json}");
    }
}

#[test]
fn a_message_is_shown_by_its_field_numbers() {
    check(
        Format::ProtoWire,
        "0a07 6f736d6f2f7531 10 2a 1a04 0801 1202",
        "{1: \"osmo/u1\", 2: 42, 3: h'08011202'}",
    );
    check(
        Format::ProtoWire,
        "0a07 6f736d6f2f7531 10 2a 1a04 0801 1005",
        "{1: \"osmo/u1\", 2: 42, 3: {1: 1, 2: 5}}",
    );
    check(Format::ProtoWire, "0a02 ffff 0a00 25 01000000", "{1: h'ffff', 1: h'', 4: 1}");
    check(Format::ProtoWire, "0001", "byte 0: a field has a number that none can have");
    check(Format::ProtoWire, "0b", "byte 0: a group, which is no longer written");
    let twice = decode(Format::ProtoWire, &bytes("0801 0802"), &Limits::default()).unwrap();
    assert_eq!(json(&twice).to_string(), r#"{"1":[1,2]}"#);
}

#[test]
fn rlp_has_one_form() {
    check(Format::Rlp, "c88363617483646f67", "[h'636174', h'646f67']");
    check(Format::Rlp, "c7c0c1c0c3c0c1c0", "[[], [[]], [[], [[]]]]");
    check(Format::Rlp, "80", "h''");
    check(Format::Rlp, "8100", "byte 0: a byte that stands for itself has a length");
    check(Format::Rlp, "b800", "byte 0: a length that is written too long");
    check(Format::Rlp, "c28361", "byte 3: it ends too soon");
    check(Format::Rlp, "ffffffffffffffffff", "byte 9: it ends too soon");
}

#[test]
fn the_same_type_is_read_in_every_codec() {
    let ty = Type::Struct(vec![
        ("name".to_owned(), Type::Text),
        ("amount".to_owned(), Type::Unsigned(8)),
        ("delta".to_owned(), Type::Option(Box::new(Type::Signed(4)))),
        (
            "kind".to_owned(),
            Type::Enum(vec![
                Variant { name: "Buy".to_owned(), index: 0, holds: Type::Unit },
                Variant { name: "Sell".to_owned(), index: 1, holds: Type::List(Box::new(Type::Bool)) },
            ]),
        ),
    ]);
    let shown = r#"{"name": "ab", "amount": 7, "delta": -1, "kind": Sell([true, false])}"#;
    let (amount, delta) = ("0700000000000000", "01ffffffff");
    check_type(&ty, Codec::Scale, &format!("08 6162 {amount} {delta} 01 08 0100"), shown);
    check_type(&ty, Codec::Bcs, &format!("02 6162 {amount} {delta} 01 02 0100"), shown);
    check_type(&ty, Codec::Borsh, &format!("02000000 6162 {amount} {delta} 01 02000000 0100"), shown);
    let long = format!("0200000000000000 6162 {amount} {delta} 01000000 0200000000000000 0100");
    check_type(&ty, Codec::Bincode, &long, shown);
    check_type(
        &ty,
        Codec::Borsh,
        &format!("02000000 6162 {amount} 02"),
        "byte 14: neither present nor absent",
    );
    check_type(
        &ty,
        Codec::Scale,
        &format!("08 6162 {amount} 00 02"),
        "byte 12: a variant that the type does not have",
    );
    check_type(&Type::Bytes, Codec::Bincode, "ffffffffffffffff", "byte 8: it ends too soon");
    check_type(
        &Type::List(Box::new(Type::Unit)),
        Codec::Borsh,
        "ffffffff",
        "byte 4: there are too many parts",
    );
    check_type(&Type::Bytes, Codec::Bcs, "8000", "byte 0: a number that is written too long");
    check_type(&Type::Compact, Codec::Scale, "0b 00 40 7a 10 f3 5a", "100000000000000");
    check_type(&Type::Compact, Codec::Scale, "01 00", "byte 0: a number that is written too long");
    let map = Type::Map(Box::new(Type::Unsigned(1)), Box::new(Type::Bool));
    check_type(&map, Codec::Bcs, "02 0100 0201", "{1: false, 2: true}");
    check_type(&map, Codec::Bcs, "02 0200 0101", "byte 3: keys that are not in order");
}

/// Dolos writes its cursor so: a variant of four bytes, numbers little-endian, a hash as a text of hex digits.
#[test]
fn a_chain_point_of_dolos_is_read() {
    let point = Type::Enum(vec![
        Variant { name: "Origin".to_owned(), index: 0, holds: Type::Unit },
        Variant { name: "Slot".to_owned(), index: 1, holds: Type::Unsigned(8) },
        Variant {
            name: "Specific".to_owned(),
            index: 2,
            holds: Type::Tuple(vec![Type::Unsigned(8), Type::Text]),
        },
    ]);
    check_type(&point, Codec::Bincode, "00000000", "Origin");
    check_type(
        &point,
        Codec::Bincode,
        "02000000 0500000000000000 0200000000000000 6162",
        "Specific([5, \"ab\"])",
    );
}

proptest! {
    /// Any bytes get an answer, and every part of a tree lies in its whole.
    #[test]
    fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in [Format::Cbor, Format::Json, Format::ProtoWire, Format::Rlp] {
            match decode(format, &bytes, &Limits::default()) {
                Ok(node) => {
                    prop_assert!(node.span.end <= bytes.len());
                    let _ = (text(&node), json(&node));
                }
                Err(fault) => prop_assert!(fault.offset <= bytes.len()),
            }
        }
    }

    /// What is CBOR to us is CBOR to another reader, and the other way round for whole items.
    #[test]
    fn cbor_agrees_with_another_reader(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if decode(Format::Cbor, &bytes, &Limits::default()).is_ok() {
            let mut decoder = minicbor::Decoder::new(&bytes);
            prop_assert!(decoder.skip().is_ok());
            prop_assert_eq!(decoder.position(), bytes.len());
        }
    }

    /// Objects come back from CBOR as they were.
    #[test]
    fn cbor_of_json_reads_as_that_json(numbers in proptest::collection::vec(any::<i32>(), 0..5), word in "[a-z]{0,30}") {
        let object = serde_json::json!({ "a": numbers, "b": { "c": word, "d": null, "e": true } });
        let again = decode(Format::Cbor, &from_json(&object.to_string()).unwrap(), &Limits::default()).unwrap();
        prop_assert_eq!(json(&again), object);
    }

    /// JSON of any CBOR makes the same bytes again.
    #[test]
    fn cbor_comes_back_from_json_as_it_was(bytes in item()) {
        let shown = as_json(&bytes);
        prop_assert_eq!(from_json(&shown), Ok(bytes), "{}", shown);
    }
}

/// One item of CBOR as JSON that loses nothing.
fn as_json(bytes: &[u8]) -> String {
    let node = Type::Any.decode(Codec::Cbor, bytes, &Limits::default()).unwrap();
    let mut out = Vec::new();
    write_json(&mut out, &Type::Any.exact(&node, bytes));
    String::from_utf8(out).unwrap()
}

/// The item of such JSON.
fn from_json(text: &str) -> Result<Vec<u8>, String> {
    let json = decode(Format::Json, text.as_bytes(), &Limits::of_json()).unwrap();
    Type::Any.encode(Codec::Cbor, &json).map_err(|error| error.to_string())
}

/// A head of CBOR: mostly as short as it can be.
fn head(kind: u8, n: u64, longer: u8) -> Vec<u8> {
    let shortest = [23, 0xff, 0xffff, 0xffff_ffff].iter().take_while(|most| n > **most).count();
    let form = shortest.max(usize::from(longer));
    let info = if form == 0 { u8::try_from(n).unwrap() } else { 23 + u8::try_from(form).unwrap() };
    let width = [0, 1, 2, 4, 8][form];
    [&[kind << 5 | info], &n.to_be_bytes()[8 - width..]].concat()
}

/// Any item of CBOR: also heads that are too long, ends that are marked, strings in parts, floats of every width.
fn item() -> impl Strategy<Value = Vec<u8>> {
    let longer = || prop_oneof![9 => Just(0_u8), 1 => 1..5_u8];
    let number = || prop_oneof![0..40_u64, any::<u64>(), (0..64_u32).prop_map(|bits| 1 << bits)];
    let word = || prop_oneof!["[a-b]{0,2}", "\\$[a-z]{1,5}", any::<String>()];
    let string = move || {
        let bytes = (proptest::collection::vec(any::<u8>(), 0..30), longer());
        let bytes = bytes.prop_map(|(bytes, longer)| [head(2, bytes.len() as u64, longer), bytes].concat());
        let text = (word(), longer());
        let text =
            text.prop_map(|(text, longer)| [head(3, text.len() as u64, longer), text.into_bytes()].concat());
        (bytes, text)
    };
    let (bytes, text) = string();
    let parts = |part: BoxedStrategy<Vec<u8>>, first: u8| {
        let parts = proptest::collection::vec(part, 0..3);
        parts.prop_map(move |parts| [vec![first], parts.concat(), vec![0xff]].concat())
    };
    let simple =
        prop_oneof![(0xe0..0xf8_u8).prop_map(|n| vec![n]), (32..=255_u8).prop_map(|n| vec![0xf8, n])];
    let leaf = prop_oneof![
        4 => (0..2_u8, number(), longer()).prop_map(|(kind, n, longer)| head(kind, n, longer)),
        2 => bytes,
        4 => text,
        1 => parts(string().0.boxed(), 0x5f),
        1 => parts(string().1.boxed(), 0x7f),
        1 => simple,
        1 => any::<u16>().prop_map(|bits| [&[0xf9][..], &bits.to_be_bytes()].concat()),
        1 => any::<u32>().prop_map(|bits| [&[0xfa][..], &bits.to_be_bytes()].concat()),
        1 => any::<f32>().prop_map(|float| [&[0xfb][..], &f64::from(float).to_be_bytes()].concat()),
        1 => any::<u64>().prop_map(|bits| [&[0xfb][..], &bits.to_be_bytes()].concat()),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        let listed = move |kind: u8, all: Vec<Vec<u8>>, count: usize, (longer, open): (u8, bool)| {
            let all = all.concat();
            if open {
                [vec![kind << 5 | 31], all, vec![0xff]].concat()
            } else {
                [head(kind, count as u64, longer), all].concat()
            }
        };
        let form = move || (longer(), proptest::bool::weighted(0.2));
        let list = (proptest::collection::vec(inner.clone(), 0..5), form());
        let map = (
            proptest::collection::vec((prop_oneof![string().1, inner.clone()], inner.clone()), 0..4),
            form(),
        );
        let tag = (number(), longer(), inner);
        prop_oneof![
            list.prop_map(move |(all, form)| {
                let count = all.len();
                listed(4, all, count, form)
            }),
            map.prop_map(move |(all, form)| {
                let count = all.len();
                listed(5, all.into_iter().map(|(key, value)| [key, value].concat()).collect(), count, form)
            }),
            tag.prop_map(|(tag, longer, inner)| [head(6, tag, longer), inner].concat()),
        ]
    })
}

#[test]
fn what_json_has_no_form_for_is_a_dollar_form() {
    for (hex, expected) in [
        ("1b0020000000000000", "9007199254740992"),
        ("1bffffffffffffffff", r#"{"$int":"18446744073709551615"}"#),
        ("3bffffffffffffffff", r#"{"$int":"-18446744073709551616"}"#),
        ("f93c00", r#"{"$f16":1.0}"#),
        ("fa7f800000", r#"{"$f32":"Infinity"}"#),
        ("fb8000000000000000", "-0.0"),
        ("fb7ff8000000000000", r#"{"$f64":"NaN"}"#),
        ("f97c01", r#"{"$f16":"0x7c01"}"#),
        ("f7", r#"{"$simple":23}"#),
        ("f8ff", r#"{"$simple":255}"#),
        ("d81e820203", r#"{"$tag":30,"$value":[2,3]}"#),
        ("c249010000000000000000", r#"{"$tag":2,"$value":{"$bytes":"010000000000000000"}}"#),
        ("8162c3bc", r#"["ü"]"#),
        ("62c3bc", r#"{"$text":"ü"}"#),
        ("a201020304", r#"{"$map":[[1,2],[3,4]]}"#),
        ("a2616101616102", r#"{"$map":[["a",1],["a",2]]}"#),
        ("a1622461f6", r#"{"$map":[["$a",null]]}"#),
        ("a2616101 41 61 02", r#"{"$map":[["a",1],[{"$bytes":"61"},2]]}"#),
        ("5f42010243030405ff", r#"{"$bytes":["0102","030405"]}"#),
        ("7f657374726561646d696e67ff", r#"{"$text":["strea","ming"]}"#),
        ("5fff", r#"{"$bytes":[]}"#),
        ("bf61610161629f0203ffff", r#"{"$open":{"a":1,"b":{"$open":[2,3]}}}"#),
        ("bf0102ff", r#"{"$open":{"$map":[[1,2]]}}"#),
        ("82 01 1902ff", "[1,767]"),
        ("82 01 1a000002ff", r#"[1,{"$cbor":"1a000002ff"}]"#),
    ] {
        assert_eq!(as_json(&bytes(hex)), expected);
        assert_eq!(from_json(expected), Ok(bytes(hex)), "{expected}");
    }
}

#[test]
fn a_dollar_form_that_there_is_not_is_told() {
    for (json, expected) in [
        (
            r#"{"a":{"$byte":"00"}}"#,
            "`a`: {\"$byte\":\"00\"} is not an item of CBOR; a map with a name that begins with `$` is written {\"$map\": [[name, value], …]}",
        ),
        (
            r#"{"$tag":1}"#,
            "{\"$tag\":1} is not an item of CBOR; a map with a name that begins with `$` is written {\"$map\": [[name, value], …]}",
        ),
        (r#"{"$tag":-1,"$value":0}"#, "the number of a tag belongs here, not -1"),
        (r#"{"$bytes":"0"}"#, "`$bytes`: a string of hex digits belongs here, not \"0\""),
        (r#"{"$text":[1]}"#, "`$text.0`: a text belongs here, not 1"),
        (r#"{"$simple":24}"#, "`$simple`: the number of a simple value belongs here, not 24"),
        (r#"{"$f16":0.1}"#, "`$f16`: a float of 2 bytes belongs here, not 0.1"),
        (r#"{"$f32":"0x00"}"#, "`$f32`: a float of 4 bytes belongs here, not \"0x00\""),
        ("[1e999]", "`0`: a float of 8 bytes belongs here, not \"1e999\""),
        (
            "[18446744073709551616]",
            "`0`: a whole number of up to 64 bits belongs here, not \"18446744073709551616\"",
        ),
        (r#"{"$map":[[1]]}"#, "`$map.0`: a list of a key and a value belongs here, not [1]"),
        (
            r#"{"$open":{"$tag":1,"$value":2}}"#,
            "`$open`: a list or a map belongs here, not {\"$tag\":1,\"$value\":2}",
        ),
        (r#"{"$cbor":"82"}"#, "`$cbor`: byte 1: it ends too soon"),
    ] {
        assert_eq!(from_json(json), Err(expected.to_owned()), "{json}");
    }
}

/// What lies as deep as CBOR may, with the forms that take most levels, is JSON within its own bound; what lies deeper is refused
/// before it is followed.
#[test]
fn dollar_forms_are_bounded_as_values_are() {
    let deepest = [[0xbf, 0x80].repeat(31), vec![0xbf, 0x80, 0x00], vec![0xff; 32]].concat();
    let shown = as_json(&deepest);
    assert_eq!(from_json(&shown), Ok(deepest));
    let keys = [vec![0xbf; 63], vec![0x00], [0x00, 0xff].repeat(63)].concat();
    assert_eq!(from_json(&as_json(&keys)), Ok(keys));
    for open in [r#"{"$open":"#, r#"{"$tag":1,"$value":"#, r#"{"$map":[["#, "["] {
        let deep = open.repeat(100_000);
        let found = decode(Format::Json, deep.as_bytes(), &Limits::of_json()).unwrap_err();
        assert_eq!(found.what, "parts are nested too deeply");
    }
}

/// What a type is written as reads back as the same JSON, in every codec.
#[test]
fn types_are_written_from_json() {
    let ty = Type::Struct(vec![
        ("a".to_owned(), Type::Signed(16)),
        ("b".to_owned(), Type::Option(Box::new(Type::Bool))),
        ("c".to_owned(), Type::List(Box::new(Type::Text))),
        ("d".to_owned(), Type::Map(Box::new(Type::Text), Box::new(Type::Unsigned(2)))),
        (
            "e".to_owned(),
            Type::Enum(vec![
                Variant { name: "None".to_owned(), index: 0, holds: Type::Unit },
                Variant {
                    name: "Two".to_owned(),
                    index: 3,
                    holds: Type::Tuple(vec![Type::Float(4), Type::Bytes]),
                },
            ]),
        ),
        ("f".to_owned(), Type::Fixed(2)),
        ("g".to_owned(), Type::Array(Box::new(Type::Unsigned(1)), 2)),
    ]);
    let given = serde_json::json!({
        "a": "-170141183460469231731687303715884105728", "b": false, "c": ["", "é"], "d": {"x": 1, "y": 65535},
        "e": {"Two": [0.5, "00ff"]}, "f": "0102", "g": [1, 255]
    });
    for codec in [Codec::Scale, Codec::Bcs, Codec::Borsh, Codec::Bincode] {
        let bytes = ty.encode(codec, &tree(&given)).unwrap();
        assert_eq!(json(&ty.decode(codec, &bytes, &Limits::default()).unwrap()), given, "{codec:?}");
    }
    for n in [0_u128, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, 1 << 40, u128::MAX] {
        let given = serde_json::json!(n.to_string());
        let bytes = Type::Compact.encode(Codec::Scale, &tree(&given)).unwrap();
        let node = Type::Compact.decode(Codec::Scale, &bytes, &Limits::default()).unwrap();
        assert_eq!(node.data, Data::Unsigned(n));
    }
    for (ty, wrong, said) in [
        (Type::Unsigned(1), serde_json::json!(256), "a number of 1 bytes belongs here, not 256"),
        (Type::Signed(1), serde_json::json!(-129), "a number of 1 bytes belongs here, not -129"),
        (Type::Float(8), serde_json::json!("NaN"), "a number belongs here, not \"NaN\""),
        (Type::Fixed(2), serde_json::json!("00"), "hex digits of 2 bytes belongs here, not \"00\""),
    ] {
        assert_eq!(ty.encode(Codec::Borsh, &tree(&wrong)).unwrap_err().to_string(), said);
    }
}

/// What is absent is told from what is present and nothing itself.
#[test]
fn an_option_of_what_may_be_nothing_reads_back_as_it_was() {
    let option = |inner: Type| Type::Option(Box::new(inner));
    let nested = option(option(option(Type::Unsigned(1))));
    let unit = option(Type::Unit);
    let truth = option(option(Type::Bool));
    let scale_truth: &[u8] = &[1, 2];
    for codec in [Codec::Scale, Codec::Bcs, Codec::Borsh, Codec::Bincode] {
        let truth_bytes = if codec == Codec::Scale { scale_truth } else { &[1, 1, 0] };
        let all: [(&Type, &str, &[u8]); 8] = [
            (&nested, "null", &[0]),
            (&nested, "[null]", &[1, 0]),
            (&nested, "[[null]]", &[1, 1, 0]),
            (&nested, "[[7]]", &[1, 1, 1, 7]),
            (&unit, "null", &[0]),
            (&unit, "[null]", &[1]),
            (&truth, "[null]", &[1, 0]),
            (&truth, "[false]", truth_bytes),
        ];
        for (ty, written, bytes) in all {
            let given = serde_json::from_str(written).unwrap();
            assert_eq!(json(&ty.decode(codec, bytes, &Limits::default()).unwrap()), given, "{codec:?}");
            assert_eq!(ty.encode(codec, &tree(&given)).unwrap(), bytes, "{codec:?} {written}");
        }
        for wrong in ["7", "[]", "[null, null]", "[[[7]]]"] {
            let given = serde_json::from_str(wrong).unwrap();
            nested.encode(codec, &tree(&given)).unwrap_err();
        }
    }
}

/// CBOR as derived encoders write it: structs are arrays, variants a number and an array of what they hold.
#[test]
fn a_type_gives_names_to_what_cbor_has_by_position() {
    let ty = Type::Struct(vec![
        ("count".to_owned(), Type::Unsigned(2)),
        ("delta".to_owned(), Type::Signed(8)),
        (
            "pool".to_owned(),
            Type::Enum(vec![
                Variant { name: "pool".to_owned(), index: 0, holds: Type::Fixed(2) },
                Variant { name: "none".to_owned(), index: 1, holds: Type::Unit },
            ]),
        ),
        ("bytes".to_owned(), Type::Array(Box::new(Type::Unsigned(1)), 2)),
        ("rest".to_owned(), Type::Any),
        ("seen".to_owned(), Type::Option(Box::new(Type::Bool))),
        ("last".to_owned(), Type::Option(Box::new(Type::Float(8)))),
    ]);
    let read = |bytes: &[u8]| ty.decode(Codec::Cbor, bytes, &Limits::default());
    let again = |bytes: &[u8]| ty.encode(Codec::Cbor, &tree(&json(&read(bytes).unwrap()))).unwrap();
    // [5, -3, [0, [h'00ff']], [1, 2], [7], true]: what is absent at the end is not written.
    let whole = bytes("860522820081420 0ff8201028107f5");
    let node = read(&whole).unwrap();
    assert_eq!(
        text(&node),
        r#"{"count": 5, "delta": -3, "pool": pool(h'00ff'), "bytes": [1, 2], "rest": [7], "seen": true, "last": null}"#
    );
    assert_eq!(again(&whole), whole);
    let unit = bytes("8519ffff008201808201 02f6");
    let shown = r#"{"count": 65535, "delta": 0, "pool": none, "bytes": [1, 2], "rest": null, "seen": null, "last": null}"#;
    assert_eq!(text(&read(&unit).unwrap()), shown);
    // A null at the end says nothing, and is not written again.
    assert_eq!(again(&unit), bytes("8419ffff00820180820102"));
    for (digits, said) in [
        ("8401", "byte 2: it ends too soon"),
        ("83010000", "byte 3: a variant that the type does not have"),
        ("831a00010000008201f6", "byte 1: a number that its type does not have"),
        ("8305228200814100", "byte 6: bytes of another length"),
        ("83052282008242 00ff00", "byte 5: an array of another length"),
        ("8305228207 80", "byte 3: a variant that the type does not have"),
        ("a0", "byte 0: an item of another kind than its type"),
        ("83052282018100", "byte 5: fields that the type does not have"),
        ("82050 0", "byte 3: fewer fields than the type has"),
        ("8805008201808201020102f6f6", "byte 12: fields that the type does not have"),
    ] {
        assert_eq!(read(&bytes(digits)).unwrap_err().to_string(), said, "{digits}");
    }
    let wrong = ty.encode(Codec::Cbor, &tree(&serde_json::json!({"count": 65536})));
    assert_eq!(wrong.unwrap_err().to_string(), "`count`: a number of 2 bytes belongs here, not 65536");
}

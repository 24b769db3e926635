//! Values of every format, with their offsets, and what is wrong with those that are none.
#![cfg(test)]

use keyplan_values::{Codec, Data, Format, Limits, Type, Variant, decode, encode_cbor, json, text};
use proptest::prelude::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
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
    assert_eq!(deep.to_string(), "byte 64: parts lie too deep in each other");
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
        ("{", "byte 1: a key that is no string"),
        ("[1,]", "byte 3: a character that begins no value"),
        ("01", "byte 0: a number that is not JSON's"),
        ("\"\\ud800\"", "byte 2: half of a character"),
        ("nul", "byte 0: a word that is no value"),
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
        let again = decode(Format::Cbor, &encode_cbor(&object), &Limits::default()).unwrap();
        prop_assert_eq!(json(&again), object);
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
        let bytes = ty.encode(codec, &given).unwrap();
        assert_eq!(json(&ty.decode(codec, &bytes, &Limits::default()).unwrap()), given, "{codec:?}");
    }
    for n in [0_u128, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, 1 << 40, u128::MAX] {
        let given = serde_json::json!(n.to_string());
        let bytes = Type::Compact.encode(Codec::Scale, &given).unwrap();
        let node = Type::Compact.decode(Codec::Scale, &bytes, &Limits::default()).unwrap();
        assert_eq!(node.data, Data::Unsigned(n));
    }
    for (ty, wrong, said) in [
        (Type::Unsigned(1), serde_json::json!(256), "a number of 1 bytes belongs here, not 256"),
        (Type::Signed(1), serde_json::json!(-129), "a number of 1 bytes belongs here, not -129"),
        (Type::Float(8), serde_json::json!("NaN"), "a number belongs here, not \"NaN\""),
        (Type::Fixed(2), serde_json::json!("00"), "hex digits of 2 bytes belongs here, not \"00\""),
    ] {
        assert_eq!(ty.encode(Codec::Borsh, &wrong).unwrap_err().to_string(), said);
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
    let again = |bytes: &[u8]| ty.encode(Codec::Cbor, &json(&read(bytes).unwrap())).unwrap();
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
    let wrong = ty.encode(Codec::Cbor, &serde_json::json!({"count": 65536}));
    assert_eq!(wrong.unwrap_err().to_string(), "`count`: a number of 2 bytes belongs here, not 65536");
}

//! Values in formats of their own, read as far as a plan and its schemas tell: as text, as JSON and back, byte by byte, and
//! what is wrong with them.
//!
//! ```
//! use keyplan_report::values::{bytes_of, text_of};
//!
//! let plan = r#"plan p; import "m.proto"; space s { key k = 0x01 -> proto("Coin"); }"#;
//! let schema = r#"syntax = "proto3"; message Coin { string denom = 1; uint64 amount = 2; }"#;
//! let compiled = keyplan_plan::compile("p", plan, |_| Ok(schema.to_owned()));
//! let plan = compiled.plan.expect("sound");
//! let layout = plan.find("k")[0].1.value.as_ref().expect("a value");
//!
//! let bytes = bytes_of(layout, r#"{"denom": "uosmo", "amount": 5}"#).expect("a coin");
//! assert_eq!(bytes, b"\x0a\x05uosmo\x10\x05");
//! assert_eq!(text_of(layout, &bytes).expect("a coin"), r#"{denom: "uosmo", amount: 5}"#);
//! ```

mod faults;
mod json;
mod reading;

pub use faults::{ValueFault, diagnose, fault};
pub use json::{bytes_of, exact_json, opaque_bytes, readable_json, write_value};
pub use reading::{
    Seen, assignments, has_schema, is_by_wire, messages, opaque_text, read, text_of, value_pieces,
    whole_opaque,
};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use keyplan_plan::dynamic::readings;
    use keyplan_plan::model::{Opaque, Plan, ProtoMessage, Sequence};
    use keyplan_plan::notation::hex;
    use keyplan_values::Data;
    use serde_json::{Value as Json, json};

    use super::json::json_tree;
    use super::*;

    const SCHEMA: &str = r#"syntax = "proto3"; package shop;
        message Coin { string denom = 1; uint64 amount = 2; Coin inner = 3; }"#;

    fn plan(value: &str) -> Plan {
        let text = format!("plan p; import \"m.proto\"; space s {{ key k = 0x01 -> {value}; }}");
        keyplan_plan::compile("p", &text, |_| Ok(SCHEMA.to_owned())).plan.unwrap()
    }

    fn value(plan: &Plan) -> &Sequence {
        plan.spaces[0].families[0].value.as_ref().unwrap()
    }

    #[test]
    fn every_format_goes_to_json_and_back() {
        for (layout, given, bytes) in [
            ("proto(\"Coin\")", json!({"denom": "u", "amount": 5}), "0a01751005"),
            (
                "scale((a: u32 b: option(text) c: list(u8)))",
                json!({"a": 7, "b": "x", "c": [1, 2]}),
                "07000000010478080102",
            ),
            (
                "borsh((a: (left: | right: u16) b: bytes(2)))",
                json!({"a": {"right": 258}, "b": "00ff"}),
                "01020100ff",
            ),
            ("scale((free: u128.scale_compact n: u8))", json!({"free": 1_000_000, "n": 1}), "02093d0001"),
            ("bcs((a: i64 b: list(bool, 2)))", json!({"a": -1, "b": [true, false]}), "ffffffffffffffff0100"),
            ("bincode((a: text))", json!({"a": "é"}), "0200000000000000c3a9"),
            ("era: u16 body: cbor", json!({"era": 6, "body": {"a": [1]}}), "0006a161618101"),
            ("rlp", json!(["01", ["", "ffff"]]), "c601c48082ffff"),
            ("json", json!({"name": "Tether"}), "7b226e616d65223a22546574686572227d"),
        ] {
            let plan = plan(layout);
            let made = bytes_of(value(&plan), &given.to_string()).unwrap();
            assert_eq!(hex(&made), bytes, "{layout}");
            let again = exact_json(value(&plan), &made).unwrap();
            assert_eq!(serde_json::from_slice::<Json>(&again).unwrap(), given, "{layout}");
            assert_eq!(diagnose(&plan), [], "{layout}");
        }
    }

    /// The line of a value, and the bytes that are made of it.
    fn dumped(layout: &str, digits: &str) -> String {
        let plan = plan(layout);
        let bytes = const_hex::decode(digits).unwrap();
        let mut out = b"{".to_vec();
        write_value(&mut out, Some(value(&plan)), &bytes);
        out.push(b'}');
        let line = String::from_utf8(out).unwrap();
        let tree = json_tree(&line).unwrap();
        let Data::Map(members) = &tree.data else { panic!("{line}") };
        let given = &line[members[0].1.span.clone()];
        let again = match serde_json::from_str::<String>(given) {
            Ok(digits) => const_hex::decode(digits).unwrap(),
            Err(_) => bytes_of(value(&plan), given).unwrap(),
        };
        assert_eq!(hex(&again), digits, "{line}");
        line
    }

    #[test]
    fn every_item_of_cbor_is_json() {
        for (layout, digits, expected) in [
            // Names keep their order, and a string by itself is hex digits.
            ("cbor", "a2616201616102", r#"{"value":{"b":1,"a":2}}"#),
            ("cbor", "0a", r#"{"value":10}"#),
            ("cbor", "626869", r#"{"value":{"$text":"hi"}}"#),
            (
                "cbor",
                "a1820043 00ff01d81e820203",
                r#"{"value":{"$map":[[[0,{"$bytes":"00ff01"}],{"$tag":30,"$value":[2,3]}]]}}"#,
            ),
            ("cbor", "63e280ae", r#"{"value":{"$text":"\u202e"}}"#),
            ("era: u16 body: cbor", "0006f6", r#"{"value":{"era":6,"body":null}}"#),
            ("era: u16 body: cbor", "0006fa3f000000", r#"{"value":{"era":6,"body":{"$f32":0.5}}}"#),
            (
                "era: u16 body: json",
                "00067b2262223a312c202261223a327d",
                r#"{"value":{"era":6,"body":{"b":1, "a":2}}}"#,
            ),
            // A part with a number that is too long is hex; all of it can be read beside it.
            ("cbor", "82011802", r#"{"value":[1,{"$cbor":"1802"}],"decoded":[1,2]}"#),
            ("cbor", "9801 01", r#"{"value":"980101","decoded":[1]}"#),
            (
                "cbor((a: u8 b: cbor))",
                "8201a11805f5",
                r#"{"value":{"a":1,"b":{"$map":[[{"$cbor":"1805"},true]]}},"decoded":{"a":1,"b":{"$map":[[5,true]]}}}"#,
            ),
            ("cbor((a: u8 b: cbor))", "82180105", r#"{"value":"82180105","decoded":{"a":1,"b":5}}"#),
            (
                "era: u16 body: json",
                "00067b2261223a312c2261223a327d",
                r#"{"value":{"era":6,"body":"7b2261223a312c2261223a327d"},"decoded":{"body":{"a":2},"era":6}}"#,
            ),
        ] {
            let digits: String = digits.split_whitespace().collect();
            assert_eq!(dumped(layout, &digits), expected, "{layout}");
        }
    }

    #[test]
    fn values_are_audited() {
        let said = |layout: &str, bytes: &[u8]| {
            let plan = plan(layout);
            let opaque = whole_opaque(value(&plan)).unwrap().clone();
            fault(&opaque, bytes).map(|fault| format!("{} {} {fault}", fault.kind(), fault.offset))
        };
        let coin = "proto(\"shop.Coin\")";
        assert_eq!(said(coin, &[0x10, 5]), None);
        let broken = "broken 2 not shop.Coin: byte 2: it ends too soon";
        assert_eq!(said(coin, &[0x0a, 5]).as_deref(), Some(broken));
        let unknown = "unknown-field 1 fields that the schema of shop.Coin does not have: 7, inner.9";
        assert_eq!(said(coin, &[0x38, 5, 0x1a, 2, 0x48, 1]).as_deref(), Some(unknown));
        let padded = "rewritten 1 byte 1: it is not written as it would be";
        assert_eq!(said(coin, &[0x10, 0x85, 0x00]).as_deref(), Some(padded));
        assert_eq!(said("proto(\"None\")", &[0x38, 5]), None, "by its wire");
        let short = "broken 1 not of its type in Borsh: byte 1: it ends too soon";
        assert_eq!(said("borsh(u16)", &[1]).as_deref(), Some(short));
        // A record is as its encoder would write it; of an item in it, every form is right.
        let record = "cbor((a: u8 b: cbor c: option(u8)))";
        assert_eq!(said(record, &[0x82, 0x01, 0x9f, 0x18, 0x02, 0xff]), None);
        assert_eq!(said(record, &[0x81, 0x01]), None);
        let long = "rewritten 1 byte 1: it is not written as it would be";
        assert_eq!(said(record, &[0x82, 0x18, 0x01, 0x05]).as_deref(), Some(long));
        // What a variant holds ends as a record does, with a name or without one.
        let null = "rewritten 2 byte 2: it is not written as it would be";
        for variants in ["cbor((left: | right: option(u8)))", "cbor((left: | right: a: option(u8)))"] {
            assert_eq!(said(variants, &[0x82, 0x01, 0x80]), None, "{variants}");
            assert_eq!(said(variants, &[0x82, 0x01, 0x81, 0x05]), None, "{variants}");
            assert_eq!(said(variants, &[0x82, 0x01, 0x81, 0xf6]).as_deref(), Some(null), "{variants}");
        }
    }

    #[test]
    fn formats_without_a_schema_are_audited_too() {
        let none = ProtoMessage { name: "T".to_owned(), schemas: Arc::default() };
        let proto = Opaque::Proto(none);
        for (form, bytes) in [
            (&Opaque::Json, &b"{\"a\":[1,2]}"[..]),
            (&Opaque::Cbor, &[0x82, 0x18, 0x4b, 0xa1, 0x61, 0x6b, 0x41, 0x00]),
            (&Opaque::Cbor, &[0x9f, 0x01, 0x5f, 0x41, 0x07, 0xff, 0xff]),
            (&proto, &[0x0a, 0x01, 0x35, 0x10, 0x80, 0x01]),
            (&proto, &[]),
            (&Opaque::Raw, &[0xff]),
            (&Opaque::Rlp, &[0xc2, 0x01, 0x80]),
        ] {
            assert_eq!(fault(form, bytes), None, "{form:?} {bytes:?}");
        }
        for (form, bytes, expected) in [
            (&Opaque::Json, &b"{"[..], "not JSON: byte 1: "),
            (&Opaque::Cbor, &[0xff, 0x00], "not CBOR: byte 0: "),
            (&Opaque::Cbor, &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "not CBOR: byte 9: "),
            (&Opaque::Rlp, &[0xc2, 0x01], "not RLP: byte 2: it ends too soon"),
            (&Opaque::Cbor, &[0x01, 0x02], "not CBOR: byte 1: "),
            (&Opaque::Cbor, &[0x81; 10_000], "not CBOR: byte 64: parts are nested too deeply"),
            (&proto, &[0x0a, 0x05, 0x35], "not a protobuf message: byte 3: it ends too soon"),
            (
                &proto,
                &[0x00, 0x01],
                "not a protobuf message: byte 0: a field has a number that none can have",
            ),
            (&proto, &[0x0f], "not a protobuf message: byte 0: a field of a kind that there is not"),
        ] {
            let found = fault(form, bytes).unwrap().to_string();
            assert!(found.starts_with(expected), "{form:?} {found}");
        }
    }

    #[test]
    fn a_message_that_the_schemas_lack_is_a_finding() {
        let messages = |value: &str| {
            let found = diagnose(&plan(value));
            found.into_iter().map(|found| format!("{} {}", found.code, found.message)).collect::<Vec<_>>()
        };
        let unknown = "KP0241 `Coins` is not a message of the plan's schemas: the schema has no such message";
        assert_eq!(messages("proto(\"Coins\")"), [unknown]);
        assert_eq!(messages("a: u8 b: (x: u8 y: proto(\"Coins\"))"), [unknown]);
        let text = "plan p; import \"m.proto\"; space s { key k = 0x01 -> proto(\"M\"); }";
        let broken = keyplan_plan::compile("p", text, |_| {
            Ok("syntax = \"proto3\";\nmessage M { N n = 1; }".to_owned())
        });
        let found = diagnose(&broken.plan.unwrap());
        assert!(
            found[0].message.starts_with("the schema does not compile: m.proto:2: "),
            "{}",
            found[0].message
        );
    }

    #[test]
    fn without_a_schema_the_wire_is_shown_and_marked() {
        let text = "plan p; space s { key k = 0x01 -> proto(\"Coin\"); }";
        let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.unwrap();
        let layout = value(&plan);
        assert_eq!(text_of(layout, &[0x0a, 1, b'u', 0x10, 5]).unwrap(), "wire {1: \"u\", 2: 5}");
        assert_eq!(exact_json(layout, &[0x10, 5]), None);
        let mut out = Vec::new();
        write_value(&mut out, Some(layout), &[0x10, 5]);
        assert_eq!(out, b"\"value\":\"1005\"");
        assert_eq!(
            bytes_of(layout, "{}").unwrap_err(),
            "the plan has no schema of `Coin`: write its bytes as hex"
        );
    }

    #[test]
    fn a_value_that_cannot_be_made_again_is_read_beside_its_bytes() {
        let plan = plan("proto(\"Coin\")");
        let mut out = Vec::new();
        write_value(&mut out, Some(value(&plan)), &[0x10, 5, 0x38, 1]);
        assert_eq!(out, br#""value":"10053801","decoded":{"?7":1,"amount":5}"#);
    }

    #[test]
    fn lanes_lie_where_the_bytes_are() {
        let plan = plan("era: u16 body: proto(\"Coin\")");
        let bytes = [0, 6, 0x0a, 1, b'u', 0x10, 5];
        let found = readings(value(&plan), &bytes, 1).unwrap().readings.pop().unwrap();
        let all = value_pieces(value(&plan), &bytes, &found).unwrap();
        let told: Vec<String> = all.iter().map(|p| format!("{:?} {}", p.span, p.label)).collect();
        assert_eq!(
            told,
            ["0..2 era = 6", "2..4 ", "4..5 body.denom = \"u\"", "5..6 ", "6..7 body.amount = 5"]
        );
    }
}

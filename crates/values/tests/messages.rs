//! Messages by their schema: read, shown, written again, and refused.
#![cfg(test)]
#![cfg(feature = "proto")]

use keyplan_values::{Data, Limits, Messages, SchemaText, decode, json, lanes, text, write_json};
use proptest::prelude::*;
use serde_json::json;

const SHOP: &str = r#"
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "google/protobuf/any.proto";

message Coin { string denom = 1; string amount = 2; }
enum Status { STATUS_UNSPECIFIED = 0; STATUS_OPEN = 1; STATUS_GONE = 7; }
message Order {
  uint64 id = 1;
  sint64 delta = 2;
  repeated uint32 lots = 3;
  repeated Coin coins = 4;
  map<string, int64> notes = 5;
  Status status = 6;
  bytes blob = 7;
  double rate = 8;
  float small = 9;
  bool live = 10;
  fixed64 wide = 11;
  sfixed32 narrow = 12;
  oneof way { string by_name = 13; uint64 by_id = 14; }
  google.protobuf.Timestamp at = 15;
  google.protobuf.Any held = 16;
  optional uint32 maybe = 17;
  int32 minus = 18;
  Order inner = 19;
}
"#;

fn schema() -> Messages {
    Messages::compile(&[SchemaText { import: None, path: "shop.proto", content: Ok(SHOP) }]).unwrap()
}

fn read(bytes: &[u8]) -> Result<keyplan_values::Node, String> {
    schema().decode("Order", bytes, &Limits::default()).map_err(|fault| fault.to_string())
}

fn written(json: &serde_json::Value) -> Vec<u8> {
    let schema = schema();
    let node = schema.from_json("shop.v1.Order", json).unwrap();
    schema.encode("shop.v1.Order", &node).unwrap()
}

#[test]
fn a_message_is_read_by_its_schema_and_written_again() {
    let given = json!({
        "id": 150, "delta": -3, "lots": [1, 300], "coins": [{"denom": "uosmo", "amount": "5"}],
        "notes": {"a": -1}, "status": "STATUS_GONE", "blob": "00ff", "rate": 1.5, "small": 0.25, "live": true,
        "wide": "18446744073709551615", "narrow": -2, "by_id": 9, "at": "2023-12-20T18:40:00.500Z",
        "held": {"type_url": "/shop.v1.Coin", "value": {"denom": "x", "amount": "1"}}, "maybe": 0, "minus": -1,
        "inner": {"id": 1}
    });
    let bytes = written(&given);
    let node = read(&bytes).unwrap();
    assert_eq!(json(&node), given);
    assert_eq!(schema().encode("Order", &node).unwrap(), bytes);
    let mut line = Vec::new();
    write_json(&mut line, &node);
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&line).unwrap(), given);
    assert!(line.starts_with(br#"{"id":150,"delta":-3,"lots":[1,300]"#), "in the order of the schema");
    // What another compiler's writer makes of the first fields: tag, zigzag, a packed list.
    assert!(bytes.starts_with(&[0x08, 0x96, 0x01, 0x10, 0x05, 0x1a, 0x03, 0x01, 0xac, 0x02]), "{bytes:02x?}");
    let shown = text(&node);
    assert!(shown.contains("status: STATUS_GONE, blob: h'00ff'"), "{shown}");
    assert!(shown.contains("at: 2023-12-20T18:40:00.500Z"), "{shown}");
}

#[test]
fn every_byte_of_a_message_has_a_lane() {
    let bytes = written(&json!({"id": 150, "coins": [{"denom": "uosmo", "amount": "5"}]}));
    let all = lanes(&read(&bytes).unwrap(), bytes.len());
    let told: Vec<(usize, usize, &str, &str)> =
        all.iter().map(|lane| (lane.span.start, lane.span.end, &*lane.path, &*lane.text)).collect();
    assert_eq!(
        told,
        [
            (0, 1, "", ""),
            (1, 3, "id", "150"),
            (3, 7, "", ""),
            (7, 12, "coins.0.denom", "\"uosmo\""),
            (12, 14, "", ""),
            (14, 15, "coins.0.amount", "\"5\"")
        ]
    );
}

#[test]
fn fields_that_the_schema_lacks_are_kept_apart() {
    let node = read(&[0x08, 0x01, 0xa0, 0x06, 0x05]).unwrap();
    assert_eq!(text(&node), "{id: 1, ?100: 5}");
    assert_eq!(json(&node), json!({"id": 1, "?100": 5}));
    let Data::Message(record) = &node.data else { panic!("{node:?}") };
    assert_eq!(record.unknown.len(), 1);
    assert_eq!(
        schema().encode("Order", &node).unwrap_err().to_string(),
        "it has fields that the schema does not"
    );
    // A field of another kind of the wire is none of the schema's.
    assert_eq!(text(&read(&[0x09, 1, 0, 0, 0, 0, 0, 0, 0]).unwrap()), "{?1: 1}");
}

#[test]
fn a_field_that_comes_again_counts_as_the_language_says() {
    assert_eq!(text(&read(&[0x08, 1, 0x08, 2]).unwrap()), "{id: 2}");
    assert_eq!(text(&read(&[0x6a, 1, b'x', 0x70, 2]).unwrap()), "{by_id: 2}", "one of a group");
    assert_eq!(text(&read(&[0x18, 1, 0x1a, 1, 2]).unwrap()), "{lots: [1, 2]}", "packed and not");
    let joined = [0x9a, 0x01, 2, 0x08, 1, 0x9a, 0x01, 2, 0x10, 2];
    assert_eq!(text(&read(&joined).unwrap()), "{inner: {id: 1, delta: 1}}");
    let node = read(&[0x08, 0]).unwrap();
    assert_eq!(schema().encode("Order", &node).unwrap(), b"", "a default is not written");
}

#[test]
fn faults_have_offsets() {
    for (bytes, expected) in [
        (&[0x08][..], "byte 1: it ends too soon"),
        (&[0x6a, 2, 0xff, 0xfe], "byte 2: text that is not UTF-8"),
        (&[0x22, 5, 0x0a], "byte 3: it ends too soon"),
        (&[0x0b, 1, 0x0c], "byte 0: a group, which is no longer written"),
        (&[0x00], "byte 0: a field has a number that none can have"),
        (&[0x1a, 1, 0x80], "byte 3: it ends too soon"),
    ] {
        assert_eq!(read(bytes).map(|node| text(&node)), Err(expected.to_owned()), "{bytes:02x?}");
    }
    // A message in a message, deeper than is looked at: an answer, and no stack that is used up.
    let mut deep = Vec::new();
    for _ in 0..5000 {
        let mut outer = vec![0x9a, 0x01];
        let mut len = deep.len();
        while len >= 0x80 {
            outer.push(u8::try_from(len & 0x7f).unwrap() | 0x80);
            len >>= 7;
        }
        outer.push(u8::try_from(len).unwrap());
        outer.extend(&deep);
        deep = outer;
    }
    assert!(read(&deep).unwrap_err().ends_with("parts are nested too deeply"));
    let many = [0x18, 1].repeat(200_000);
    assert!(read(&many).unwrap_err().ends_with("there are too many parts"));
}

#[test]
fn names_are_found_by_their_end() {
    let two = "syntax = \"proto3\"; package a; message Coin {} message Only {}";
    let schema = Messages::compile(&[
        SchemaText { import: None, path: "shop.proto", content: Ok(SHOP) },
        SchemaText { import: None, path: "two.proto", content: Ok(two) },
    ])
    .unwrap();
    assert_eq!(schema.find("Only"), Ok("a.Only"));
    assert_eq!(schema.find("shop.v1.Coin"), Ok("shop.v1.Coin"));
    assert_eq!(schema.find("v1.Coin"), Ok("shop.v1.Coin"));
    assert_eq!(
        schema.find("Coin").unwrap_err().to_string(),
        "the schema has several: a.Coin and shop.v1.Coin"
    );
    assert_eq!(schema.find("oin").unwrap_err().to_string(), "the schema has no such message");
}

#[test]
fn schemas_that_lie_are_refused_with_their_place() {
    let wrong = |text: &str| {
        let texts = [SchemaText { import: None, path: "plans/x.proto", content: Ok(text) }];
        Messages::compile(&texts).map(|_| ()).unwrap_err().to_string()
    };
    let unknown = wrong("syntax = \"proto3\";\nmessage A {\n  Missing x = 1;\n}");
    assert!(unknown.starts_with("plans/x.proto:3: ") && unknown.contains("Missing"), "{unknown}");
    let twice = wrong("syntax = \"proto3\";\nmessage A { uint32 x = 1; uint32 y = 1; }");
    assert!(twice.starts_with("plans/x.proto:2: "), "{twice}");
    assert!(wrong("syntax = \"proto3\";\nimport \"none.proto\";").contains("none.proto"));
    assert!(wrong("not a schema").starts_with("plans/x.proto:1: "));
    let deep = format!("syntax = \"proto3\";\n{}", "message A {".repeat(5000));
    assert_eq!(wrong(&deep), "plans/x.proto:2: brackets are nested too deeply");
    let set =
        Messages::compile(&[SchemaText { import: None, path: "x.binpb", content: Err(b"\x0a\x05abc") }]);
    assert!(set.unwrap_err().to_string().starts_with("x.binpb: not a descriptor set"));
    // A message may hold itself: it is the value that ends.
    let recursive = "syntax = \"proto3\"; message A { A a = 1; }";
    let texts = [SchemaText { import: None, path: "x.proto", content: Ok(recursive) }];
    let schema = Messages::compile(&texts).unwrap();
    assert_eq!(text(&schema.decode("A", &[0x0a, 2, 0x0a, 0], &Limits::default()).unwrap()), "{a: {a: {}}}");
}

#[test]
fn what_is_no_message_in_json_is_named() {
    let schema = schema();
    let wrong = |json: serde_json::Value| schema.from_json("Order", &json).unwrap_err().to_string();
    let fits = |json: serde_json::Value| {
        let node = schema.from_json("Order", &json).unwrap();
        schema.encode("Order", &node).unwrap_err().to_string()
    };
    assert_eq!(wrong(json!({"coins": [{"denom": 5}]})), "`coins.0.denom`: a text belongs here, not 5");
    assert!(wrong(json!({"idd": 1})).starts_with("shop.v1.Order has no field `idd`; it has: id, delta,"));
    assert_eq!(
        fits(json!({"narrow": 3_000_000_000_u64})),
        "`narrow`: 3000000000 does not fit a field of its type"
    );
    assert_eq!(fits(json!({"id": -1})), "`id`: -1 does not fit a field of its type");
    assert!(wrong(json!({"status": "NO"})).starts_with("`status`: one of STATUS_UNSPECIFIED, STATUS_OPEN"));
    assert_eq!(
        wrong(json!({"by_name": "a", "by_id": 1})),
        "`by_id`: another field of the same oneof is given"
    );
    assert_eq!(wrong(json!({"blob": "xyz"})), "`blob`: a string of hex digits belongs here, not \"xyz\"");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Any bytes give an answer; what reads without unknown fields is written as a message that reads the same.
    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let schema = schema_once();
        if let Ok(node) = schema.decode("Order", &bytes, &Limits::default()) {
            let _ = (text(&node), json(&node), lanes(&node, bytes.len()));
            if let Ok(again) = schema.encode("Order", &node) {
                let second = schema.decode("Order", &again, &Limits::default()).unwrap();
                prop_assert_eq!(text(&second), text(&schema.decode("Order", &again, &Limits::default()).unwrap()));
                prop_assert_eq!(schema.encode("Order", &second).unwrap(), again);
            }
        }
        let _ = decode(keyplan_values::Format::ProtoWire, &bytes, &Limits::default());
    }

    /// A schema with some bytes changed is compiled or refused.
    #[test]
    fn damaged_schemas_give_an_answer(at in 0..SHOP.len(), byte in 0x20_u8..0x7f) {
        let mut text = SHOP.as_bytes().to_vec();
        text[at] = byte;
        let text = String::from_utf8(text).unwrap();
        let _ = Messages::compile(&[SchemaText { import: None, path: "x.proto", content: Ok(&text) }]);
    }
}

fn schema_once() -> &'static Messages {
    static SCHEMA: std::sync::OnceLock<Messages> = std::sync::OnceLock::new();
    SCHEMA.get_or_init(schema)
}

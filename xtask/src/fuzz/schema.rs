//! Values in formats of their own, and the schemas that say how they are read.

use keyplan_values::{
    Codec, Data, Format, Limits, Messages, Node, SchemaText, Type, decode, lanes, text, write_json,
};

/// Pieces of schemas.
pub(super) const WORDS: &[&[u8]] = &[
    b"syntax = \"proto3\";\n",
    b"package p;\n",
    b"import \"google/protobuf/any.proto\";\n",
    b"message M { ",
    b"M m = 1; ",
    b"repeated M all = 2; ",
    b"map<string, M> by = 3; ",
    b"oneof o { uint64 a = 4; string b = 5; } ",
    b"enum E { A = 0; B = 536870911; }",
    b"google.protobuf.Any any = 6; ",
    b"} ",
    b"[deprecated = true]",
    b"extend M { }",
    b"message M { message M { message M { } } } ",
    b"\x0a\xff\xff\xff\xff\x0f",
    b"\x9f\xff",
    b"\xc1\xc1\xc1\xc1",
];

/// Any bytes as a schema and as a value give trees whose parts lie inside of each other, or an error inside of the value;
/// a message that is read is written as bytes that are read and written as the same. Of CBOR as JSON, the same bytes are made.
///
/// The first byte says what the schema is (text, or a set of descriptors), the second how long it is, in 16 bytes; the value
/// follows it.
///
/// # Panics
///
/// If the claim does not hold.
pub fn schema(bytes: &[u8]) {
    let &[form, length, ref rest @ ..] = bytes else { return };
    let (schema, value) = rest.split_at(rest.len().min(usize::from(length) * 16));
    let limits = Limits::default();
    for format in [Format::Cbor, Format::Json, Format::Rlp, Format::ProtoWire] {
        looked_at(decode(format, value, &limits), value);
    }
    for codec in [Codec::Scale, Codec::Bcs, Codec::Borsh, Codec::Bincode] {
        looked_at(made(schema, 0).decode(codec, value, &limits), value);
    }
    if let Ok(node) = Type::Any.decode(Codec::Cbor, value, &limits) {
        let mut json = Vec::new();
        write_json(&mut json, &Type::Any.exact(&node, value));
        let json = decode(Format::Json, &json, &Limits::of_json());
        let again = json.ok().and_then(|json| Type::Any.encode(Codec::Cbor, &json).ok());
        assert_eq!(again.as_deref(), Some(value), "JSON of CBOR makes other bytes");
    }
    let lossy = String::from_utf8_lossy(schema);
    let (path, content) = if form % 2 == 0 { ("s.proto", Ok(&*lossy)) } else { ("s.binpb", Err(schema)) };
    let Ok(messages) = Messages::compile(&[SchemaText { import: None, path, content }]) else { return };
    for name in messages.names().take(8) {
        let read = messages.decode(name, value, &limits);
        if let Ok(node) = &read
            && let Ok(written) = messages.encode(name, node)
        {
            // Defaults that were spelled out are left out, and then nothing changes any more.
            let again = messages.decode(name, &written, &limits).ok();
            let again = again.and_then(|again| messages.encode(name, &again).ok());
            assert_eq!(again, Some(written), "{name} is written as what is written otherwise");
        }
        looked_at(read, value);
    }
}

/// A type that bytes choose.
fn made(bytes: &[u8], depth: usize) -> Type {
    let (&first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let inner = || Box::new(made(rest, depth + 1));
    match first % 10 {
        _ if depth > 6 => Type::Bool,
        0 => Type::Unsigned(8),
        1 => Type::Signed(16),
        2 => Type::Text,
        3 => Type::Bytes,
        4 => Type::List(inner()),
        5 => Type::Option(inner()),
        6 => Type::Struct(vec![("a".to_owned(), made(rest, depth + 1)), ("b".to_owned(), Type::Unsigned(1))]),
        7 => Type::Array(inner(), usize::from(first) * 1_000),
        8 => Type::Map(Box::new(Type::Text), inner()),
        _ => Type::Bool,
    }
}

/// Shows what was read in every way there is; an error must lie inside of the value.
fn looked_at(read: Result<Node, keyplan_values::Fault>, value: &[u8]) {
    match read {
        Err(fault) => assert!(fault.offset <= value.len(), "{fault} in {} bytes", value.len()),
        Ok(node) => {
            assert!(node.span.end <= value.len(), "{:?} in {} bytes", node.span, value.len());
            within(&node);
            let shown = text(&node);
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?} acts on a terminal");
            let mut out = Vec::new();
            write_json(&mut out, &node);
            assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok(), "no JSON: {out:?}");
            let mut last = 0;
            for lane in lanes(&node, value.len()) {
                assert!(lane.span.start >= last && lane.span.end <= value.len(), "{lane:?} is out of place");
                last = lane.span.start;
            }
        }
    }
}

/// The parts of a list lie inside of it.
fn within(node: &Node) {
    if let Data::List(parts) = &node.data {
        for part in parts {
            let inside = node.span.start <= part.span.start && part.span.end <= node.span.end;
            assert!(inside, "{:?} is not in {:?}", part.span, node.span);
            within(part);
        }
    }
}

/// Schemas with a value each.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let whole = br#"syntax = "proto3"; package p; message M { uint64 a = 1; repeated M b = 2; map<string, bytes> c = 3; E e = 4; oneof o { string s = 5; double d = 6; } } enum E { Z = 0; Y = 7; }"#;
    let recursive = br#"syntax = "proto2"; message A { required B b = 1; } message B { optional A a = 1; }"#;
    let values: [&[u8]; 6] = [
        b"\x08\x96\x01\x12\x02\x08\x01\x1a\x05\x0a\x01k\x12\x00\x20\x07\x2a\x01x",
        b"\xa2\x61a\x82\x01\x20\x61b\xf6",
        b"{\"a\":[1,-2.5e3,null,\"x\\u0000\"]}",
        b"\xc8\x83cat\x83dog",
        b"\x0a\x02\x0a\x02\x0a\x00",
        &[0x0a; 64],
    ];
    let mut out = Vec::new();
    for schema in [&whole[..], recursive, &[4, 4, 6, 7, 1]] {
        let sixteenths = schema.len().div_ceil(16);
        let mut padded = schema.to_vec();
        padded.resize(sixteenths * 16, b' ');
        for value in values {
            for form in [0, 1] {
                let length = u8::try_from(sixteenths).unwrap_or(u8::MAX);
                out.push([&[form, length][..], &padded, value].concat());
            }
        }
    }
    out
}

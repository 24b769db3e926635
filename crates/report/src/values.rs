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

use std::fmt;
use std::sync::Arc;

use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_plan::dynamic::{Value, encode, readings};
use keyplan_plan::explain::{Piece, PieceKind, pieces};
use keyplan_plan::model::{
    Argument, Coded, Family, IntEncoding, MissingSchema, Opaque, Plan, ProtoMessage, SchemaFile, Schemas,
    Segment, Sequence, Shape, ValueCodec,
};
use keyplan_plan::notation::{
    argument_name, arguments_from_json, hex, is_hidden, write_argument_json, write_bytes, write_shown_json,
    write_string,
};
use keyplan_values::{
    Codec, Data, Fault, Format, Limits, MessageId, Messages, MessagesError, Node, SchemaText, Type, Variant,
    encode_rlp, has_verbatim, json, lanes, text, write_json,
};
use serde_json::{Map, Value as Json};

use crate::json_text;

/// How many bytes of a value are drawn lane by lane.
const DRAWN: usize = 4096;

/// A value that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What it is.
    pub node: Node,
    /// Whether it is a protobuf message without its schema, which has numbers and no names.
    pub by_wire: bool,
}

/// What a layout leaves to another format, if it is nothing but that.
pub fn whole_opaque(layout: &Sequence) -> Option<&Opaque> {
    match layout.segments() {
        [Segment::Argument(Argument { shape: Shape::Opaque(opaque), .. })] => Some(opaque),
        _ => None,
    }
}

/// The messages of a plan's schemas, compiled at the first use.
pub fn messages(schemas: &Schemas) -> Arc<Result<Messages, MessagesError>> {
    schemas.made.get_or_make(|| {
        let sets: Vec<Option<Vec<u8>>> = schemas.files.iter().map(SchemaFile::bytes).collect();
        let texts: Vec<SchemaText<'_>> = schemas
            .files
            .iter()
            .zip(&sets)
            .map(|(file, set)| SchemaText {
                import: file.import.as_deref(),
                path: &file.path,
                content: set.as_deref().map_or(Ok(file.text.as_str()), Err),
            })
            .collect();
        Messages::compile(&texts)
    })
}

/// Runs `with` on the messages that have this one; `None` without a schema that does.
fn with_schema<T>(message: &ProtoMessage, with: impl FnOnce(&Messages, MessageId) -> T) -> Option<T> {
    if message.schemas.is_empty() {
        return None;
    }
    let compiled = messages(&message.schemas);
    let known = compiled.as_ref().as_ref().ok()?;
    Some(with(known, known.id(&message.name).ok()?))
}

/// Whether the plan's schemas have the message that a value is.
pub fn has_schema(opaque: &Opaque) -> bool {
    matches!(opaque, Opaque::Proto(message) if with_schema(message, |_, _| ()).is_some())
}

/// The type of a value whose format writes nothing but its parts.
fn type_of(coded: &Coded) -> Arc<Type> {
    coded.made.get_or_make(|| shape_type(&coded.shape))
}

const fn codec(codec: ValueCodec) -> Codec {
    match codec {
        ValueCodec::Scale => Codec::Scale,
        ValueCodec::Bcs => Codec::Bcs,
        ValueCodec::Borsh => Codec::Borsh,
        ValueCodec::Bincode => Codec::Bincode,
        ValueCodec::Cbor => Codec::Cbor,
    }
}

/// A shape as those formats know it. The plan admits no other shapes in them.
fn shape_type(shape: &Shape) -> Type {
    match shape {
        Shape::Int(int) if int.encoding == IntEncoding::ScaleCompact => Type::Compact,
        Shape::Int(int) => {
            let width = usize::try_from(int.ty.bits / 8).unwrap_or(16);
            if int.ty.name().starts_with('i') { Type::Signed(width) } else { Type::Unsigned(width) }
        }
        Shape::Bool(_) => Type::Bool,
        Shape::Float(_) => Type::Float(8),
        Shape::Text(_) => Type::Text,
        Shape::Bytes { lengths, .. } => lengths.fixed().map_or(Type::Bytes, Type::Fixed),
        Shape::Option(inner) => Type::Option(Box::new(shape_type(inner))),
        Shape::List { item, counts, .. } => {
            let item = Box::new(shape_type(item));
            match counts.fixed() {
                Some(count) => Type::Array(item, count),
                None => Type::List(item),
            }
        }
        Shape::Opaque(_) => Type::Any,
        Shape::Record(sequence) => parts_type(sequence),
        Shape::Choice(alternatives) => {
            let variants = alternatives.iter().zip(0..).map(|(alternative, index)| Variant {
                name: alternative.label.clone(),
                index,
                holds: parts_type(&alternative.sequence),
            });
            Type::Enum(variants.collect())
        }
        _ => Type::Unit,
    }
}

fn parts_type(sequence: &Sequence) -> Type {
    let all: Vec<&Argument> = sequence.arguments().collect();
    match all.as_slice() {
        [] => Type::Unit,
        [Argument { name: None, shape, .. }] => shape_type(shape),
        all => Type::Struct(
            all.iter()
                .map(|argument| (argument_name(argument).to_owned(), shape_type(&argument.shape)))
                .collect(),
        ),
    }
}

/// The type of a value that is CBOR.
fn cbor_type(opaque: &Opaque) -> Option<Arc<Type>> {
    match opaque {
        Opaque::Cbor => Some(Arc::new(Type::Any)),
        Opaque::Coded(coded) if coded.codec == ValueCodec::Cbor => Some(type_of(coded)),
        _ => None,
    }
}

/// Reads bytes; `None` of bytes that say nothing of themselves.
pub fn read(opaque: &Opaque, bytes: &[u8]) -> Option<Result<Seen, Fault>> {
    read_within(opaque, bytes, &Limits::default())
}

fn read_within(opaque: &Opaque, bytes: &[u8], limits: &Limits) -> Option<Result<Seen, Fault>> {
    let mut by_wire = false;
    let node = match opaque {
        Opaque::Raw => return None,
        Opaque::Json => keyplan_values::decode(Format::Json, bytes, limits),
        Opaque::Cbor => keyplan_values::decode(Format::Cbor, bytes, limits),
        Opaque::Rlp => keyplan_values::decode(Format::Rlp, bytes, limits),
        Opaque::Coded(coded) => type_of(coded).decode(codec(coded.codec), bytes, limits),
        Opaque::Proto(message) => with_schema(message, |known, id| known.decode_as(id, bytes, limits))
            .unwrap_or_else(|| {
                by_wire = true;
                keyplan_values::decode(Format::ProtoWire, bytes, limits)
            }),
    };
    Some(node.map(|node| Seen { node, by_wire }))
}

/// A value as one line of text. Of a message without its schema, the line begins with `wire`; `None` of bytes that say nothing
/// of themselves.
pub fn opaque_text(opaque: &Opaque, bytes: &[u8]) -> Option<Result<String, Fault>> {
    if let Opaque::Json = opaque
        && let Some(line) = std::str::from_utf8(bytes).ok().and_then(json_text::compact)
    {
        return Some(Ok(line));
    }
    let seen = read(opaque, bytes)?;
    Some(seen.map(|seen| if seen.by_wire { format!("wire {}", text(&seen.node)) } else { text(&seen.node) }))
}

/// A value as one line of text: what [`opaque_text`] gives, or its arguments with those in other formats read as well.
pub fn text_of(layout: &Sequence, bytes: &[u8]) -> Result<String, String> {
    if let Some(opaque) = whole_opaque(layout) {
        return opaque_text(opaque, bytes)
            .unwrap_or_else(|| Ok(hex(bytes)))
            .map_err(|fault| fault.to_string());
    }
    let found = readings(layout, bytes, 1).map_err(|failure| failure.to_string())?;
    Ok(assignments(layout, found.readings.first().map_or(&[], Vec::as_slice)))
}

/// `era=6 body=[1, 2]`
pub fn assignments(layout: &Sequence, values: &[Value]) -> String {
    let all = layout.arguments().zip(values).map(|(argument, value)| {
        let inside = match (&argument.shape, value) {
            (Shape::Opaque(opaque), Value::Bytes(bytes)) => opaque_text(opaque, bytes).and_then(Result::ok),
            _ => None,
        };
        let shown = inside.unwrap_or_else(|| argument.display(value).to_string());
        format!("{}={shown}", argument_name(argument))
    });
    let all: Vec<String> = all.collect();
    if all.is_empty() { "no arguments".to_owned() } else { all.join(" ") }
}

/// A value as JSON that makes the same bytes again with [`bytes_of`]. `None` where only its bytes do.
pub fn exact_json(layout: &Sequence, bytes: &[u8]) -> Option<Vec<u8>> {
    exact_parts(layout, bytes).map(|exact| exact.text)
}

/// JSON that makes the same bytes again.
struct Exact {
    text: Vec<u8>,
    /// Whether a part of it that has a format is there as its bytes only.
    unread: bool,
}

fn exact_parts(layout: &Sequence, bytes: &[u8]) -> Option<Exact> {
    if let Some(opaque) = whole_opaque(layout) {
        return exact_opaque_json(opaque, bytes);
    }
    let found = readings(layout, bytes, 2).ok()?;
    let [values] = found.readings.as_slice() else { return None };
    let mut out = Exact { text: Vec::new(), unread: false };
    if layout.arguments().all(|argument| !matches!(argument.shape, Shape::Opaque(_))) {
        write_shown_json(&mut out.text, layout, values);
        return Some(out);
    }
    out.text.push(b'{');
    for (at, (argument, value)) in layout.arguments().zip(values).enumerate() {
        if at > 0 {
            out.text.push(b',');
        }
        write_string(&mut out.text, argument_name(argument));
        out.text.push(b':');
        let inside = match (&argument.shape, value) {
            (Shape::Opaque(opaque), Value::Bytes(bytes)) => exact_opaque_json(opaque, bytes)
                .filter(|exact| *opaque != Opaque::Json || is_json_tree(&exact.text)),
            _ => None,
        };
        if let Some(inside) = inside {
            out.text.extend_from_slice(&inside.text);
            out.unread |= inside.unread;
        } else {
            out.unread |= matches!(&argument.shape, Shape::Opaque(opaque) if *opaque != Opaque::Raw);
            write_argument_json(&mut out.text, argument, value);
        }
    }
    out.text.push(b'}');
    Some(out)
}

fn exact_opaque_json(opaque: &Opaque, bytes: &[u8]) -> Option<Exact> {
    let whole = |text| Exact { text, unread: false };
    match opaque {
        Opaque::Raw => None,
        Opaque::Json => is_plain_json(bytes).then(|| whole(bytes.to_vec())),
        Opaque::Proto(message) => with_schema(message, |known, id| {
            let node = known.decode_as(id, bytes, &Limits::default()).ok()?;
            let again = known.encode_as(id, &node).ok()?;
            if again != bytes || !is_plain(&node) {
                return None;
            }
            let text = json_line(&node, 4 * bytes.len());
            text.starts_with(b"{").then(|| whole(text))
        })
        .flatten(),
        Opaque::Cbor | Opaque::Rlp | Opaque::Coded(_) => {
            let node = read(opaque, bytes)?.ok()?.node;
            let tree = cbor_type(opaque).map_or_else(|| node.clone(), |ty| ty.exact(&node, bytes));
            let text = json_line(&tree, 4 * bytes.len());
            // A string would be read as hex digits.
            if text.starts_with(b"\"") || opaque_bytes(opaque, str::from_utf8(&text).ok()?).ok()? != bytes {
                return None;
            }
            // What is its bytes and nothing else is written as such.
            (!text.starts_with(b"{\"$cbor\"")).then(|| Exact { text, unread: has_verbatim(&tree) })
        }
    }
}

/// A tree as JSON on one line, with what a terminal might act on escaped.
fn json_line(tree: &Node, size: usize) -> Vec<u8> {
    let mut line = Vec::with_capacity(size);
    write_json(&mut line, tree);
    escaped(line)
}

fn escaped(line: Vec<u8>) -> Vec<u8> {
    match str::from_utf8(&line) {
        Ok(text) if line.iter().any(|byte| *byte >= 0x7f) && text.chars().any(is_hidden) => {
            let mut out = Vec::with_capacity(line.len());
            let mut units = [0; 2];
            for c in text.chars() {
                if is_hidden(c) {
                    for unit in c.encode_utf16(&mut units) {
                        out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                    }
                } else {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            out
        }
        _ => line,
    }
}

/// Whether JSON keeps everything of a tree: not which NaN it is, nor a key that comes twice.
fn is_plain(node: &Node) -> bool {
    match &node.data {
        Data::Float(float) => !float.is_nan(),
        Data::List(items) => items.iter().all(is_plain),
        Data::Map(pairs) => {
            let mut keys: Vec<String> = pairs.iter().map(|(key, _)| text(key)).collect();
            keys.sort_unstable();
            // An object of JSON has its names in order.
            let ordered = pairs.iter().map(|(key, _)| text(key)).eq(keys.iter().cloned());
            keys.dedup();
            ordered && keys.len() == pairs.len() && pairs.iter().all(|(_, value)| is_plain(value))
        }
        Data::Message(record) => {
            record.unknown.is_empty() && record.fields.iter().all(|(_, node)| is_plain(node))
        }
        _ => true,
    }
}

/// Whether bytes are an object or a list of JSON on one line, which can be part of another without a change.
fn is_plain_json(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.starts_with(['{', '['])
        && text.ends_with(['}', ']'])
        && !text.contains(['\n', '\r'])
        && !text.chars().any(is_hidden)
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// A value as JSON for reading, whether or not the same bytes can be made of it; `None` if it does not decode, or says nothing of
/// itself.
pub fn readable_json(layout: &Sequence, bytes: &[u8]) -> Option<Json> {
    if let Some(opaque) = whole_opaque(layout) {
        return readable_opaque_json(opaque, bytes);
    }
    let values = readings(layout, bytes, 1).ok()?.readings.pop()?;
    let mut object = Map::new();
    for (argument, value) in layout.arguments().zip(&values) {
        let inside = match (&argument.shape, value) {
            (Shape::Opaque(opaque), Value::Bytes(bytes)) => readable_opaque_json(opaque, bytes),
            _ => None,
        };
        let inside = inside.or_else(|| {
            let mut out = Vec::new();
            write_argument_json(&mut out, argument, value);
            serde_json::from_slice(&out).ok()
        });
        object.insert(argument_name(argument).to_owned(), inside?);
    }
    Some(Json::Object(object))
}

fn readable_opaque_json(opaque: &Opaque, bytes: &[u8]) -> Option<Json> {
    let node = read(opaque, bytes)?.ok()?.node;
    Some(cbor_type(opaque).map_or_else(|| json(&node), |ty| json(&ty.readable(&node))))
}

/// Whether a layout is a message that is known by its wire only.
pub fn is_by_wire(layout: &Sequence) -> bool {
    matches!(whole_opaque(layout), Some(opaque @ Opaque::Proto(_)) if !has_schema(opaque))
}

/// The bytes of a value from JSON: an object with its arguments, or what the format of the value has for it. An argument with a
/// format of its own is hex digits where it is a string.
pub fn bytes_of(layout: &Sequence, text: &str) -> Result<Vec<u8>, String> {
    if let Some(opaque) = whole_opaque(layout) {
        return opaque_bytes(opaque, text);
    }
    let tree = json_tree(text)?;
    let Data::Map(members) = &tree.data else {
        return Err("write an object with the arguments of the value, or its bytes as hex".to_owned());
    };
    let mut given = Map::new();
    for (name, node) in members {
        let (Data::Text(name), Some(own)) = (&name.data, text.get(node.span.clone())) else { continue };
        let opaque = layout.arguments().find_map(|argument| match &argument.shape {
            Shape::Opaque(opaque) if argument_name(argument) == name => Some(opaque),
            _ => None,
        });
        let value = match opaque.filter(|_| !own.starts_with('"')) {
            Some(opaque) => {
                Json::String(hex(&opaque_bytes(opaque, own).map_err(|why| format!("`{name}`: {why}"))?))
            }
            None => serde_json::from_str(own).map_err(|error| format!("`{name}`: {error}"))?,
        };
        given.insert(name.clone(), value);
    }
    let values = arguments_from_json(layout, &given).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    encode(layout, &values, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// JSON as a tree in which no name comes twice.
fn json_tree(text: &str) -> Result<Node, String> {
    let tree = keyplan_values::decode(Format::Json, text.as_bytes(), &Limits::of_json());
    let tree = tree.map_err(|fault| fault.to_string())?;
    match tree.repeated_name() {
        Some(name) => Err(format!("`{name}` is given twice")),
        None => Ok(tree),
    }
}

fn is_json_tree(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| json_tree(text).is_ok())
}

/// The bytes of a value in a format of its own, from JSON.
pub fn opaque_bytes(opaque: &Opaque, text: &str) -> Result<Vec<u8>, String> {
    let tree = json_tree(text)?;
    match opaque {
        Opaque::Json => Ok(text.trim().as_bytes().to_vec()),
        Opaque::Cbor => Type::Any.encode(Codec::Cbor, &tree).map_err(|error| error.to_string()),
        Opaque::Rlp => encode_rlp(&json(&tree)).ok_or_else(|| "RLP is lists of hex digits".to_owned()),
        Opaque::Coded(coded) => {
            type_of(coded).encode(codec(coded.codec), &tree).map_err(|error| error.to_string())
        }
        Opaque::Proto(message) => with_schema(message, |known, id| {
            let node = known.from_json(&message.name, &json(&tree)).map_err(|error| error.to_string())?;
            known.encode_as(id, &node).map_err(|error| error.to_string())
        })
        .unwrap_or_else(|| {
            Err(format!("the plan has no schema of `{}`: write its bytes as hex", message.name))
        }),
        Opaque::Raw => Err("the plan says nothing of these bytes: write them as hex".to_owned()),
    }
}

/// Which bytes of a value are what, those in other formats taken apart as well.
pub fn value_pieces(layout: &Sequence, bytes: &[u8], values: &[Value]) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    for piece in pieces(layout, bytes, values)? {
        let opaque = layout.arguments().find_map(|argument| match &argument.shape {
            Shape::Opaque(opaque) if argument_name(argument) == piece.name => Some(opaque),
            _ => None,
        });
        let inside = opaque.filter(|opaque| !matches!(opaque, Opaque::Json)).and_then(|opaque| {
            let own = bytes.get(piece.span.clone()).filter(|own| !own.is_empty() && own.len() <= DRAWN)?;
            let seen = read(opaque, own)?.ok()?;
            Some(lanes(&seen.node, own.len()))
        });
        let Some(inside) = inside else {
            all.push(piece);
            continue;
        };
        let is_whole = whole_opaque(layout).is_some();
        for lane in inside {
            let span = piece.span.start + lane.span.start..piece.span.start + lane.span.end;
            let name = match (is_whole, lane.path.as_str()) {
                (_, "") => piece.name.clone(),
                (true, path) => path.to_owned(),
                (false, path) => format!("{}.{path}", piece.name),
            };
            let is_frame = lane.text.is_empty();
            let kind = if is_frame { PieceKind::Mark } else { PieceKind::Value };
            let label = if is_frame { String::new() } else { format!("{name} = {}", lane.text) };
            all.push(Piece { span, kind, name, label });
        }
    }
    Some(all)
}

/// What is wrong with a value in a format of its own. Its words are put together when they are asked for: many rows may have one
/// fault.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueFault<'o> {
    opaque: &'o Opaque,
    /// The byte at which it is.
    pub offset: usize,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// It does not decode.
    Broken(Fault),
    /// It has fields that the schema does not, which are these.
    UnknownField(Vec<(usize, String)>),
    /// It is not written as it would be.
    Rewritten,
}

impl ValueFault<'_> {
    /// The kind of fault, in a word: `broken`, `unknown-field`, `rewritten`.
    pub const fn kind(&self) -> &'static str {
        match self.what {
            What::Broken(_) => "broken",
            What::UnknownField(_) => "unknown-field",
            What::Rewritten => "rewritten",
        }
    }
}

impl fmt::Display for ValueFault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Broken(fault) => {
                f.write_str("not ")?;
                match self.opaque {
                    Opaque::Raw => f.write_str("bytes"),
                    Opaque::Json => f.write_str("JSON"),
                    Opaque::Cbor => f.write_str("CBOR"),
                    Opaque::Rlp => f.write_str("RLP"),
                    Opaque::Coded(coded) => write!(f, "of its type in {}", coded.codec.title()),
                    Opaque::Proto(message) if has_schema(self.opaque) => f.write_str(&message.name),
                    Opaque::Proto(_) => f.write_str("a protobuf message"),
                }?;
                write!(f, ": {fault}")
            }
            What::UnknownField(numbers) => {
                let name = if let Opaque::Proto(message) = self.opaque { &message.name } else { "it" };
                let all: Vec<&str> = numbers.iter().map(|(_, name)| name.as_str()).take(8).collect();
                write!(f, "fields that the schema of {name} does not have: {}", all.join(", "))
            }
            What::Rewritten => write!(f, "byte {}: it is not written as it would be", self.offset),
        }
    }
}

/// Says what is wrong with bytes that claim to be of this form: they do not decode, have fields that the schema does not, or are
/// written otherwise than they would be.
pub fn fault<'o>(opaque: &'o Opaque, bytes: &[u8]) -> Option<ValueFault<'o>> {
    // Larger values are looked at than are shown.
    let mut limits = Limits::default();
    (limits.nodes, limits.bytes) = (2_000_000, 256 << 20);
    let seen = match read_within(opaque, bytes, &limits)? {
        Ok(seen) => seen,
        Err(found) => return Some(ValueFault { opaque, offset: found.offset, what: What::Broken(found) }),
    };
    let again = match opaque {
        Opaque::Proto(message) if !seen.by_wire => {
            let mut numbers = Vec::new();
            unknown_fields(&seen.node, &mut String::new(), &mut numbers);
            if let Some(&(offset, _)) = numbers.first() {
                return Some(ValueFault { opaque, offset, what: What::UnknownField(numbers) });
            }
            with_schema(message, |known, id| known.encode_as(id, &seen.node))?.ok()?
        }
        Opaque::Coded(coded) => {
            // Of an item within, every form is right.
            let ty = type_of(coded);
            ty.encode(codec(coded.codec), &ty.verbatim(&seen.node, bytes)).ok()?
        }
        _ => return None,
    };
    if again == bytes {
        return None;
    }
    let offset = again.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    Some(ValueFault { opaque, offset, what: What::Rewritten })
}

/// The fields that a schema does not have, with their places: `inner.7`.
fn unknown_fields(node: &Node, within: &mut String, out: &mut Vec<(usize, String)>) {
    match &node.data {
        Data::Message(record) => {
            for (number, node) in &record.unknown {
                let name = format!("{within}{number}");
                if out.len() < 64 && out.iter().all(|(_, known)| *known != name) {
                    out.push((node.span.start, name));
                }
            }
            for (name, node) in &record.fields {
                let before = within.len();
                within.push_str(name);
                within.push('.');
                unknown_fields(node, within, out);
                within.truncate(before);
            }
        }
        Data::List(items) => items.iter().for_each(|item| unknown_fields(item, within, out)),
        Data::Map(pairs) => pairs.iter().for_each(|(_, value)| unknown_fields(value, within, out)),
        _ => {}
    }
}

/// What is wrong with the schemas of a plan, and with what it says of them.
pub fn diagnose(plan: &Plan) -> Vec<Diagnostic> {
    let unread = |missing: &MissingSchema| {
        Diagnostic::new(Code::BadSchema, missing.message.clone(), missing.span, "imported here")
            .with_help("paths are relative to the file that names them, or to a folder around it")
    };
    let missing: Vec<Diagnostic> = plan.schemas.missing.iter().map(unread).collect();
    if plan.schemas.is_empty() || !missing.is_empty() {
        return missing;
    }
    let compiled = messages(&plan.schemas);
    let known = match compiled.as_ref() {
        Ok(known) => known,
        Err(error) => {
            let file = error
                .path
                .as_ref()
                .and_then(|path| plan.schemas.files.iter().find(|file| file.path == *path));
            let span = file.or_else(|| plan.schemas.files.first()).map(|file| file.span).unwrap_or_default();
            return vec![
                Diagnostic::new(
                    Code::BadSchema,
                    format!("the schema does not compile: {error}"),
                    span,
                    "named here",
                )
                .with_help("a schema is compiled as `protoc` would: every name and import must be found"),
            ];
        }
    };
    let mut found = Vec::new();
    for (_, family) in plan.families() {
        for layout in layouts(family) {
            for argument in layout.arguments() {
                unknown_messages(argument, known, &mut found);
            }
        }
    }
    found
}

/// The layouts of a family that may hold values in other formats.
fn layouts(family: &Family) -> impl Iterator<Item = &Sequence> {
    let fields = family.fields.iter().filter_map(|field| field.value.as_ref());
    family.value.iter().chain(fields).chain(&family.member)
}

fn unknown_messages(argument: &Argument, known: &Messages, found: &mut Vec<Diagnostic>) {
    match &argument.shape {
        Shape::Opaque(Opaque::Proto(message)) => {
            let Err(why) = known.find(&message.name) else { return };
            let span = argument.span;
            let text = format!("`{}` is no message of the plan's schemas: {why}", message.name);
            let mut diagnostic = Diagnostic::new(Code::UnknownMessage, text, span, "not in the schemas");
            let last = message.name.rsplit('.').next().unwrap_or_default().to_lowercase();
            let near: Vec<&str> = known
                .names()
                .filter(|name| name.rsplit('.').next().is_some_and(|end| end.to_lowercase() == last))
                .take(4)
                .collect();
            if !near.is_empty() {
                diagnostic = diagnostic.with_help(format!("the schemas have: {}", near.join(", ")));
            }
            found.push(diagnostic);
        }
        Shape::Record(sequence) => {
            sequence.arguments().for_each(|argument| unknown_messages(argument, known, found));
        }
        Shape::Choice(alternatives) => {
            let inside = alternatives.iter().flat_map(|alternative| alternative.sequence.arguments());
            inside.for_each(|argument| unknown_messages(argument, known, found));
        }
        _ => {}
    }
}

/// Appends the value of a row under `"value"`: as JSON that makes it again, or as hex. Where it, or a part of it, is there as
/// hex and does decode, JSON for reading follows under `"decoded"`.
pub fn write_value(out: &mut Vec<u8>, layout: Option<&Sequence>, bytes: &[u8]) {
    out.extend_from_slice(b"\"value\":");
    let Some(layout) = layout else { return write_bytes(out, bytes) };
    match exact_parts(layout, bytes) {
        Some(exact) => {
            out.extend_from_slice(&exact.text);
            if !exact.unread {
                return;
            }
        }
        None => write_bytes(out, bytes),
    }
    let has_format = layout.arguments().any(|argument| matches!(argument.shape, Shape::Opaque(_)));
    if let Some(readable) = readable_json(layout, bytes).filter(|_| has_format && !is_by_wire(layout)) {
        out.extend_from_slice(b",\"decoded\":");
        out.extend_from_slice(&escaped(readable.to_string().into_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            (&Opaque::Cbor, &[0x81; 10_000], "not CBOR: byte 64: parts lie too deep in each other"),
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
        let unknown = "KP0241 `Coins` is no message of the plan's schemas: the schema has no such message";
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

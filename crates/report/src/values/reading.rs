//! Values read by their formats: as a tree, as a line of text, byte by byte.

use std::sync::Arc;

use keyplan_plan::dynamic::{Value, readings};
use keyplan_plan::explain::{Piece, PieceKind, pieces};
use keyplan_plan::model::{
    Argument, Coded, IntEncoding, Opaque, ProtoMessage, SchemaFile, Schemas, Segment, Sequence, Shape,
    ValueCodec,
};
use keyplan_plan::notation::{argument_name, hex};
use keyplan_values::{
    Codec, Fault, Format, Limits, MessageId, Messages, MessagesError, Node, SchemaText, Type, Variant, lanes,
    text,
};

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
pub(super) fn with_schema<T>(
    message: &ProtoMessage,
    with: impl FnOnce(&Messages, MessageId) -> T,
) -> Option<T> {
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
pub(super) fn type_of(coded: &Coded) -> Arc<Type> {
    coded.made.get_or_make(|| shape_type(&coded.shape))
}

pub(super) const fn codec(codec: ValueCodec) -> Codec {
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
pub(super) fn cbor_type(opaque: &Opaque) -> Option<Arc<Type>> {
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

pub(super) fn read_within(opaque: &Opaque, bytes: &[u8], limits: &Limits) -> Option<Result<Seen, Fault>> {
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

/// Whether a layout is a message that is known by its wire only.
pub fn is_by_wire(layout: &Sequence) -> bool {
    matches!(whole_opaque(layout), Some(opaque @ Opaque::Proto(_)) if !has_schema(opaque))
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

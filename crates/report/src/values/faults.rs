//! What is wrong with values, and with the schemas that they are read by.

use std::fmt;

use keyplan_plan::diag::{Code, Diagnostic, Span};
use keyplan_plan::model::{Family, MissingSchema, Opaque, Plan, Sequence, Shape};
use keyplan_values::{Data, Fault, Limits, Messages, Node};

use super::reading::{codec, has_schema, messages, read_within, type_of, with_schema};

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

impl<'o> ValueFault<'o> {
    /// Bytes that do not decode.
    pub(crate) const fn broken(opaque: &'o Opaque, fault: Fault) -> Self {
        Self { opaque, offset: fault.offset, what: What::Broken(fault) }
    }

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
        Err(found) => return Some(ValueFault::broken(opaque, found)),
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
                unknown_messages(&argument.shape, argument.span, known, &mut found);
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

/// Finds the messages of a shape and of all inside of it; `span` is that of the nearest argument.
fn unknown_messages(shape: &Shape, span: Span, known: &Messages, found: &mut Vec<Diagnostic>) {
    if let Shape::Opaque(Opaque::Proto(message)) = shape
        && let Err(why) = known.find(&message.name)
    {
        let text = format!("`{}` is not a message of the plan's schemas: {why}", message.name);
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
    if let Some(inner) = shape.inner() {
        unknown_messages(inner, span, known, found);
    }
    for argument in shape.rows().flat_map(Sequence::arguments) {
        unknown_messages(&argument.shape, argument.span, known, found);
    }
}

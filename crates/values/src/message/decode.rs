//! Bytes by a schema.

use std::sync::Arc;

use super::{DELIMITED, Field, Form, Kind, Many, Message, MessageId, Messages};
use crate::proto;
use crate::reader::{Fault, Limits, Reader};
use crate::tree::{Data, Node, Record};

impl Messages {
    /// Reads a message, which must take all the bytes. A name that the schema does not have reads as a message without fields,
    /// all of whose fields are unknown; [`Messages::find`] tells.
    pub fn decode(&self, name: &str, bytes: &[u8], limits: &Limits) -> Result<Node, Fault> {
        match self.id(name) {
            Ok(id) => self.decode_as(id, bytes, limits),
            Err(_) => proto::message(&mut Reader::new(bytes, limits)?),
        }
    }

    /// As [`Self::decode`], of a message that was found by [`Messages::id`].
    pub fn decode_as(&self, id: MessageId, bytes: &[u8], limits: &Limits) -> Result<Node, Fault> {
        let mut reader = Reader::new(bytes, limits)?;
        match self.messages.get(id.0) {
            Some(message) => self.message(message, &mut reader),
            None => proto::message(&mut reader),
        }
    }

    fn message(&self, message: &Message, reader: &mut Reader<'_>) -> Result<Node, Fault> {
        reader.enter()?;
        let start = reader.at();
        // Most messages have most of their fields.
        let room = if reader.is_end() { 0 } else { message.fields.len().min(16) };
        let mut found: Vec<(usize, Node)> = Vec::with_capacity(room);
        let mut unknown = Vec::new();
        while !reader.is_end() {
            let (number, kind, at) = proto::tag(reader)?;
            match message.field(number) {
                Some((index, field)) if takes(field, kind) => {
                    self.field(message, index, field, kind, reader, &mut found)?;
                }
                _ => unknown.push((number, proto::value(reader, kind, at)?)),
            }
        }
        reader.leave();
        if message.form == Form::Any {
            self.look_into(&mut found, message, reader)?;
        }
        found.sort_by_key(|(index, _)| *index);
        let name =
            |index: usize| message.fields.get(index).map_or_else(|| Arc::from(""), |f| Arc::clone(&f.name));
        let record = Record {
            name: Arc::clone(&message.name),
            fields: found.into_iter().map(|(index, node)| (name(index), node)).collect(),
            unknown,
        };
        Ok(Node::new(start..reader.at(), Data::Message(Box::new(record))))
    }

    fn field(
        &self,
        message: &Message,
        index: usize,
        field: &Field,
        wire: u64,
        reader: &mut Reader<'_>,
        found: &mut Vec<(usize, Node)>,
    ) -> Result<(), Fault> {
        let from = reader.at();
        let place = found.iter().rposition(|(other, _)| *other == index);
        match field.many {
            Many::Once => {
                let node = self.one(field.kind, reader)?;
                if let Some(group) = field.oneof {
                    let in_group =
                        |at: usize| message.fields.get(at).and_then(|field| field.oneof) == Some(group);
                    found.retain(|(other, _)| *other == index || !in_group(*other));
                }
                match place.and_then(|_| found.iter_mut().find(|(other, _)| *other == index)) {
                    Some((_, before)) => join(before, node),
                    None => found.push((index, node)),
                }
            }
            Many::List { .. } => {
                let mut items = Vec::new();
                if wire == DELIMITED && field.kind.wire() != DELIMITED {
                    let len = reader.varint()?;
                    reader.within(len, |reader| {
                        while !reader.is_end() {
                            items.push(self.one(field.kind, reader)?);
                        }
                        Ok(())
                    })?;
                } else {
                    items.push(self.one(field.kind, reader)?);
                }
                let span = from..reader.at();
                match place.and_then(|place| found.get_mut(place)) {
                    Some((_, Node { span, data: Data::List(before) })) => {
                        span.end = reader.at();
                        before.append(&mut items);
                    }
                    _ => found.push((index, Node::new(span, Data::List(items)))),
                }
            }
            Many::Map => {
                let pair = self.pair(field.kind, reader)?;
                let span = from..reader.at();
                match place.and_then(|place| found.get_mut(place)) {
                    Some((_, Node { span, data: Data::Map(before) })) => {
                        span.end = reader.at();
                        before.push(pair);
                    }
                    _ => found.push((index, Node::new(span, Data::Map(vec![pair])))),
                }
            }
        }
        Ok(())
    }

    /// An entry of a map: a message of two fields, each of which may be left out.
    fn pair(&self, kind: Kind, reader: &mut Reader<'_>) -> Result<(Node, Node), Fault> {
        let entry = self.one(kind, reader)?;
        let end = entry.span.end;
        let message = self.entry(kind);
        let field = |number: u32| message.and_then(|message| message.field(number)).map(|(_, field)| field);
        let (mut key, mut value) = (None, None);
        if let Data::Message(record) = entry.data {
            for (name, node) in record.fields {
                if field(1).is_some_and(|field| field.name == name) {
                    key = Some(node);
                } else {
                    value = Some(node);
                }
            }
        }
        let default = |number: u32| {
            let data = field(number).map_or(Data::Null, |field| self.default(field.kind));
            Node::new(end..end, data)
        };
        Ok((key.unwrap_or_else(|| default(1)), value.unwrap_or_else(|| default(2))))
    }

    pub(super) fn entry(&self, kind: Kind) -> Option<&Message> {
        match kind {
            Kind::Message(index) => self.messages.get(index),
            _ => None,
        }
    }

    /// What a field is that is not written.
    fn default(&self, kind: Kind) -> Data {
        match kind {
            Kind::Double | Kind::Float => Data::Float(0.0),
            Kind::Bool => Data::Bool(false),
            Kind::Text => Data::Text(String::new()),
            Kind::Bytes => Data::Bytes(Vec::new()),
            Kind::Enum(_) => self.enumerated(kind, 0),
            Kind::Message(index) => {
                let name = self.messages.get(index).map_or_else(|| Arc::from(""), |m| Arc::clone(&m.name));
                Data::Message(Box::new(Record { name, fields: Vec::new(), unknown: Vec::new() }))
            }
            _ => Data::Unsigned(0),
        }
    }

    fn enumerated(&self, kind: Kind, number: i32) -> Data {
        let Kind::Enum(index) = kind else { return Data::Null };
        match self.enums.get(index).and_then(|known| known.name(number)) {
            Some(name) => Data::Variant(name.to_owned(), Box::new(Node::new(0..0, Data::Null))),
            None => signed(i64::from(number)),
        }
    }

    fn one(&self, kind: Kind, reader: &mut Reader<'_>) -> Result<Node, Fault> {
        if let Kind::Message(index) = kind {
            let len = reader.varint()?;
            return reader.within(len, |reader| match self.messages.get(index) {
                Some(message) => self.message(message, reader),
                None => proto::message(reader),
            });
        }
        reader.enter()?;
        let mut from = reader.at();
        let data = match kind {
            Kind::Double => Data::Float(f64::from_bits(eight(reader)?)),
            Kind::Float => Data::Float(f32::from_bits(four(reader)?).into()),
            Kind::Int32 => signed(low(reader.varint()?).cast_signed().into()),
            Kind::Int64 => signed(reader.varint()?.cast_signed()),
            Kind::Uint32 => Data::Unsigned(low(reader.varint()?).into()),
            Kind::Uint64 => Data::Unsigned(reader.varint()?.into()),
            Kind::Sint32 => {
                let n = low(reader.varint()?);
                signed(((n >> 1).cast_signed() ^ -(n & 1).cast_signed()).into())
            }
            Kind::Sint64 => {
                let n = reader.varint()?;
                signed((n >> 1).cast_signed() ^ -(n & 1).cast_signed())
            }
            Kind::Fixed32 => Data::Unsigned(four(reader)?.into()),
            Kind::Fixed64 => Data::Unsigned(eight(reader)?.into()),
            Kind::Sfixed32 => signed(four(reader)?.cast_signed().into()),
            Kind::Sfixed64 => signed(eight(reader)?.cast_signed()),
            Kind::Bool => Data::Bool(reader.varint()? != 0),
            Kind::Enum(_) => self.enumerated(kind, low(reader.varint()?).cast_signed()),
            Kind::Text => {
                let len = reader.varint()?;
                from = reader.at();
                Data::Text(reader.text(len)?)
            }
            Kind::Bytes | Kind::Message(_) => {
                let len = reader.varint()?;
                from = reader.at();
                Data::Bytes(reader.take_claimed(len)?.to_vec())
            }
        };
        reader.leave();
        Ok(Node::new(from..reader.at(), data))
    }

    /// What an `Any` holds, if its name is one of the schema.
    fn look_into(
        &self,
        found: &mut [(usize, Node)],
        message: &Message,
        reader: &mut Reader<'_>,
    ) -> Result<(), Fault> {
        let at = |number: u32| message.field(number).map(|(index, _)| index);
        let url = found.iter().find_map(|(index, node)| match &node.data {
            Data::Text(url) if Some(*index) == at(1) => Some(url.as_str()),
            _ => None,
        });
        let held = url.and_then(|url| url.rsplit('/').next()).and_then(|name| self.names.get(name));
        let Some(held) = held.and_then(|index| self.messages.get(*index)) else { return Ok(()) };
        let Some((_, node)) = found.iter_mut().find(|(index, _)| Some(*index) == at(2)) else {
            return Ok(());
        };
        let (now, end, depth) = reader.state();
        reader.again(node.span.start, node.span.end, depth);
        let inside = self.message(held, reader);
        reader.again(now, end, depth);
        *node = inside?;
        Ok(())
    }
}

/// Whether a field can be of this kind of the wire.
fn takes(field: &Field, wire: u64) -> bool {
    let own = field.kind.wire();
    wire == own || (matches!(field.many, Many::List { .. }) && wire == DELIMITED)
}

/// A field that comes once more: messages are joined, of anything else the last one counts.
fn join(before: &mut Node, after: Node) {
    match (&mut before.data, after.data) {
        (Data::Message(old), Data::Message(new)) => {
            before.span.end = after.span.end;
            old.unknown.extend(new.unknown);
            for (name, node) in new.fields {
                match old.fields.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, Node { span, data: Data::List(items) })) => {
                        span.end = node.span.end;
                        if let Data::List(more) = node.data {
                            items.extend(more);
                        }
                    }
                    Some((_, known)) => join(known, node),
                    None => old.fields.push((name, node)),
                }
            }
        }
        (_, data) => *before = Node::new(after.span, data),
    }
}

fn signed(number: i64) -> Data {
    u128::try_from(number).map_or(Data::Signed(number.into()), Data::Unsigned)
}

/// The low 32 bits, which are what a number of 32 bits keeps.
fn low(number: u64) -> u32 {
    u32::try_from(number & 0xffff_ffff).unwrap_or(0)
}

fn four(reader: &mut Reader<'_>) -> Result<u32, Fault> {
    Ok(u32::try_from(reader.little(4)?).unwrap_or(0))
}

fn eight(reader: &mut Reader<'_>) -> Result<u64, Fault> {
    Ok(u64::try_from(reader.little(8)?).unwrap_or(0))
}

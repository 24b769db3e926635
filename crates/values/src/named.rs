//! CBOR by a type: names for what its arrays hold by position, as derived encoders write structs and enums.
//!
//! ```text
//! record      array of its fields, in order; nothing at the end is left out, and nulls there are not written
//! enum        number of the variant, if no variant holds anything; else array of that number and of an array of what it holds,
//!             which is written as that of a record
//! option      null, or what is there
//! ```
//!
//! The item is read as any other, so that every bound of the reader holds, and then compared with its type.

use crate::cbor::{self, put_head};
use crate::dollar;
use crate::message::Unwritable;
use crate::reader::{Fault, Reader};
use crate::schema::{Type, Variant};
use crate::tree::{Data, Node, member};
use crate::write::{NOTHING, each, float, hex, no_field, number, of_variant, shortened, truth};

/// Reads one item of a type.
pub(crate) fn read(ty: &Type, reader: &mut Reader<'_>) -> Result<Node, Fault> {
    named(ty, cbor::item(reader)?)
}

fn named(ty: &Type, node: Node) -> Result<Node, Fault> {
    let Node { span, data } = node;
    let fault = |what| Err(Fault { offset: span.start, what });
    let data = match (ty, data) {
        (Type::Unit | Type::Option(_), Data::Null) => Data::Null,
        (Type::Option(inner), data) => named(inner, Node::new(span.clone(), data))?.data,
        (Type::Any, data)
        | (Type::Bool, data @ Data::Bool(_))
        | (Type::Float(_), data @ Data::Float(_))
        | (Type::Text, data @ Data::Text(_))
        | (Type::Bytes, data @ Data::Bytes(_)) => data,
        (Type::Fixed(len), Data::Bytes(bytes)) if bytes.len() == *len => Data::Bytes(bytes),
        (Type::Fixed(_), Data::Bytes(_)) => return fault("bytes of another length"),
        (Type::Unsigned(width), Data::Unsigned(n)) if fits(n, 8 * *width) => Data::Unsigned(n),
        (Type::Signed(width), Data::Unsigned(n)) if fits(n, 8 * *width - 1) => Data::Unsigned(n),
        (Type::Signed(width), Data::Signed(n)) if fits((!n).cast_unsigned(), 8 * *width - 1) => {
            Data::Signed(n)
        }
        (Type::Unsigned(_) | Type::Signed(_), Data::Unsigned(_) | Data::Signed(_)) => {
            return fault("a number that its type does not have");
        }
        (Type::List(item), Data::List(items)) => Data::List(all(item, items)?),
        (Type::Array(item, count), Data::List(items)) if items.len() == *count => {
            Data::List(all(item, items)?)
        }
        (Type::Array(..) | Type::Tuple(_), Data::List(_)) => return fault("an array of another length"),
        (Type::Struct(fields), Data::List(items)) => record(fields, items, span.end)?,
        (Type::Enum(variants), Data::Unsigned(index)) => {
            let Some(variant) = by_index(variants, index).filter(|variant| variant.holds == Type::Unit)
            else {
                return fault("a variant that the type does not have");
            };
            Data::Variant(variant.name.clone(), Box::new(Node::new(span.end..span.end, Data::Null)))
        }
        (Type::Enum(variants), Data::List(items)) => {
            let Ok([first, inside]) = <[Node; 2]>::try_from(items) else {
                return fault("an array of another length than that of a variant");
            };
            let index = if let Data::Unsigned(index) = first.data { Some(index) } else { None };
            let Some(variant) = index.and_then(|index| by_index(variants, index)) else {
                return fault("a variant that the type does not have");
            };
            Data::Variant(variant.name.clone(), Box::new(held(&variant.holds, inside)?))
        }
        _ => return fault("an item of another kind than its type"),
    };
    Ok(Node::new(span, data))
}

/// What a variant holds: its fields in an array, also if it is one without a name, or none.
fn held(holds: &Type, inside: Node) -> Result<Node, Fault> {
    let Data::List(items) = inside.data else {
        return Err(Fault { offset: inside.span.start, what: "an item of another kind than its type" });
    };
    let data = match holds {
        Type::Struct(fields) => record(fields, items, inside.span.end)?,
        Type::Unit if items.is_empty() => Data::Null,
        Type::Unit => {
            return Err(Fault { offset: inside.span.start, what: "fields that the type does not have" });
        }
        inner if items.is_empty() && may_be_absent(inner) => Data::Null,
        inner => match <[Node; 1]>::try_from(items) {
            Ok([only]) => return named(inner, only),
            Err(_) => return Err(Fault { offset: inside.span.start, what: "an array of another length" }),
        },
    };
    Ok(Node::new(inside.span, data))
}

fn record(fields: &[(String, Type)], items: Vec<Node>, end: usize) -> Result<Data, Fault> {
    if let Some(more) = items.get(fields.len()) {
        return Err(Fault { offset: more.span.start, what: "fields that the type does not have" });
    }
    let mut items = items.into_iter();
    let mut pairs = Vec::new();
    for (name, ty) in fields {
        let value = match items.next() {
            Some(item) => named(ty, item)?,
            None if may_be_absent(ty) => Node::new(end..end, Data::Null),
            None => return Err(Fault { offset: end, what: "fewer fields than the type has" }),
        };
        let at = value.span.start;
        pairs.push((Node::new(at..at, Data::Text(name.clone())), value));
    }
    Ok(Data::Map(pairs))
}

const fn may_be_absent(ty: &Type) -> bool {
    matches!(ty, Type::Option(_) | Type::Any)
}

fn all(item: &Type, items: Vec<Node>) -> Result<Vec<Node>, Fault> {
    items.into_iter().map(|node| named(item, node)).collect()
}

fn by_index(variants: &[Variant], index: u128) -> Option<&Variant> {
    variants.iter().find(|variant| u128::from(variant.index) == index)
}

fn fits(n: u128, bits: usize) -> bool {
    bits >= 128 || n >> bits == 0
}

/// Writes JSON as one item of a type.
pub(crate) fn put(ty: &Type, json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let wrong = |what: &str| Unwritable::new(format!("{what} belongs here, not {}", shortened(json)));
    match ty {
        Type::Any => dollar::put(json, out)?,
        Type::Unit | Type::Option(_) if json.is_null() => out.push(NULL),
        Type::Unit => return Err(wrong("null")),
        Type::Option(inner) => put(inner, json, out)?,
        Type::Bool => {
            let value = truth(json).ok_or_else(|| wrong("true or false"))?;
            out.push(if value { 0xf5 } else { 0xf4 });
        }
        Type::Float(_) => {
            let float = float(json).ok_or_else(|| wrong("a number"))?;
            out.push(0xfb);
            out.extend_from_slice(&float.to_be_bytes());
        }
        Type::Unsigned(width) | Type::Signed(width) => {
            let bits = if matches!(ty, Type::Signed(_)) { 8 * *width - 1 } else { 8 * *width };
            let n: i128 = number(json).ok_or_else(|| wrong("a whole number"))?;
            let (kind, n) = if n < 0 { (1, (!n).cast_unsigned()) } else { (0, n.cast_unsigned()) };
            let known = fits(n, bits) && (kind == 0 || matches!(ty, Type::Signed(_)));
            let n = u64::try_from(n).ok().filter(|_| known);
            put_head(out, kind, n.ok_or_else(|| wrong(&format!("a number of {width} bytes")))?);
        }
        Type::Text => {
            let text = json.as_text().ok_or_else(|| wrong("a text"))?;
            put_head(out, 3, cbor::length(text.len()));
            out.extend_from_slice(text.as_bytes());
        }
        Type::Bytes | Type::Fixed(_) => {
            let bytes = hex(json).ok_or_else(|| wrong("a string of hex digits"))?;
            if let Type::Fixed(len) = ty
                && bytes.len() != *len
            {
                return Err(wrong(&format!("hex digits of {len} bytes")));
            }
            put_head(out, 2, cbor::length(bytes.len()));
            out.extend_from_slice(&bytes);
        }
        Type::List(item) | Type::Array(item, _) => {
            let items = json.as_list().ok_or_else(|| wrong("a list"))?;
            if let Type::Array(_, count) = ty
                && items.len() != *count
            {
                return Err(wrong(&format!("a list of {count}")));
            }
            put_head(out, 4, cbor::length(items.len()));
            each(items, |json| put(item, json, out))?;
        }
        Type::Struct(fields) => put_record(fields, json, out)?,
        Type::Enum(variants) => {
            let (variant, inside) = of_variant(variants, json)?;
            if variants.iter().all(|variant| variant.holds == Type::Unit) {
                put_head(out, 0, variant.index);
                return Ok(());
            }
            put_head(out, 4, 2);
            put_head(out, 0, variant.index);
            match &variant.holds {
                Type::Unit => put_head(out, 4, 0),
                Type::Struct(fields) => {
                    put_record(fields, inside, out).map_err(|error| error.within(&variant.name))?;
                }
                inner => {
                    let mut item = Vec::new();
                    put(inner, inside, &mut item).map_err(|error| error.within(&variant.name))?;
                    put_fields(&[item], out);
                }
            }
        }
        Type::Compact | Type::Map(..) | Type::Tuple(_) => return Err(wrong("what CBOR has no form for")),
    }
    Ok(())
}

const NULL: u8 = 0xf6;

fn put_record(fields: &[(String, Type)], json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let Some(object) = json.as_pairs() else {
        return Err(Unwritable::new(format!("an object belongs here, not {}", shortened(json))));
    };
    if let Some(error) = no_field(fields, object) {
        return Err(error);
    }
    let mut items: Vec<Vec<u8>> = Vec::new();
    for (name, ty) in fields {
        let mut item = Vec::new();
        put(ty, member(object, name).unwrap_or(NOTHING), &mut item).map_err(|error| error.within(name))?;
        items.push(item);
    }
    put_fields(&items, out);
    Ok(())
}

/// The fields of a record or a variant, without nulls at the end.
fn put_fields(items: &[Vec<u8>], out: &mut Vec<u8>) {
    let written = items.iter().rposition(|item| *item != [NULL]).map_or(0, |last| last + 1);
    put_head(out, 4, cbor::length(written));
    items.iter().take(written).for_each(|item| out.extend_from_slice(item));
}

impl Type {
    /// A tree that was read by this type from CBOR, with every part that may be any item as JSON of which [`Self::encode`] makes the
    /// same bytes again. An item by itself is never a mere string, so that there is room for hex digits in its place.
    ///
    /// ```
    /// use keyplan_values::{Codec, Limits, Type, write_json};
    ///
    /// // 30([2, 3])
    /// let bytes = [0xd8, 0x1e, 0x82, 0x02, 0x03];
    /// let node = Type::Any.decode(Codec::Cbor, &bytes, &Limits::default())?;
    /// let (json, mut text) = (Type::Any.exact(&node, &bytes), Vec::new());
    /// write_json(&mut text, &json);
    /// assert_eq!(text, br#"{"$tag":30,"$value":[2,3]}"#);
    /// assert_eq!(Type::Any.encode(Codec::Cbor, &json)?, bytes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exact(&self, node: &Node, bytes: &[u8]) -> Node {
        let json = self.with_items(node, &|item| dollar::exact(item, bytes));
        if *self == Self::Any { dollar::unlike_hex(json) } else { json }
    }

    /// As [`Self::exact`], for reading: what has no bearing on the meaning of an item is left out.
    pub fn readable(&self, node: &Node) -> Node {
        self.with_items(node, &dollar::readable)
    }

    /// As [`Self::exact`], with every such part as its bytes.
    pub fn verbatim(&self, node: &Node, bytes: &[u8]) -> Node {
        self.with_items(node, &|item| dollar::verbatim(item, bytes))
    }

    fn with_items(&self, node: &Node, show: &impl Fn(&Node) -> Node) -> Node {
        let data = match (self, &node.data) {
            (Self::Any, _) => return show(node),
            (Self::Option(inner), data) if *data != Data::Null => return inner.with_items(node, show),
            (Self::List(item) | Self::Array(item, _), Data::List(items)) => {
                Data::List(items.iter().map(|node| item.with_items(node, show)).collect())
            }
            (Self::Struct(fields), Data::Map(pairs)) => {
                let pairs = pairs.iter().zip(fields);
                Data::Map(
                    pairs.map(|((key, node), (_, ty))| (key.clone(), ty.with_items(node, show))).collect(),
                )
            }
            (Self::Enum(variants), Data::Variant(name, inner)) => {
                let variant = variants.iter().find(|variant| variant.name == *name);
                let shown = variant.map(|variant| variant.holds.with_items(inner, show));
                Data::Variant(name.clone(), shown.map_or_else(|| inner.clone(), Box::new))
            }
            (_, data) => data.clone(),
        };
        Node::new(node.span.clone(), data)
    }
}

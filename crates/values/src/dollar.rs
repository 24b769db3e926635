//! CBOR as JSON that loses nothing, and back.
//!
//! Null, truth values, numbers, texts, lists and maps whose keys are names are what they are in JSON. Everything else is a
//! *dollar form*, an object whose names begin with `$`:
//!
//! ```text
//! {"$bytes": "00ff"}                bytes as hex; a list of them where they are written in parts
//! {"$text": ["ab", "c"]}            a text in parts; {"$text": "abc"} where a mere string is its bytes as hex
//! {"$int": "18446744073709551615"}  a whole number of more than 53 bits
//! {"$f32": 0.5}                     a float of four bytes, "$f16" of two; "$f64" where JSON has no number for it: "NaN"
//! {"$simple": 23}                   a simple value: 23 is `undefined`
//! {"$tag": 30, "$value": [2, 3]}    a value under a tag
//! {"$map": [[1, "a"], [2, "b"]]}    a map with other keys than names, with a name twice, or with one that begins with `$`
//! {"$open": [1, 2]}                 a list or map whose end is marked
//! {"$cbor": "1801"}                 an item whose number takes more bytes than it needs, as hex
//! ```

use crate::cbor::{self, half, length, put_head};
use crate::format::{Format, decode};
use crate::message::Unwritable;
use crate::reader::{Limits, Reader};
use crate::tree::{Data, Node, member};
use crate::write::{each, float, hex, number, shortened};

/// The largest number that every reader of JSON keeps.
const SAFE: u128 = 1 << 53;

/// An item of CBOR as a tree of JSON of which [`put`] makes the same bytes again.
pub(crate) fn exact(node: &Node, bytes: &[u8]) -> Node {
    Showing { bytes: Some(bytes) }.item(node)
}

/// A tree of JSON that is not a plain string, so that there is room for hex digits in its place.
pub(crate) fn unlike_hex(json: Node) -> Node {
    if matches!(json.data, Data::Text(_)) { form("$text", json.data) } else { json }
}

/// An item of CBOR as a tree of JSON for reading: it says neither how long a float is nor how the ends of lists, maps and strings are
/// written.
pub(crate) fn readable(node: &Node) -> Node {
    Showing { bytes: None }.item(node)
}

/// The bytes of an item as they are.
pub(crate) fn verbatim(node: &Node, bytes: &[u8]) -> Node {
    match bytes.get(node.span.clone()) {
        Some(own) if !own.is_empty() => form("$cbor", Data::Text(const_hex::encode(own))),
        _ => Node::made(Data::Null),
    }
}

/// Whether a tree that [`Type::exact`](crate::Type::exact) made holds an item as its bytes only.
pub fn has_verbatim(node: &Node) -> bool {
    match &node.data {
        Data::List(items) => items.iter().any(has_verbatim),
        Data::Map(pairs) => {
            member(pairs, "$cbor").is_some() || pairs.iter().any(|(_, value)| has_verbatim(value))
        }
        Data::Variant(_, inner) => has_verbatim(inner),
        _ => false,
    }
}

fn form(name: &str, data: Data) -> Node {
    Node::made(Data::Map(vec![(Node::made(Data::Text(name.to_owned())), Node::made(data))]))
}

/// The way from CBOR. Without its bytes, only what it means is told.
struct Showing<'v> {
    bytes: Option<&'v [u8]>,
}

impl Showing<'_> {
    fn item(&self, node: &Node) -> Node {
        let Some(bytes) = self.bytes else { return self.meaning(node) };
        let own = bytes.get(node.span.clone()).unwrap_or_default();
        let is_open = own.first().is_some_and(|first| first & 0x1f == 0x1f);
        match &node.data {
            Data::Bytes(_) | Data::Text(_) if is_open => {
                in_parts(own).unwrap_or_else(|| verbatim(node, bytes))
            }
            Data::List(_) | Data::Map(_) if is_open => form("$open", self.meaning(node).data),
            Data::Float(_) => exact_float(own),
            data if is_short(data, own) => self.meaning(node),
            _ => verbatim(node, bytes),
        }
    }

    fn meaning(&self, node: &Node) -> Node {
        match &node.data {
            Data::Undefined => form("$simple", Data::Unsigned(23)),
            Data::Simple(n) => form("$simple", Data::Unsigned((*n).into())),
            Data::Unsigned(n) if *n > SAFE => form("$int", Data::Text(n.to_string())),
            Data::Signed(n) if n.unsigned_abs() > SAFE => form("$int", Data::Text(n.to_string())),
            Data::Float(float) if !float.is_finite() => form("$f64", Data::Float(*float)),
            Data::Bytes(bytes) => form("$bytes", Data::Text(const_hex::encode(bytes))),
            Data::List(items) => Node::made(Data::List(items.iter().map(|item| self.item(item)).collect())),
            Data::Map(pairs) => self.pairs(pairs),
            Data::Tagged(tag, inner) => {
                let names = ["$tag", "$value"].map(|name| Node::made(Data::Text(name.to_owned())));
                let values = [Node::made(Data::Unsigned((*tag).into())), self.item(inner)];
                Node::made(Data::Map(names.into_iter().zip(values).collect()))
            }
            data => Node::made(data.clone()),
        }
    }

    fn pairs(&self, pairs: &[(Node, Node)]) -> Node {
        let shown: Vec<(Node, Node)> =
            pairs.iter().map(|(key, value)| (self.item(key), self.item(value))).collect();
        let mut names: Vec<&str> = shown.iter().filter_map(|(key, _)| key.as_text()).collect();
        names.sort_unstable();
        let is_plain = names.iter().all(|name| !name.starts_with('$'));
        names.dedup();
        if is_plain && names.len() == shown.len() {
            return Node::made(Data::Map(shown));
        }
        let pair = |(key, value)| Node::made(Data::List(vec![key, value]));
        form("$map", Data::List(shown.into_iter().map(pair).collect()))
    }
}

/// Whether the number of an item takes as few bytes as it can.
fn is_short(data: &Data, own: &[u8]) -> bool {
    let (kind, n) = match data {
        Data::Unsigned(n) => (0, u64::try_from(*n).unwrap_or(u64::MAX)),
        Data::Signed(n) => (1, u64::try_from(!n).unwrap_or(u64::MAX)),
        Data::Bytes(bytes) => (2, length(bytes.len())),
        Data::Text(text) => (3, length(text.len())),
        Data::List(items) => (4, length(items.len())),
        Data::Map(pairs) => (5, length(pairs.len())),
        Data::Tagged(tag, _) => (6, *tag),
        _ => return true,
    };
    let mut head = Vec::new();
    put_head(&mut head, kind, n);
    own.starts_with(&head)
}

/// A string that is written in parts; `None` if the length of one takes more bytes than it needs.
fn in_parts(own: &[u8]) -> Option<Node> {
    let mut reader = Reader::new(own, &Limits { bytes: own.len(), ..Limits::default() }).ok()?;
    let kind = reader.byte().ok()? >> 5;
    let mut parts = Vec::new();
    while reader.peek()? != 0xff {
        let start = reader.at();
        let len = cbor::head(&mut reader).ok()?.1?;
        let mut short = Vec::new();
        put_head(&mut short, kind, len);
        if own.get(start..reader.at()) != Some(&short) {
            return None;
        }
        let part = reader.take_claimed(len).ok()?;
        parts.push(Node::made(Data::Text(if kind == 2 {
            const_hex::encode(part)
        } else {
            String::from_utf8(part.to_vec()).ok()?
        })));
    }
    Some(form(if kind == 2 { "$bytes" } else { "$text" }, Data::List(parts)))
}

/// The floats of CBOR: the name of the form, the first byte, and the NaN that has no bits of its own.
const FLOATS: [(&str, u8, u64); 3] =
    [("$f16", 0xf9, 0x7e00), ("$f32", 0xfa, 0x7fc0_0000), ("$f64", 0xfb, 0x7ff8_0000_0000_0000)];

/// A float, with how many bytes it takes.
fn exact_float(own: &[u8]) -> Node {
    let Some((name, first, nan)) = FLOATS.iter().find(|(_, first, _)| own.first() == Some(first)) else {
        return Node::made(Data::Null);
    };
    let bits = own.iter().skip(1).copied().fold(0, push);
    let float = float_of(*first, bits);
    if float.is_nan() && bits != *nan {
        return form(name, Data::Text(format!("0x{}", const_hex::encode(own.get(1..).unwrap_or_default()))));
    }
    if *first == 0xfb && float.is_finite() {
        Node::made(Data::Float(float))
    } else {
        form(name, Data::Float(float))
    }
}

fn push(bits: u64, byte: u8) -> u64 {
    bits << 8 | u64::from(byte)
}

fn float_of(first: u8, bits: u64) -> f64 {
    match first {
        0xf9 => half(u16::try_from(bits).unwrap_or_default()),
        0xfa => f32::from_bits(u32::try_from(bits).unwrap_or_default()).into(),
        _ => f64::from_bits(bits),
    }
}

/// Writes an item that is given as [`exact`] shows one: heads as short as can be, and lengths known where nothing else is said.
pub(crate) fn put(json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    match &json.data {
        Data::Null => out.push(0xf6),
        Data::Bool(value) => out.push(if *value { 0xf5 } else { 0xf4 }),
        Data::Unsigned(_) | Data::Signed(_) => put_whole(json, out)?,
        Data::Float(_) | Data::Number(_) => put_float(0xfb, json, out)?,
        Data::Text(text) => put_string(3, text.as_bytes(), out),
        Data::List(items) => {
            put_head(out, 4, length(items.len()));
            each(items, |item| put(item, out))?;
        }
        Data::Map(pairs) if pairs.iter().any(|(key, _)| is_form(key)) => put_form(pairs, json, out)?,
        Data::Map(pairs) => {
            put_head(out, 5, length(pairs.len()));
            put_members(pairs, out)?;
        }
        _ => return Err(wrong("JSON", json)),
    }
    Ok(())
}

fn is_form(key: &Node) -> bool {
    key.as_text().is_some_and(|name| name.starts_with('$'))
}

fn wrong(what: &str, json: &Node) -> Unwritable {
    Unwritable::new(format!("{what} belongs here, not {}", shortened(json)))
}

fn put_form(pairs: &[(Node, Node)], json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let names: Vec<&str> = pairs.iter().map(|(key, _)| key.as_text().unwrap_or_default()).collect();
    let Some((_, inside)) = pairs.first() else { return Ok(()) };
    let within = |name: &str, result: Result<(), Unwritable>| result.map_err(|error| error.within(name));
    match names.as_slice() {
        ["$tag", "$value"] | ["$value", "$tag"] => {
            let value = |name| member(pairs, name).unwrap_or(inside);
            let tag = number(value("$tag")).ok_or_else(|| wrong("the number of a tag", value("$tag")))?;
            put_head(out, 6, tag);
            within("$value", put(value("$value"), out))
        }
        [name @ "$bytes"] => within(name, put_strings(2, inside, out)),
        [name @ "$text"] => within(name, put_strings(3, inside, out)),
        [name @ "$int"] => within(name, put_whole(inside, out)),
        [name @ "$simple"] => within(name, put_simple(inside, out)),
        [name @ "$map"] => {
            let all = items_of(inside)?;
            put_head(out, 5, length(all.len()));
            within(name, put_pairs(all, out))
        }
        [name @ "$open"] => within(name, put_open(inside, out)),
        [name @ "$cbor"] => within(name, put_verbatim(inside, out)),
        [name] => match FLOATS.iter().find(|(known, _, _)| known == name) {
            Some((_, first, _)) => within(name, put_float(*first, inside, out)),
            None => Err(no_form(json)),
        },
        _ => Err(no_form(json)),
    }
}

fn no_form(json: &Node) -> Unwritable {
    let text = "is not an item of CBOR; a map with a name that begins with `$` is written {\"$map\": [[name, value], …]}";
    Unwritable::new(format!("{} {text}", shortened(json)))
}

fn items_of(json: &Node) -> Result<&[Node], Unwritable> {
    json.as_list().ok_or_else(|| wrong("a list of pairs", json))
}

fn put_members(pairs: &[(Node, Node)], out: &mut Vec<u8>) -> Result<(), Unwritable> {
    pairs.iter().try_for_each(|(key, value)| {
        put(key, out)?;
        put(value, out).map_err(|error| error.within(key.as_text().unwrap_or_default()))
    })
}

fn put_pairs(all: &[Node], out: &mut Vec<u8>) -> Result<(), Unwritable> {
    each(all, |pair| match pair.as_list() {
        Some(both @ [_, _]) => each(both, |item| put(item, out)),
        _ => Err(wrong("a list of a key and a value", pair)),
    })
}

/// A list or map whose end is marked.
fn put_open(json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    match &json.data {
        Data::List(items) => {
            out.push(0x9f);
            each(items, |item| put(item, out))?;
        }
        Data::Map(pairs) if pairs.iter().all(|(key, _)| !is_form(key)) => {
            out.push(0xbf);
            put_members(pairs, out)?;
        }
        Data::Map(pairs) => {
            let all = member(pairs, "$map").filter(|_| pairs.len() == 1);
            out.push(0xbf);
            put_pairs(items_of(all.ok_or_else(|| wrong("a list or a map", json))?)?, out)?;
        }
        _ => return Err(wrong("a list or a map", json)),
    }
    out.push(0xff);
    Ok(())
}

/// Bytes or a text, whole or in parts.
fn put_strings(kind: u8, json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let Some(parts) = json.as_list() else { return put_part(kind, json, out) };
    out.push(kind << 5 | 0x1f);
    each(parts, |part| put_part(kind, part, out))?;
    out.push(0xff);
    Ok(())
}

fn put_part(kind: u8, json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    if kind == 3 {
        put_string(kind, json.as_text().ok_or_else(|| wrong("a text", json))?.as_bytes(), out);
    } else {
        put_string(kind, &hex(json).ok_or_else(|| wrong("a string of hex digits", json))?, out);
    }
    Ok(())
}

fn put_string(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    put_head(out, kind, length(bytes.len()));
    out.extend_from_slice(bytes);
}

fn put_whole(json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let n: Option<i128> = number(json);
    let (kind, n) = if n.is_some_and(|n| n < 0) { (1, n.map(|n| !n)) } else { (0, n) };
    let n = n.and_then(|n| u64::try_from(n).ok());
    put_head(out, kind, n.ok_or_else(|| wrong("a whole number of up to 64 bits", json))?);
    Ok(())
}

fn put_simple(json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    match number(json) {
        Some(n @ 0..=23_u8) => out.push(0xe0 | n),
        Some(n @ 32..) => out.extend([0xf8, n]),
        _ => return Err(wrong("the number of a simple value", json)),
    }
    Ok(())
}

fn put_verbatim(json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let bytes = hex(json).ok_or_else(|| wrong("a string of hex digits", json))?;
    decode(Format::Cbor, &bytes, &Limits::default()).map_err(|fault| Unwritable::new(fault.to_string()))?;
    out.extend_from_slice(&bytes);
    Ok(())
}

/// A float as a number, a word, or its bits after `0x`.
fn put_float(first: u8, json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let width = 1_usize << (first & 0x07);
    let no_float = || wrong(&format!("a float of {width} bytes"), json);
    let bits = match json.as_text().and_then(|text| text.strip_prefix("0x")) {
        Some(digits) => {
            let bytes = const_hex::decode(digits).ok().filter(|bytes| bytes.len() == width);
            bytes.ok_or_else(no_float)?.into_iter().fold(0, push)
        }
        None => bits_of(first, float(json).ok_or_else(no_float)?).ok_or_else(no_float)?,
    };
    out.push(first);
    out.extend(bits.to_be_bytes().iter().skip(8 - width));
    Ok(())
}

/// The bits of a float that is written after this byte; `None` if it is not one of them.
fn bits_of(first: u8, float: f64) -> Option<u64> {
    if float.is_nan() {
        return FLOATS.iter().find(|(_, known, _)| *known == first).map(|(_, _, nan)| *nan);
    }
    let bits = match first {
        0xf9 => {
            // Halves are in the order of their bits; the last one is infinity.
            let (mut least, mut most) = (0, 0x7c00_u16);
            while least < most {
                let middle = least.midpoint(most);
                if half(middle) < float.abs() { least = middle + 1 } else { most = middle }
            }
            u64::from(least) | u64::from(float.is_sign_negative()) << 15
        }
        #[expect(clippy::cast_possible_truncation, reason = "what is cut off is found below")]
        0xfa => (float as f32).to_bits().into(),
        _ => float.to_bits(),
    };
    (float_of(first, bits).to_bits() == float.to_bits()).then_some(bits)
}

//! JSON as the bytes of a type: SCALE, BCS, Borsh and bincode, and CBOR by a type of its own.

use crate::message::Unwritable;
use crate::schema::{Codec, Type, Variant};
use crate::show;
use crate::tree::{Data, Node, member};

impl Type {
    /// The bytes of a value that is given as [`json`](crate::json) shows one, read as a tree; parts that are any item of CBOR as
    /// [`Self::exact`] shows them. A tree that was read by the type will do as well.
    pub fn encode(&self, codec: Codec, json: &Node) -> Result<Vec<u8>, Unwritable> {
        let mut out = Vec::new();
        match codec {
            Codec::Cbor => crate::named::put(self, json, &mut out)?,
            _ => self.put(codec, json, &mut out)?,
        }
        Ok(out)
    }

    fn put(&self, codec: Codec, json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        let wrong = |what: &str| Unwritable::new(format!("{what} belongs here, not {}", shortened(json)));
        match self {
            Self::Unit => {
                if !json.is_null() {
                    return Err(wrong("null"));
                }
            }
            Self::Bool => out.push(u8::from(truth(json).ok_or_else(|| wrong("true or false"))?)),
            Self::Unsigned(width) => {
                let n: u128 = number(json).ok_or_else(|| wrong("a whole number"))?;
                if *width < 16 && n >> (8 * (*width).min(15)) != 0 {
                    return Err(wrong(&format!("a number of {width} bytes")));
                }
                little(n, *width, out);
            }
            Self::Signed(width) => {
                let n: i128 = number(json).ok_or_else(|| wrong("a whole number"))?;
                let shift = 128 - 8 * u32::try_from((*width).clamp(1, 16)).unwrap_or(16);
                if (n << shift) >> shift != n {
                    return Err(wrong(&format!("a number of {width} bytes")));
                }
                little(n.cast_unsigned(), *width, out);
            }
            Self::Float(width) => put_float(codec, *width, json, out).ok_or_else(|| wrong("a number"))?,
            Self::Compact => compact(number(json).ok_or_else(|| wrong("a whole number"))?, out),
            Self::Text => {
                let text = json.as_text().ok_or_else(|| wrong("a text"))?;
                length(codec, text.len(), out)?;
                out.extend_from_slice(text.as_bytes());
            }
            Self::Bytes => {
                let bytes = hex(json).ok_or_else(|| wrong("a string of hex digits"))?;
                length(codec, bytes.len(), out)?;
                out.extend_from_slice(&bytes);
            }
            Self::Fixed(len) => {
                let bytes = hex(json).filter(|bytes| bytes.len() == *len);
                out.extend_from_slice(&bytes.ok_or_else(|| wrong(&format!("hex digits of {len} bytes")))?);
            }
            Self::Option(inner) => match (&json.data, codec, &**inner) {
                (Data::Null, _, _) => out.push(0),
                (Data::Bool(value), Codec::Scale, Self::Bool) => out.push(if *value { 1 } else { 2 }),
                _ if inner.may_be_null() => {
                    let present = json.as_list().and_then(|items| <&[Node; 1]>::try_from(items).ok());
                    let [present] = present.ok_or_else(|| wrong("null, or a list of what is present"))?;
                    out.push(1);
                    inner.put(codec, present, out)?;
                }
                _ => {
                    out.push(1);
                    inner.put(codec, json, out)?;
                }
            },
            Self::List(item) => {
                let items = json.as_list().ok_or_else(|| wrong("a list"))?;
                length(codec, items.len(), out)?;
                each(items, |json| item.put(codec, json, out))?;
            }
            Self::Array(item, count) => {
                let items = json.as_list().filter(|items| items.len() == *count);
                let items = items.ok_or_else(|| wrong(&format!("a list of {count}")))?;
                each(items, |json| item.put(codec, json, out))?;
            }
            Self::Map(key, value) => put_map(key, value, codec, json, out)?,
            Self::Tuple(types) => {
                let items = json.as_list().filter(|items| items.len() == types.len());
                let items = items.ok_or_else(|| wrong(&format!("a list of {}", types.len())))?;
                let mut types = types.iter();
                each(items, |json| types.next().map_or(Ok(()), |ty| ty.put(codec, json, out)))?;
            }
            Self::Struct(fields) => {
                let object = json.as_pairs().ok_or_else(|| wrong("an object"))?;
                if let Some(error) = no_field(fields, object) {
                    return Err(error);
                }
                for (name, field) in fields {
                    let given = member(object, name).unwrap_or(NOTHING);
                    field.put(codec, given, out).map_err(|error| error.within(name))?;
                }
            }
            Self::Enum(variants) => put_variant(variants, codec, json, out)?,
            Self::Any => return Err(wrong("what this format has no form for")),
        }
        Ok(())
    }
}

/// What is given where nothing is.
pub(crate) const NOTHING: &Node = &Node::made(Data::Null);

/// The name of an object that no field has.
pub(crate) fn no_field(fields: &[(String, Type)], object: &[(Node, Node)]) -> Option<Unwritable> {
    let names = object.iter().map(|(key, _)| key.as_text().unwrap_or_default());
    let name = { names }.find(|name| fields.iter().all(|(known, _)| known != name))?;
    let known: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    Some(Unwritable::new(format!("there is no field `{name}`; there are: {}", known.join(", "))))
}

/// A variant: its name, or an object with only its name; and what it holds.
pub(crate) fn of_variant<'t, 'j>(
    variants: &'t [Variant],
    json: &'j Node,
) -> Result<(&'t Variant, &'j Node), Unwritable> {
    let wrong = |what: &str| Unwritable::new(format!("{what} belongs here, not {}", shortened(json)));
    let (name, inside) = match &json.data {
        Data::Text(name) => (name.as_str(), NOTHING),
        Data::Variant(name, inside) => (name.as_str(), &**inside),
        Data::Map(pairs) => match pairs.as_slice() {
            [(name, inside)] => (name.as_text().unwrap_or_default(), inside),
            _ => return Err(wrong("an object with only the variant")),
        },
        _ => return Err(wrong("a variant")),
    };
    if let Some(variant) = variants.iter().find(|variant| variant.name == *name) {
        return Ok((variant, inside));
    }
    let known: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    Err(wrong(&format!("one of {}", known.join(", "))))
}

fn put_variant(variants: &[Variant], codec: Codec, json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let (variant, inside) = of_variant(variants, json)?;
    match codec {
        Codec::Scale | Codec::Borsh => {
            let index = u8::try_from(variant.index);
            out.push(index.map_err(|_| Unwritable::new("a variant of one byte belongs here"))?);
        }
        Codec::Bcs => varint(variant.index, out),
        Codec::Bincode => little(variant.index.into(), 4, out),
        Codec::Cbor => return Err(Unwritable::new("CBOR is written item by item")),
    }
    variant.holds.put(codec, inside, out).map_err(|error| error.within(&variant.name))
}

pub(crate) fn each(
    items: &[Node],
    mut put: impl FnMut(&Node) -> Result<(), Unwritable>,
) -> Result<(), Unwritable> {
    items
        .iter()
        .enumerate()
        .try_for_each(|(at, item)| put(item).map_err(|error| error.within(at.to_string())))
}

/// Pairs from an object, whose names are keys that are texts, bytes or numbers. BCS puts them in order.
fn put_map(key: &Type, value: &Type, codec: Codec, json: &Node, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let Some(object) = json.as_pairs() else { return Err(Unwritable::new("an object belongs here")) };
    let mut pairs = Vec::new();
    for (name, json) in object {
        let within = |error: Unwritable| error.within(show::name(name));
        let (mut of_key, mut of_value) = (Vec::new(), Vec::new());
        key.put(codec, name, &mut of_key).map_err(within)?;
        value.put(codec, json, &mut of_value).map_err(within)?;
        pairs.push((of_key, of_value));
    }
    if codec == Codec::Bcs {
        pairs.sort();
    }
    length(codec, pairs.len(), out)?;
    for (key, value) in pairs {
        out.extend_from_slice(&key);
        out.extend_from_slice(&value);
    }
    Ok(())
}

pub(crate) const fn truth(json: &Node) -> Option<bool> {
    if let Data::Bool(value) = json.data { Some(value) } else { None }
}

pub(crate) fn number<T: std::str::FromStr>(json: &Node) -> Option<T> {
    match &json.data {
        Data::Unsigned(number) => number.to_string().parse().ok(),
        Data::Signed(number) => number.to_string().parse().ok(),
        Data::Number(digits) | Data::Text(digits) => digits.parse().ok(),
        _ => None,
    }
}

pub(crate) fn float(json: &Node) -> Option<f64> {
    match &json.data {
        Data::Float(float) => Some(*float),
        Data::Text(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => number::<f64>(json).filter(|float| float.is_finite()),
    }
}

pub(crate) fn hex(json: &Node) -> Option<Vec<u8>> {
    match &json.data {
        Data::Bytes(bytes) => Some(bytes.clone()),
        Data::Text(digits) => const_hex::decode(digits).ok(),
        _ => None,
    }
}

/// JSON in a message, cut where it is long.
pub(crate) fn shortened(json: &Node) -> String {
    crate::message::shortened(&show::json(json))
}

fn put_float(codec: Codec, width: usize, json: &Node, out: &mut Vec<u8>) -> Option<()> {
    let float = float(json)?;
    if codec == Codec::Borsh && float.is_nan() {
        return None;
    }
    if width == 4 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the nearest float of 32 bits is what is written"
        )]
        little(u128::from((float as f32).to_bits()), 4, out);
    } else {
        little(u128::from(float.to_bits()), 8, out);
    }
    Some(())
}

fn length(codec: Codec, len: usize, out: &mut Vec<u8>) -> Result<(), Unwritable> {
    let long = || Unwritable::new("it is too long for its length");
    let len = u64::try_from(len).map_err(|_| long())?;
    match codec {
        Codec::Scale => compact(len.into(), out),
        Codec::Bcs if len > 0x7fff_ffff => return Err(long()),
        Codec::Bcs => varint(len, out),
        Codec::Borsh => little(u32::try_from(len).map_err(|_| long())?.into(), 4, out),
        Codec::Bincode => little(len.into(), 8, out),
        Codec::Cbor => return Err(Unwritable::new("CBOR is written item by item")),
    }
    Ok(())
}

/// The low `width` bytes of a number, the lowest first.
fn little(number: u128, width: usize, out: &mut Vec<u8>) {
    out.extend(number.to_be_bytes().iter().rev().take(width));
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or(0));
}

/// SCALE's compact number, in as few bytes as hold it.
fn compact(number: u128, out: &mut Vec<u8>) {
    match number {
        0..=0x3f => little(number << 2, 1, out),
        0x40..=0x3fff => little(number << 2 | 1, 2, out),
        0x4000..=0x3fff_ffff => little(number << 2 | 2, 4, out),
        _ => {
            let width = usize::try_from((128 - number.leading_zeros()).div_ceil(8)).unwrap_or(16);
            out.push(u8::try_from((width - 4) << 2).unwrap_or(0) | 3);
            little(number, width, out);
        }
    }
}

//! Formats that need to be told what is in them: one interpreter, with what each writes for lengths and variants.

use crate::reader::{Fault, Limits, Reader};
use crate::tree::{Data, Node};

/// A format whose values do not say what they are, or not by name. All but CBOR write numbers little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// Substrate's SCALE: compact lengths, a byte for variants.
    Scale,
    /// BCS, of Diem, Aptos and Sui: ULEB128 for lengths and variants, in the shortest form; maps in the order of their keys.
    Bcs,
    /// Borsh, of NEAR and Solana: lengths of four bytes, a byte for variants; NaN is refused.
    Borsh,
    /// The form of bincode 1: lengths of eight bytes, variants of four.
    Bincode,
    /// CBOR, whose arrays are records: the type gives names to what is there by position.
    Cbor,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// Nothing.
    Unit,
    /// A truth value.
    Bool,
    /// A number without a sign, of this many bytes: 1, 2, 4, 8 or 16.
    Unsigned(usize),
    /// A number with a sign, of this many bytes.
    Signed(usize),
    /// A float of 4 or 8 bytes.
    Float(usize),
    /// SCALE's compact number, of up to 128 bits.
    Compact,
    /// Text.
    Text,
    /// Bytes, with their length before them.
    Bytes,
    /// Bytes of this length.
    Fixed(usize),
    /// Present or absent. What is present is in a list of its own where it may be nothing itself, so that `null` is told from
    /// `[null]`; CBOR makes no difference between the two.
    Option(Box<Type>),
    /// Elements, with their number before them.
    List(Box<Type>),
    /// This many elements.
    Array(Box<Type>, usize),
    /// Pairs, with their number before them.
    Map(Box<Type>, Box<Type>),
    /// Values in a row.
    Tuple(Vec<Type>),
    /// Values in a row, each with a name.
    Struct(Vec<(String, Type)>),
    /// One of several.
    Enum(Vec<Variant>),
    /// Any item of a format that says itself what is in it: CBOR's.
    Any,
}

/// One variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The number that it is written as.
    pub index: u64,
    /// What it holds.
    pub holds: Type,
}

/// Why a type cannot be read in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A number of a width that there is not.
    #[error("there is no number of {0} bytes")]
    Width(usize),
    /// Types lie too deep in each other.
    #[error("types are nested more than {0} deep")]
    Depth(usize),
}

impl Type {
    /// Whether every number in it has a width that there is, and types do not lie too deep.
    pub fn check(&self, limits: &Limits) -> Result<(), SchemaError> {
        self.check_below(limits.depth, limits.depth)
    }

    /// Whether a value of it may be nothing, as an absent one is.
    pub(crate) const fn may_be_null(&self) -> bool {
        matches!(self, Self::Unit | Self::Option(_))
    }

    fn check_below(&self, left: usize, limit: usize) -> Result<(), SchemaError> {
        let Some(left) = left.checked_sub(1) else { return Err(SchemaError::Depth(limit)) };
        match self {
            Self::Unsigned(width) | Self::Signed(width) if !matches!(width, 1 | 2 | 4 | 8 | 16) => {
                Err(SchemaError::Width(*width))
            }
            Self::Float(width) if !matches!(width, 4 | 8) => Err(SchemaError::Width(*width)),
            Self::Option(inner) | Self::List(inner) | Self::Array(inner, _) => inner.check_below(left, limit),
            Self::Map(key, value) => {
                key.check_below(left, limit)?;
                value.check_below(left, limit)
            }
            Self::Tuple(items) => items.iter().try_for_each(|item| item.check_below(left, limit)),
            Self::Struct(fields) => fields.iter().try_for_each(|(_, field)| field.check_below(left, limit)),
            Self::Enum(variants) => {
                variants.iter().try_for_each(|variant| variant.holds.check_below(left, limit))
            }
            _ => Ok(()),
        }
    }

    /// Reads one value, which must take all the bytes.
    pub fn decode(&self, codec: Codec, bytes: &[u8], limits: &Limits) -> Result<Node, Fault> {
        let mut reader = Reader::new(bytes, limits)?;
        let node = match codec {
            Codec::Cbor => crate::named::read(self, &mut reader)?,
            _ => self.read(codec, &mut reader)?,
        };
        reader.done()?;
        Ok(node)
    }

    fn read(&self, codec: Codec, reader: &mut Reader<'_>) -> Result<Node, Fault> {
        reader.enter()?;
        let start = reader.at();
        let data = self.data(codec, reader)?;
        reader.leave();
        Ok(Node::new(start..reader.at(), data))
    }

    fn data(&self, codec: Codec, reader: &mut Reader<'_>) -> Result<Data, Fault> {
        let start = reader.at();
        Ok(match self {
            Self::Unit => Data::Null,
            Self::Bool => match reader.byte()? {
                0 => Data::Bool(false),
                1 => Data::Bool(true),
                _ => return Err(Fault { offset: start, what: "a truth value other than 0 and 1" }),
            },
            Self::Unsigned(width) => Data::Unsigned(reader.little((*width).min(16))?),
            Self::Signed(width) => signed(reader.little((*width).min(16))?, (*width).min(16)),
            Self::Float(width) => float(codec, reader, *width)?,
            Self::Compact => Data::Unsigned(compact(reader)?),
            Self::Text => {
                let len = length(codec, reader)?;
                Data::Text(reader.text(len)?)
            }
            Self::Bytes => {
                let len = length(codec, reader)?;
                Data::Bytes(reader.take_claimed(len)?.to_vec())
            }
            Self::Fixed(len) => Data::Bytes(reader.take(*len)?.to_vec()),
            Self::Option(inner) => option(inner, codec, reader)?,
            Self::List(item) => {
                let count = length(codec, reader)?;
                Data::List(repeated(reader, count, |reader| item.read(codec, reader))?)
            }
            Self::Array(item, count) => {
                let count = u64::try_from(*count).unwrap_or(u64::MAX);
                Data::List(repeated(reader, count, |reader| item.read(codec, reader))?)
            }
            Self::Map(key, value) => map(key, value, codec, reader)?,
            Self::Tuple(items) => {
                let items: Result<Vec<Node>, Fault> =
                    items.iter().map(|item| item.read(codec, reader)).collect();
                Data::List(items?)
            }
            Self::Struct(fields) => {
                let mut all = Vec::new();
                for (name, field) in fields {
                    let at = reader.at();
                    all.push((Node::new(at..at, Data::Text(name.clone())), field.read(codec, reader)?));
                }
                Data::Map(all)
            }
            Self::Enum(variants) => {
                let index = match codec {
                    Codec::Scale | Codec::Borsh => reader.byte()?.into(),
                    Codec::Bcs => short_varint(reader)?,
                    Codec::Bincode => u64::try_from(reader.little(4)?).unwrap_or(u64::MAX),
                    Codec::Cbor => return Err(Fault { offset: start, what: NOT_BY_PARTS }),
                };
                let Some(variant) = variants.iter().find(|variant| variant.index == index) else {
                    return Err(Fault { offset: start, what: "a variant that the type does not have" });
                };
                Data::Variant(variant.name.clone(), Box::new(variant.holds.read(codec, reader)?))
            }
            Self::Any => return Err(Fault { offset: start, what: "a part that its format says nothing of" }),
        })
    }
}

/// As many parts as are claimed. Those that take no bytes are bounded by the number of parts.
fn repeated<'v, T>(
    reader: &mut Reader<'v>,
    count: u64,
    mut read: impl FnMut(&mut Reader<'v>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(read(reader)?);
    }
    Ok(all)
}

fn map(key: &Type, value: &Type, codec: Codec, reader: &mut Reader<'_>) -> Result<Data, Fault> {
    let count = length(codec, reader)?;
    let mut last: Option<(usize, usize)> = None;
    let whole = reader.whole();
    let pairs = repeated(reader, count, |reader| {
        let key = key.read(codec, reader)?;
        let bytes = |(from, to): (usize, usize)| whole.get(from..to);
        let span = (key.span.start, key.span.end);
        // One map is one string of bytes only if its keys have an order.
        if codec == Codec::Bcs && last.is_some_and(|last| bytes(last) >= bytes(span)) {
            return Err(Fault { offset: span.0, what: "keys that are not in order" });
        }
        last = Some(span);
        Ok((key, value.read(codec, reader)?))
    })?;
    Ok(Data::Map(pairs))
}

fn option(inner: &Type, codec: Codec, reader: &mut Reader<'_>) -> Result<Data, Fault> {
    let start = reader.at();
    match (reader.byte()?, codec, inner) {
        (0, _, _) => Ok(Data::Null),
        // SCALE writes an optional truth value in one byte.
        (1, Codec::Scale, Type::Bool) => Ok(Data::Bool(true)),
        (2, Codec::Scale, Type::Bool) => Ok(Data::Bool(false)),
        (1, _, _) => {
            let node = inner.read(codec, reader)?;
            Ok(if inner.may_be_null() { Data::List(vec![node]) } else { node.data })
        }
        _ => Err(Fault { offset: start, what: "neither present nor absent" }),
    }
}

fn signed(bits: u128, width: usize) -> Data {
    let shift = 128 - 8 * u32::try_from(width.clamp(1, 16)).unwrap_or(16);
    let number = (bits << shift).cast_signed() >> shift;
    u128::try_from(number).map_or(Data::Signed(number), Data::Unsigned)
}

fn float(codec: Codec, reader: &mut Reader<'_>, width: usize) -> Result<Data, Fault> {
    let start = reader.at();
    let float = if width == 4 {
        f64::from(f32::from_bits(u32::try_from(reader.little(4)?).unwrap_or_default()))
    } else {
        f64::from_bits(u64::try_from(reader.little(8)?).unwrap_or_default())
    };
    if codec == Codec::Borsh && float.is_nan() {
        return Err(Fault { offset: start, what: "NaN, which Borsh does not write" });
    }
    Ok(Data::Float(float))
}

fn length(codec: Codec, reader: &mut Reader<'_>) -> Result<u64, Fault> {
    match codec {
        Codec::Scale => {
            let start = reader.at();
            let length = compact(reader)?;
            u64::try_from(length).map_err(|_| Fault { offset: start, what: "a length of more than 64 bits" })
        }
        Codec::Bcs => {
            let start = reader.at();
            let length = short_varint(reader)?;
            if length > 0x7fff_ffff {
                return Err(Fault { offset: start, what: "a length of more than 31 bits" });
            }
            Ok(length)
        }
        Codec::Borsh => Ok(u64::try_from(reader.little(4)?).unwrap_or(u64::MAX)),
        Codec::Bincode => Ok(u64::try_from(reader.little(8)?).unwrap_or(u64::MAX)),
        Codec::Cbor => reader.fault(NOT_BY_PARTS),
    }
}

/// CBOR is read item by item, and named afterwards.
const NOT_BY_PARTS: &str = "a part of CBOR, which is read as a whole";

/// A ULEB128 number in its shortest form.
fn short_varint(reader: &mut Reader<'_>) -> Result<u64, Fault> {
    let start = reader.at();
    let number = reader.varint()?;
    let is_padded = reader.at() > start + 1 && reader.whole().get(reader.at() - 1) == Some(&0);
    if is_padded {
        return Err(Fault { offset: start, what: "a number that is written too long" });
    }
    Ok(number)
}

/// SCALE's compact number: the low two bits say whether one, two, four or more bytes hold it.
fn compact(reader: &mut Reader<'_>) -> Result<u128, Fault> {
    let start = reader.at();
    let Some(first) = reader.peek() else { return reader.fault("it ends too soon") };
    let (number, least) = match first & 3 {
        0 => (reader.little(1)? >> 2, 0),
        1 => (reader.little(2)? >> 2, 1 << 6),
        2 => (reader.little(4)? >> 2, 1 << 14),
        _ => {
            let width = usize::from(reader.byte()? >> 2) + 4;
            if width > 16 {
                return Err(Fault { offset: start, what: "a number of more than 128 bits" });
            }
            (reader.little(width)?, if width == 4 { 1 << 30 } else { 1_u128 << (8 * (width - 1)) })
        }
    };
    if number < least {
        return Err(Fault { offset: start, what: "a number that is written too long" });
    }
    Ok(number)
}

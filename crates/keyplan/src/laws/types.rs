use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use keyplan_plan::dynamic::Value;

use super::{FromValues, Misfit};
use crate::typed::{HashField, Key, KeyError, Layout, ScoredKey, SetKey, Value as Bytes};

/// Reads a key of a space: the family that it belongs to, and what was read.
pub type ReadKey = fn(&[u8]) -> Result<(&'static str, Read), KeyError>;

/// Compares two types, made of the values of their arguments.
pub type Compare = fn(&[Value], &[Value]) -> Result<Ordering, Misfit>;

/// Writes a type, made of the values of its arguments, into a buffer of so many bytes; `None` if it cannot be made.
pub type Buffered = fn(&[Value], usize) -> Option<Result<Vec<u8>, KeyError>>;

/// The enum over the families of a space.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SpaceEntry {
    /// The space.
    pub name: &'static str,
    /// Reads a key: the family that it belongs to, and what was read.
    pub read: ReadKey,
}

impl SpaceEntry {
    /// What [`plan!`](crate::plan!) emits.
    pub const fn new(name: &'static str, read: ReadKey) -> Self {
        Self { name, read }
    }
}

/// A type of a plan.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TypeEntry {
    /// The family that it belongs to.
    pub family: &'static str,
    /// What it is of the family.
    pub part: Part,
    /// Makes it of the values of its arguments.
    pub make: fn(&[Value]) -> Result<Made, Misfit>,
    /// Reads it.
    pub read: fn(&[u8]) -> Result<Read, KeyError>,
    /// Compares two of it, made of the values of their arguments, if it has an order.
    pub compare: Option<Compare>,
}

/// What a type is of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Its key.
    Key,
    /// Its value.
    Value,
    /// A member.
    Member,
    /// A score.
    Score,
    /// The field of this name.
    Field(&'static str),
    /// The value of the field of this name.
    FieldValue(&'static str),
}

/// What was made of arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Made {
    /// How it is displayed.
    pub shown: String,
    /// Its bytes, whatever else they may be read as.
    pub bytes: Result<Vec<u8>, KeyError>,
    /// The same, but refused if an accepted flaw would bite.
    pub guarded: Result<Vec<u8>, KeyError>,
    /// What its bytes are read as: whether that is equal to it, and how it is displayed.
    pub again: Option<Result<(bool, String), KeyError>>,
    /// What becomes of it in a buffer of `n` bytes.
    pub buffered: Buffered,
}

/// What was read from bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Read {
    /// How it is displayed.
    pub shown: String,
    /// The bytes that it has, whatever else they may be read as.
    pub bytes: Result<Vec<u8>, KeyError>,
    /// The same, but refused if an accepted flaw would bite.
    pub guarded: Result<Vec<u8>, KeyError>,
}

impl Read {
    /// What was read, from the functions that write it.
    pub fn new(
        shown: &dyn fmt::Display,
        bytes: impl FnOnce(&mut Vec<u8>) -> Result<(), KeyError>,
        guarded: impl FnOnce(&mut Vec<u8>) -> Result<(), KeyError>,
    ) -> Self {
        Self { shown: shown.to_string(), bytes: written(bytes), guarded: written(guarded) }
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<(), KeyError>) -> Result<Vec<u8>, KeyError> {
    let mut out = Vec::new();
    write(&mut out).map(|()| out)
}

/// The order of two rows of arguments.
pub fn compare<T: FromValues<'static> + Ord>(left: &[Value], right: &[Value]) -> Result<Ordering, Misfit> {
    Ok(made::<T>(left)?.cmp(&made::<T>(right)?))
}

/// A type made of values that are kept for ever, since a list borrows for as long as its elements do.
fn made<T: FromValues<'static>>(values: &[Value]) -> Result<T, Misfit> {
    T::from_values(Vec::leak(values.to_vec()))
}

fn made_and_read<T: PartialEq + fmt::Display>(
    made: &T,
    bytes: Result<Vec<u8>, KeyError>,
    guarded: Result<Vec<u8>, KeyError>,
    read: fn(&'static [u8]) -> Result<T, KeyError>,
    buffered: Buffered,
) -> Made {
    let again = bytes.as_ref().ok().map(|bytes| {
        read(Box::leak(bytes.clone().into_boxed_slice())).map(|again| (again == *made, again.to_string()))
    });
    Made { shown: made.to_string(), bytes, guarded, again, buffered }
}

impl TypeEntry {
    /// The key of a family.
    pub const fn key<K>() -> Self
    where
        K: Key<Decoded<'static> = K> + FromValues<'static> + PartialEq,
    {
        Self {
            family: K::FAMILY,
            part: Part::Key,
            make: |values| {
                let key = made::<K>(values)?;
                Ok(made_and_read(
                    &key,
                    written(|out| key.encode_unguarded_into(out)),
                    written(|out| key.encode_into(out)),
                    |bytes| K::decode(bytes),
                    |values, len| {
                        let key = made::<K>(values).ok()?;
                        let mut room = alloc::vec![0; len];
                        Some(key.encode_to(&mut room).map(<[u8]>::to_vec))
                    },
                ))
            },
            read: read_key::<K>,
            compare: None,
        }
    }

    /// The same, with an order.
    #[must_use]
    pub const fn ordered(mut self, compare: Compare) -> Self {
        self.compare = Some(compare);
        self
    }

    const fn part<V>(family: &'static str, part: Part, read: fn(&[u8]) -> Result<Read, KeyError>) -> Self
    where
        V: Bytes<'static> + FromValues<'static> + PartialEq,
    {
        Self {
            family,
            part,
            make: |values| {
                let value = made::<V>(values)?;
                let bytes = written(|out| value.encode_into(out));
                Ok(made_and_read(&value, bytes.clone(), bytes, V::decode, buffered::<V>))
            },
            read,
            compare: None,
        }
    }

    /// The value of a family.
    pub const fn value<K: Key>() -> Self
    where
        K::Value<'static>: FromValues<'static> + PartialEq,
    {
        Self::part::<K::Value<'static>>(K::FAMILY, Part::Value, |bytes| {
            let value = K::Value::decode(bytes)?;
            Ok(Read::new(&value, |out| value.encode_into(out), |out| value.encode_into(out)))
        })
    }

    /// A member of a family.
    pub const fn member<K: SetKey>() -> Self
    where
        K::Member<'static>: FromValues<'static> + PartialEq,
    {
        Self::part::<K::Member<'static>>(K::FAMILY, Part::Member, |bytes| {
            let member = K::Member::decode(bytes)?;
            Ok(Read::new(&member, |out| member.encode_into(out), |out| member.encode_into(out)))
        })
    }

    /// A score of a family.
    pub const fn score<K: ScoredKey>() -> Self
    where
        K::Score<'static>: FromValues<'static> + PartialEq,
    {
        Self::part::<K::Score<'static>>(K::FAMILY, Part::Score, |bytes| {
            let score = K::Score::decode(bytes)?;
            Ok(Read::new(&score, |out| score.encode_into(out), |out| score.encode_into(out)))
        })
    }

    /// A field of a hash.
    pub const fn field<F>(
        family: &'static str,
        name: &'static str,
        read: fn(&[u8]) -> Result<Read, KeyError>,
    ) -> Self
    where
        F: Bytes<'static> + Layout<'static> + FromValues<'static> + PartialEq,
    {
        Self {
            family,
            part: Part::Field(name),
            make: |values| {
                let field = made::<F>(values)?;
                Ok(made_and_read(
                    &field,
                    written(|out| field.put(out).map_err(|error| error.of(""))),
                    written(|out| field.encode_into(out)),
                    <F as Bytes<'static>>::decode,
                    buffered::<F>,
                ))
            },
            read,
            compare: None,
        }
    }

    /// The value of a field of a hash.
    pub const fn field_value<F: HashField>(family: &'static str, name: &'static str) -> Self
    where
        F::FieldValue<'static>: FromValues<'static> + PartialEq,
    {
        Self::part::<F::FieldValue<'static>>(family, Part::FieldValue(name), |bytes| {
            let value = F::FieldValue::decode(bytes)?;
            Ok(Read::new(&value, |out| value.encode_into(out), |out| value.encode_into(out)))
        })
    }
}

fn read_key<K: Key>(bytes: &[u8]) -> Result<Read, KeyError> {
    let key = K::decode(bytes)?;
    Ok(Read::new(&key, |out| key.encode_unguarded_into(out), |out| key.encode_into(out)))
}

fn buffered<V: Bytes<'static> + FromValues<'static>>(
    values: &[Value],
    len: usize,
) -> Option<Result<Vec<u8>, KeyError>> {
    let value = made::<V>(values).ok()?;
    let mut room = alloc::vec![0; len];
    Some(value.encode_to(&mut room).map(<[u8]>::to_vec))
}

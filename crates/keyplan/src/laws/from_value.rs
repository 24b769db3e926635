use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::slice::Iter;

use keyplan_codec::Score;
use keyplan_plan::dynamic::Value;

use crate::typed::{
    Bcs, Bincode, Borsh, Cbor, CodedBytes, CodedText, FloatScore, Json, KeyError, List, ListLayout, Proto,
    Raw, Rlp, Scale, SegmentError, ShortBytes, ShortText,
};

/// Why a type cannot be made of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The type has no such value: an integer too wide for it, an array of another length, another kind of value.
    Inexpressible,
    /// The argument is refused where it is made, as the argument of a hash is.
    Refused(SegmentError),
    /// The bound arguments of a scan are refused.
    Scan(KeyError),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inexpressible => f.write_str("the type has no such value"),
            Self::Refused(error) => error.fault.fmt(f),
            Self::Scan(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Misfit {}

/// The type of an argument.
pub trait FromValue<'v>: Sized {
    /// The argument that `value` stands for.
    fn from_value(value: &'v Value) -> Result<Self, Misfit>;
}

/// The type of a row of arguments.
pub trait FromValues<'v>: Sized {
    /// The row that `values` stand for, one value for each argument.
    fn from_values(values: &'v [Value]) -> Result<Self, Misfit>;
}

/// Values that are taken one after the other.
#[derive(Debug)]
pub struct Arguments<'v>(Iter<'v, Value>);

impl<'v> Arguments<'v> {
    /// All of `values`.
    pub fn new(values: &'v [Value]) -> Self {
        Self(values.iter())
    }

    /// The next argument.
    pub fn take<T: FromValue<'v>>(&mut self) -> Result<T, Misfit> {
        T::from_value(self.0.next().ok_or(Misfit::Inexpressible)?)
    }

    /// Refuses what is left over.
    pub fn end(&mut self) -> Result<(), Misfit> {
        if self.0.next().is_none() { Ok(()) } else { Err(Misfit::Inexpressible) }
    }
}

/// The arguments of a record.
pub fn record(value: &Value) -> Result<&[Value], Misfit> {
    let Value::Record(values) = value else { return Err(Misfit::Inexpressible) };
    Ok(values)
}

/// The number of an alternative and its arguments.
pub fn alternative(value: &Value) -> Result<(usize, Arguments<'_>), Misfit> {
    let Value::Choice(index, values) = value else { return Err(Misfit::Inexpressible) };
    Ok((*index, Arguments::new(values)))
}

/// The digest that stands for an argument which is not known.
pub fn digest_bytes<const N: usize>(value: &Value) -> Option<Result<[u8; N], Misfit>> {
    let Value::Digest(digest) = value else { return None };
    Some(digest.as_slice().try_into().map_err(|_| Misfit::Inexpressible))
}

macro_rules! integers {
    ($variant:ident: $($ty:ty)*) => {$(
        impl FromValue<'_> for $ty {
            fn from_value(value: &Value) -> Result<Self, Misfit> {
                let Value::$variant(n) = value else { return Err(Misfit::Inexpressible) };
                (*n).try_into().map_err(|_| Misfit::Inexpressible)
            }
        }
    )*};
}

integers!(Unsigned: u8 u16 u32 u64 u128);
integers!(Signed: i8 i16 i32 i64);

impl FromValue<'_> for i128 {
    fn from_value(value: &Value) -> Result<Self, Misfit> {
        match value {
            Value::Signed(n) | Value::Time(n) => Ok(*n),
            _ => Err(Misfit::Inexpressible),
        }
    }
}

impl FromValue<'_> for bool {
    fn from_value(value: &Value) -> Result<Self, Misfit> {
        let Value::Bool(value) = value else { return Err(Misfit::Inexpressible) };
        Ok(*value)
    }
}

impl FromValue<'_> for f64 {
    fn from_value(value: &Value) -> Result<Self, Misfit> {
        let Value::Float(value) = value else { return Err(Misfit::Inexpressible) };
        Ok(*value)
    }
}

impl FromValue<'_> for Score {
    fn from_value(value: &Value) -> Result<Self, Misfit> {
        let Value::Score(score) = value else { return Err(Misfit::Inexpressible) };
        Ok(*score)
    }
}

impl FromValue<'_> for FloatScore {
    fn from_value(value: &Value) -> Result<Self, Misfit> {
        match value {
            Value::Float(score) => Ok(Self(*score)),
            Value::Score(score) => Self::try_from(*score).map_err(|error| Misfit::Refused(error.into())),
            _ => Err(Misfit::Inexpressible),
        }
    }
}

impl<'v> FromValue<'v> for &'v [u8] {
    fn from_value(value: &'v Value) -> Result<Self, Misfit> {
        match value {
            Value::Bytes(bytes) | Value::Nibbles(bytes) => Ok(bytes),
            _ => Err(Misfit::Inexpressible),
        }
    }
}

impl<'v> FromValue<'v> for &'v str {
    fn from_value(value: &'v Value) -> Result<Self, Misfit> {
        let Value::Text(text) = value else { return Err(Misfit::Inexpressible) };
        Ok(text)
    }
}

/// Types that hold bytes or text in another way than by a reference.
macro_rules! held {
    ($($(#[$generics:meta])* [$($generic:tt)*] $ty:ty: $from:ty, $made:expr;)*) => {$(
        impl<'v, $($generic)*> FromValue<'v> for $ty {
            fn from_value(value: &'v Value) -> Result<Self, Misfit> {
                let made: fn($from) -> Option<Self> = $made;
                made(FromValue::from_value(value)?).ok_or(Misfit::Inexpressible)
            }
        }
    )*};
}

held! {
    [const N: usize] [u8; N]: &'v [u8], |bytes| bytes.try_into().ok();
    [const N: usize] ShortBytes<N>: &'v [u8], ShortBytes::copied;
    [const N: usize] ShortText<N>: &'v str, ShortText::copied;
    [] CodedBytes<'v>: &'v [u8], |bytes| Some(CodedBytes::from(bytes));
    [] CodedText<'v>: &'v str, |text| Some(CodedText::from(text));
    [] Cbor<'v>: &'v [u8], |bytes| Some(Cbor(bytes));
    [] Json<'v>: &'v [u8], |bytes| Some(Json(bytes));
    [] Proto<'v>: &'v [u8], |bytes| Some(Proto(bytes));
    [] Rlp<'v>: &'v [u8], |bytes| Some(Rlp(bytes));
    [] Scale<'v>: &'v [u8], |bytes| Some(Scale(bytes));
    [] Bcs<'v>: &'v [u8], |bytes| Some(Bcs(bytes));
    [] Borsh<'v>: &'v [u8], |bytes| Some(Borsh(bytes));
    [] Bincode<'v>: &'v [u8], |bytes| Some(Bincode(bytes));
    [] Raw<'v>: &'v [u8], |bytes| Some(Raw(bytes));
}

/// A codec that stands for a whole value is a row of one.
macro_rules! opaque {
    ($($ty:ident)*) => {$(
        impl<'v> FromValues<'v> for $ty<'v> {
            fn from_values(values: &'v [Value]) -> Result<Self, Misfit> {
                let mut values = Arguments::new(values);
                let made = values.take()?;
                values.end()?;
                Ok(made)
            }
        }
    )*};
}

opaque!(Cbor Json Proto Rlp Scale Bcs Borsh Bincode Raw);

impl<'v, T: FromValue<'v>> FromValue<'v> for Option<T> {
    fn from_value(value: &'v Value) -> Result<Self, Misfit> {
        let Value::Option(value) = value else { return Err(Misfit::Inexpressible) };
        value.as_deref().map(T::from_value).transpose()
    }
}

impl<'v, L: ListLayout> FromValue<'v> for List<'v, L>
where
    L::Item<'v>: FromValue<'v>,
{
    fn from_value(value: &'v Value) -> Result<Self, Misfit> {
        let Value::List(values) = value else { return Err(Misfit::Inexpressible) };
        let items: Vec<L::Item<'v>> = values.iter().map(FromValue::from_value).collect::<Result<_, _>>()?;
        Ok(Self::new(Box::leak(items.into_boxed_slice())))
    }
}

use core::fmt;

use keyplan_codec::Sink;

use super::{KeyError, SegmentError, Value};

macro_rules! opaque {
    ($($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name<'v>(pub &'v [u8]);

        impl<'v> Value<'v> for $name<'v> {
            #[inline]
            fn encode_into<S: Sink + ?Sized>(&self, out: &mut S) -> Result<(), KeyError> {
                out.put(self.0).map_err(|error| SegmentError::argument("value", error).of("value"))
            }

            #[inline]
            fn decode(bytes: &'v [u8]) -> Result<Self, KeyError> {
                Ok(Self(bytes))
            }
        }

        impl fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                super::Shown::bytes(self.0).fmt(f)
            }
        }

        impl<'v> From<&'v [u8]> for $name<'v> {
            fn from(bytes: &'v [u8]) -> Self {
                Self(bytes)
            }
        }
    )*};
}

opaque! {
    /// The bytes of a CBOR item, which the plan does not look into.
    Cbor
    /// The bytes of a JSON text, which the plan does not look into.
    Json
    /// The bytes of a protobuf message, which the plan does not look into.
    Proto
    /// The bytes of an item in RLP, which the plan does not look into.
    Rlp
    /// The bytes of a value in SCALE.
    Scale
    /// The bytes of a value in BCS.
    Bcs
    /// The bytes of a value in Borsh.
    Borsh
    /// The bytes of a value in the form of bincode 1. The crate of that name has no keeper, so that no feature reads it: it is for the
    /// program to say how.
    Bincode
    /// Bytes that the plan does not look into.
    Raw
}

//! Values in a codec that a plan names but does not look into.

use alloc::vec::Vec;
use core::fmt;

#[cfg(feature = "bcs")]
use super::Bcs;
#[cfg(feature = "borsh")]
use super::Borsh;
#[cfg(feature = "cbor")]
use super::Cbor;
#[cfg(feature = "json")]
use super::Json;
#[cfg(feature = "proto")]
use super::Proto;
#[cfg(feature = "rlp")]
use super::Rlp;
#[cfg(feature = "scale")]
use super::Scale;

/// Why a value is not what its codec calls for.
#[derive(Debug)]
#[non_exhaustive]
pub enum CodecError {
    /// The value cannot be written in CBOR.
    #[cfg(feature = "cbor")]
    EncodeCbor(minicbor::encode::Error<core::convert::Infallible>),
    /// The bytes are not the CBOR of the type.
    #[cfg(feature = "cbor")]
    DecodeCbor(minicbor::decode::Error),
    /// The value cannot be written in JSON, or the bytes are not the JSON of the type.
    #[cfg(feature = "json")]
    Json(serde_json::Error),
    /// The bytes are not the message.
    #[cfg(feature = "proto")]
    Proto(prost::DecodeError),
    /// The bytes are not the RLP of the type.
    #[cfg(feature = "rlp")]
    Rlp(alloy_rlp::Error),
    /// The bytes are not the SCALE of the type.
    #[cfg(feature = "scale")]
    Scale(parity_scale_codec::Error),
    /// The value cannot be written in BCS, or the bytes are not the BCS of the type.
    #[cfg(feature = "bcs")]
    Bcs(bcs::Error),
    /// The value cannot be written in Borsh, or the bytes are not the Borsh of the type.
    #[cfg(feature = "borsh")]
    Borsh(borsh::io::Error),
    /// There are bytes after the value.
    Trailing {
        /// Where they begin.
        offset: usize,
    },
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "cbor")]
            Self::EncodeCbor(_) => f.write_str("the value cannot be written in CBOR"),
            #[cfg(feature = "cbor")]
            Self::DecodeCbor(error) => match error.position() {
                Some(offset) => write!(f, "byte {offset}: not the CBOR of the type"),
                None => f.write_str("not the CBOR of the type"),
            },
            #[cfg(feature = "json")]
            Self::Json(error) if error.is_io() => f.write_str("the value cannot be written in JSON"),
            #[cfg(feature = "proto")]
            Self::Proto(_) => f.write_str("not the message of the type"),
            #[cfg(feature = "rlp")]
            Self::Rlp(_) => f.write_str("not the RLP of the type"),
            #[cfg(feature = "scale")]
            Self::Scale(_) => f.write_str("not the SCALE of the type"),
            #[cfg(feature = "bcs")]
            Self::Bcs(_) => f.write_str("not the BCS of the type"),
            #[cfg(feature = "borsh")]
            Self::Borsh(_) => f.write_str("not the Borsh of the type"),
            #[cfg(feature = "json")]
            Self::Json(error) => {
                write!(f, "line {}, column {}: not the JSON of the type", error.line(), error.column())
            }
            Self::Trailing { offset } => write!(f, "byte {offset}: nothing may come after the value"),
        }
    }
}

impl core::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "cbor")]
            Self::EncodeCbor(error) => Some(error),
            #[cfg(feature = "cbor")]
            Self::DecodeCbor(error) => Some(error),
            #[cfg(feature = "json")]
            Self::Json(error) => Some(error),
            #[cfg(feature = "proto")]
            Self::Proto(error) => Some(error),
            #[cfg(feature = "rlp")]
            Self::Rlp(error) => Some(error),
            #[cfg(feature = "scale")]
            Self::Scale(error) => Some(error),
            #[cfg(feature = "bcs")]
            Self::Bcs(error) => Some(error),
            #[cfg(feature = "borsh")]
            Self::Borsh(error) => Some(error),
            Self::Trailing { .. } => None,
        }
    }
}

#[cfg(feature = "cbor")]
impl<'v> Cbor<'v> {
    /// Writes `value` into `room`, whose contents go, and returns it there.
    ///
    /// ```
    /// use keyplan_typed::Cbor;
    ///
    /// let mut room = Vec::new();
    /// let cbor = Cbor::write(&(7u64, "osmo"), &mut room)?;
    /// assert_eq!(cbor.0, b"\x82\x07\x64osmo");
    /// assert_eq!(cbor.read::<(u64, &str)>()?, (7, "osmo"));
    /// # Ok::<(), keyplan_typed::CodecError>(())
    /// ```
    pub fn write<T: minicbor::Encode<()> + ?Sized>(
        value: &T,
        room: &'v mut Vec<u8>,
    ) -> Result<Self, CodecError> {
        room.clear();
        minicbor::encode(value, &mut *room).map_err(CodecError::EncodeCbor)?;
        Ok(Self(room))
    }

    /// Reads the value, which is all that there may be.
    pub fn read<T: minicbor::Decode<'v, ()>>(&self) -> Result<T, CodecError> {
        let mut decoder = minicbor::Decoder::new(self.0);
        let value = decoder.decode().map_err(CodecError::DecodeCbor)?;
        let offset = decoder.position();
        if offset == self.0.len() { Ok(value) } else { Err(CodecError::Trailing { offset }) }
    }
}

#[cfg(feature = "json")]
impl<'v> Json<'v> {
    /// Writes `value` into `room`, whose contents go, and returns it there.
    ///
    /// ```
    /// use keyplan_typed::Json;
    ///
    /// let mut room = Vec::new();
    /// let json = Json::write(&(7u64, "osmo"), &mut room)?;
    /// assert_eq!(json.0, br#"[7,"osmo"]"#);
    /// assert_eq!(json.read::<(u64, &str)>()?, (7, "osmo"));
    /// # Ok::<(), keyplan_typed::CodecError>(())
    /// ```
    pub fn write<T: serde::Serialize + ?Sized>(value: &T, room: &'v mut Vec<u8>) -> Result<Self, CodecError> {
        room.clear();
        serde_json::to_writer(&mut *room, value).map_err(CodecError::Json)?;
        Ok(Self(room))
    }

    /// Reads the value, which is all that there may be but for white space.
    pub fn read<T: serde::Deserialize<'v>>(&self) -> Result<T, CodecError> {
        serde_json::from_slice(self.0).map_err(CodecError::Json)
    }
}

#[cfg(feature = "proto")]
impl<'v> Proto<'v> {
    /// Writes `message` into `room`, whose contents go, and returns it there.
    ///
    /// ```
    /// use keyplan_typed::Proto;
    ///
    /// let mut room = Vec::new();
    /// // A number is the message `google.protobuf.UInt64Value`.
    /// let proto = Proto::write(&7u64, &mut room);
    /// assert_eq!(proto.0, b"\x08\x07");
    /// assert_eq!(proto.read::<u64>()?, 7);
    /// # Ok::<(), keyplan_typed::CodecError>(())
    /// ```
    pub fn write<M: prost::Message>(message: &M, room: &'v mut Vec<u8>) -> Self {
        room.clear();
        room.extend_from_slice(&message.encode_to_vec());
        Self(room)
    }

    /// Reads the message, which is all that there may be. Fields that its type does not have are passed over.
    pub fn read<M: prost::Message + Default>(&self) -> Result<M, CodecError> {
        M::decode(self.0).map_err(CodecError::Proto)
    }
}

#[cfg(feature = "rlp")]
impl<'v> Rlp<'v> {
    /// Writes `value` into `room`, whose contents go, and returns it there.
    ///
    /// ```
    /// use keyplan_typed::Rlp;
    ///
    /// let mut room = Vec::new();
    /// let rlp = Rlp::write(&1024u64, &mut room);
    /// assert_eq!(rlp.0, b"\x82\x04\x00");
    /// assert_eq!(rlp.read::<u64>()?, 1024);
    /// # Ok::<(), keyplan_typed::CodecError>(())
    /// ```
    pub fn write<T: alloy_rlp::Encodable + ?Sized>(value: &T, room: &'v mut Vec<u8>) -> Self {
        room.clear();
        value.encode(room);
        Self(room)
    }

    /// Reads the value, which is all that there may be.
    pub fn read<T: alloy_rlp::Decodable>(&self) -> Result<T, CodecError> {
        alloy_rlp::decode_exact(self.0).map_err(CodecError::Rlp)
    }
}

#[cfg(feature = "scale")]
impl<'v> Scale<'v> {
    /// Writes `value` into `room`, whose contents go, and returns it there.
    ///
    /// ```
    /// use keyplan_typed::Scale;
    ///
    /// let mut room = Vec::new();
    /// let scale = Scale::write(&(7u32, "osmo".to_owned()), &mut room);
    /// assert_eq!(scale.0, b"\x07\0\0\0\x10osmo");
    /// assert_eq!(scale.read::<(u32, String)>()?, (7, "osmo".to_owned()));
    /// # Ok::<(), keyplan_typed::CodecError>(())
    /// ```
    pub fn write<T: parity_scale_codec::Encode + ?Sized>(value: &T, room: &'v mut Vec<u8>) -> Self {
        room.clear();
        value.encode_to(room);
        Self(room)
    }

    /// Reads the value, which is all that there may be.
    pub fn read<T: parity_scale_codec::Decode>(&self) -> Result<T, CodecError> {
        let mut rest = self.0;
        let value = T::decode(&mut rest).map_err(CodecError::Scale)?;
        let offset = self.0.len() - rest.len();
        if rest.is_empty() { Ok(value) } else { Err(CodecError::Trailing { offset }) }
    }
}

#[cfg(feature = "bcs")]
impl<'v> Bcs<'v> {
    /// Writes `value` into `room`, whose contents go, and returns it there.
    ///
    /// ```
    /// use keyplan_typed::Bcs;
    ///
    /// let mut room = Vec::new();
    /// let bcs = Bcs::write(&(7u64, "sui"), &mut room)?;
    /// assert_eq!(bcs.0, b"\x07\0\0\0\0\0\0\0\x03sui");
    /// assert_eq!(bcs.read::<(u64, &str)>()?, (7, "sui"));
    /// # Ok::<(), keyplan_typed::CodecError>(())
    /// ```
    pub fn write<T: serde::Serialize + ?Sized>(value: &T, room: &'v mut Vec<u8>) -> Result<Self, CodecError> {
        room.clear();
        bcs::serialize_into(&mut *room, value).map_err(CodecError::Bcs)?;
        Ok(Self(room))
    }

    /// Reads the value, which is all that there may be.
    pub fn read<T: serde::Deserialize<'v>>(&self) -> Result<T, CodecError> {
        bcs::from_bytes(self.0).map_err(CodecError::Bcs)
    }
}

#[cfg(feature = "borsh")]
impl<'v> Borsh<'v> {
    /// Writes `value` into `room`, whose contents go, and returns it there.
    ///
    /// ```
    /// use keyplan_typed::Borsh;
    ///
    /// let mut room = Vec::new();
    /// let borsh = Borsh::write(&(7u64, "near"), &mut room)?;
    /// assert_eq!(borsh.0, b"\x07\0\0\0\0\0\0\0\x04\0\0\0near");
    /// assert_eq!(borsh.read::<(u64, String)>()?, (7, "near".to_owned()));
    /// # Ok::<(), keyplan_typed::CodecError>(())
    /// ```
    pub fn write<T: borsh::BorshSerialize + ?Sized>(
        value: &T,
        room: &'v mut Vec<u8>,
    ) -> Result<Self, CodecError> {
        room.clear();
        value.serialize(&mut *room).map_err(CodecError::Borsh)?;
        Ok(Self(room))
    }

    /// Reads the value, which is all that there may be.
    pub fn read<T: borsh::BorshDeserialize>(&self) -> Result<T, CodecError> {
        borsh::from_slice(self.0).map_err(CodecError::Borsh)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[cfg(feature = "cbor")]
    #[test]
    fn cbor_ends_where_the_value_does() {
        let error = Cbor(b"\x07\x08").read::<u64>().unwrap_err();
        assert_eq!(error.to_string(), "byte 1: nothing may come after the value");
        let error = Cbor(b"\x61a").read::<u64>().unwrap_err();
        assert_eq!(error.to_string(), "byte 0: not the CBOR of the type");
    }

    #[cfg(all(feature = "rlp", feature = "scale", feature = "bcs", feature = "borsh"))]
    #[test]
    fn what_is_not_of_the_type_or_has_more_after_it_is_told() {
        let told = |result: Result<u32, CodecError>| result.unwrap_err().to_string();
        for bytes in [&b"\x84"[..], b"\x07\x08"] {
            assert_eq!(told(Rlp(bytes).read()), "not the RLP of the type");
        }
        assert_eq!(told(Scale(b"\x07\0\0").read()), "not the SCALE of the type");
        assert_eq!(told(Scale(b"\x07\0\0\0\0").read()), "byte 4: nothing may come after the value");
        for bytes in [&b"\x07\0\0"[..], b"\x07\0\0\0\0"] {
            assert_eq!(told(Bcs(bytes).read()), "not the BCS of the type");
            assert_eq!(told(Borsh(bytes).read()), "not the Borsh of the type");
        }
    }

    #[cfg(feature = "proto")]
    #[test]
    fn a_message_that_is_none_is_told() {
        let error = Proto(b"\x08").read::<u64>().unwrap_err();
        assert_eq!(error.to_string(), "not the message of the type");
    }

    #[cfg(feature = "json")]
    #[test]
    fn json_says_where_it_is_not_of_the_type() {
        let error = Json(b"[1,\n2,x]").read::<Vec<u64>>().unwrap_err();
        assert_eq!(error.to_string(), "line 2, column 3: not the JSON of the type");
        assert_eq!(Json(b" 7 ").read::<u64>().unwrap(), 7);
    }
}

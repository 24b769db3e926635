use std::error::Error;

/// A kind of entity with a type of its own.
///
/// ```
/// use keyplan_chains::cardano::{Config, Entity, EntityKey, Namespace, StateStore};
///
/// #[derive(Debug, PartialEq)]
/// struct Blocks(u8);
///
/// impl Entity for Blocks {
///     const NAMESPACE: &'static str = Namespace::POOLS;
///     type Error = std::array::TryFromSliceError;
///
///     fn encode_entity(&self, out: &mut Vec<u8>) -> Result<(), Self::Error> {
///         out.push(self.0);
///         Ok(())
///     }
///
///     fn decode_entity(bytes: &[u8]) -> Result<Self, Self::Error> {
///         let [blocks] = bytes.try_into()?;
///         Ok(Self(blocks))
///     }
/// }
///
/// let store = StateStore::in_memory(Config::default())?;
/// let mut writer = store.start_writer()?;
/// writer.write_entity_typed(&EntityKey::MIN, &Blocks(9))?;
/// writer.commit()?;
/// assert_eq!(store.read_entity_typed(&EntityKey::MIN)?, Some(Blocks(9)));
/// # Ok::<(), keyplan_chains::cardano::StateError>(())
/// ```
pub trait Entity: Sized {
    /// The namespace that these entities are in.
    const NAMESPACE: &'static str;
    /// Why one cannot be encoded or decoded.
    type Error: Error + Send + Sync + 'static;

    /// Appends the entity's bytes.
    fn encode_entity(&self, out: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Reads an entity that is exactly `bytes`.
    fn decode_entity(bytes: &[u8]) -> Result<Self, Self::Error>;
}

/// A kind of entity that is stored in CBOR, by `minicbor`: an [`Entity`] for naming only its namespace.
#[cfg(feature = "minicbor")]
pub trait CborEntity: minicbor::Encode<()> + for<'b> minicbor::Decode<'b, ()> {
    /// The namespace that these entities are in.
    const NAMESPACE: &'static str;
}

#[cfg(feature = "minicbor")]
impl<T: CborEntity> Entity for T {
    const NAMESPACE: &'static str = T::NAMESPACE;
    type Error = CborError;

    fn encode_entity(&self, out: &mut Vec<u8>) -> Result<(), CborError> {
        minicbor::encode(self, out).map_err(|error| CborError::Encode(error.to_string()))
    }

    fn decode_entity(bytes: &[u8]) -> Result<Self, CborError> {
        let mut decoder = minicbor::Decoder::new(bytes);
        let entity = decoder.decode().map_err(CborError::Decode)?;
        match bytes.len().saturating_sub(decoder.position()) {
            0 => Ok(entity),
            left => Err(CborError::Trailing { left }),
        }
    }
}

/// Why an entity is not the CBOR of its type.
#[cfg(feature = "minicbor")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CborError {
    /// It cannot be encoded.
    #[error("{0}")]
    Encode(String),
    /// It cannot be decoded.
    #[error(transparent)]
    Decode(#[from] minicbor::decode::Error),
    /// There are bytes after it.
    #[error("{left} bytes after the end")]
    Trailing {
        /// How many.
        left: usize,
    },
}

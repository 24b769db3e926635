use std::fmt;

/// The key of an entity inside of its namespace: 32 bytes.
///
/// What is shorter is padded only where that is asked for, and what is longer is refused. Dolos cuts and fills up every
/// key in silence, so that `a` and `a` followed by a zero are one key there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityKey(pub [u8; 32]);

impl EntityKey {
    /// The first key, `00…00`.
    pub const MIN: Self = Self([0; 32]);
    /// The last key, `ff…ff`. A range that is to hold it has no end, or is inclusive.
    pub const MAX: Self = Self([0xff; 32]);

    /// The bytes, with zeros after them up to 32; refused if there are more than that.
    ///
    /// Two byte strings that differ only in zeros at the end make one key: whoever pads must know that his have none.
    ///
    /// ```
    /// use keyplan_chains::cardano::{EntityKey, EntityKeyTooLong};
    ///
    /// assert_eq!(EntityKey::padded(&[7; 28])?.0[27..], [7, 0, 0, 0, 0]);
    /// assert_eq!(EntityKey::padded(&[7; 33]), Err(EntityKeyTooLong { length: 33 }));
    /// # Ok::<(), EntityKeyTooLong>(())
    /// ```
    pub fn padded(bytes: &[u8]) -> Result<Self, EntityKeyTooLong> {
        let mut key = [0; 32];
        let place = key.get_mut(..bytes.len()).ok_or(EntityKeyTooLong { length: bytes.len() })?;
        place.copy_from_slice(bytes);
        Ok(Self(key))
    }
}

impl From<[u8; 32]> for EntityKey {
    fn from(key: [u8; 32]) -> Self {
        Self(key)
    }
}

impl AsRef<[u8]> for EntityKey {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for EntityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for EntityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntityKey({self})")
    }
}

/// Bytes that are too many for the key of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityKeyTooLong {
    /// How many there are.
    pub length: usize,
}

impl fmt::Display for EntityKeyTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key of an entity has 32 bytes at most, and this has {}", self.length)
    }
}

impl std::error::Error for EntityKeyTooLong {}

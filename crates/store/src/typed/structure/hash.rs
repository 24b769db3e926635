use std::marker::PhantomData;

use crate::structure::{Kind, StructureRead, Structures};

use super::{FoundField, FoundValue, Keys, in_space, keys};
use crate::typed::Error;
use keyplan_typed::{HashField, HashKey, Value as _};

/// The hashes of one family.
#[derive(Debug)]
pub struct Hash<'r, K, R: ?Sized> {
    raw: &'r R,
    family: PhantomData<fn() -> K>,
}

impl<'r, K: HashKey, R: StructureRead + ?Sized> Hash<'r, K, R> {
    /// The hashes of a family among structures of its space.
    pub fn on(raw: &'r R) -> Result<Self, Error> {
        in_space::<K>(raw)?;
        Ok(Self { raw, family: PhantomData })
    }

    /// The value of a field.
    pub fn get<'f, F>(&self, key: &K, field: F) -> Result<Option<FoundValue<K, F>>, Error>
    where
        F: HashField + Into<K::Field<'f>>,
    {
        let found = self.raw.hash_get(&key.to_vec()?, &bytes::<K, F>(field)?)?;
        Ok(found.map(FoundValue::new))
    }

    /// The fields of a hash, of every kind.
    pub fn fields(&self, key: &K) -> Result<Vec<FoundField<K>>, Error> {
        let found = self.raw.hash_all(&key.to_vec()?)?;
        found
            .map(|pair| pair.map(|(field, value)| FoundField::new(field, value)).map_err(Error::from))
            .collect()
    }

    /// How many fields a hash has.
    pub fn count(&self, key: &K) -> Result<u64, Error> {
        Ok(self.raw.hash_count(&key.to_vec()?)?)
    }

    /// The keys of the hashes that have fields.
    pub fn keys(&self) -> Result<Keys<'r>, Error> {
        keys::<K>(self.raw, Kind::Hash)
    }
}

impl<K: HashKey, R: Structures + ?Sized> Hash<'_, K, R> {
    /// Gives a field a value, and says whether the field is new.
    pub fn set<'f, F>(&self, key: &K, field: F, value: &F::FieldValue<'_>) -> Result<bool, Error>
    where
        F: HashField + Into<K::Field<'f>>,
    {
        Ok(self.raw.hash_set(&key.to_vec()?, &bytes::<K, F>(field)?, &value.to_vec()?)?)
    }

    /// Deletes a field, and says whether it was there.
    pub fn delete<'f, F>(&self, key: &K, field: F) -> Result<bool, Error>
    where
        F: HashField + Into<K::Field<'f>>,
    {
        Ok(self.raw.hash_delete(&key.to_vec()?, &bytes::<K, F>(field)?)?)
    }
}

/// The bytes of a field, which are refused if another kind of field has them too.
pub(super) fn bytes<'f, K: HashKey, F: HashField + Into<K::Field<'f>>>(field: F) -> Result<Vec<u8>, Error> {
    let field: K::Field<'f> = field.into();
    Ok(field.to_vec()?)
}

use keyplan_store::BytesOf;
use keyplan_store::cache::{Cached, CachedBytes, CachedSnapshot};
#[cfg(any(feature = "lmdb", feature = "redb"))]
use keyplan_store::engine::MultimapSnapshot;
use keyplan_store::engine::{Batch, Engine, Error, Fjall, Memory, SpaceId};

/// What a state store asks of an engine besides [`Engine`]: several values for a key, or the refusal of them by name.
pub trait StateEngine: Engine {
    /// The values of one key, ascending.
    type Values: Iterator<Item = Result<BytesOf<Self>, Error>> + Send + 'static;

    /// Iterates over the values of a key.
    fn iter_values(_: &Self::Snapshot, _: SpaceId, _key: &[u8]) -> Result<Self::Values, Error> {
        Err(unsupported::<Self>())
    }

    /// Gives a key one more value.
    fn add_value(
        _: &mut Batch<Self>,
        _: SpaceId,
        _key: Self::Buffer,
        _value: Self::Buffer,
    ) -> Result<(), Error> {
        Err(unsupported::<Self>())
    }

    /// Takes one of its values from a key.
    fn remove_value(
        _: &mut Batch<Self>,
        _: SpaceId,
        _key: Self::Buffer,
        _value: Self::Buffer,
    ) -> Result<(), Error> {
        Err(unsupported::<Self>())
    }
}

impl StateEngine for Memory {
    type Values = NoValues<BytesOf<Self>>;
}

impl StateEngine for Fjall {
    type Values = NoValues<BytesOf<Self>>;
}

/// With a row cache above it, which values of a key that has several go past.
impl<E: StateEngine> StateEngine for Cached<E> {
    type Values = std::iter::Map<E::Values, fn(Result<BytesOf<E>, Error>) -> Result<BytesOf<Self>, Error>>;

    fn iter_values(
        snapshot: &CachedSnapshot<E::Snapshot>,
        space: SpaceId,
        key: &[u8],
    ) -> Result<Self::Values, Error> {
        Ok(E::iter_values(snapshot.below(), space, key)?.map(|value| value.map(CachedBytes::Stored)))
    }

    fn add_value(
        batch: &mut Batch<Self>,
        space: SpaceId,
        key: Self::Buffer,
        value: Self::Buffer,
    ) -> Result<(), Error> {
        let mut below = std::mem::take(batch).on::<E>();
        let added = E::add_value(&mut below, space, key, value);
        *batch = below.on();
        added
    }

    fn remove_value(
        batch: &mut Batch<Self>,
        space: SpaceId,
        key: Self::Buffer,
        value: Self::Buffer,
    ) -> Result<(), Error> {
        let mut below = std::mem::take(batch).on::<E>();
        let removed = E::remove_value(&mut below, space, key, value);
        *batch = below.on();
        removed
    }
}

/// The values of an engine that has no keys with several: none is ever made.
type NoValues<B> = std::iter::Empty<Result<B, Error>>;

/// The refusal of several values, by the engine's name.
pub(super) fn unsupported<E: Engine>() -> Error {
    Error::Unsupported { engine: E::NAME, what: "namespaces with several values for a key" }
}

/// An engine in which a key may have several values.
#[cfg(any(feature = "lmdb", feature = "redb"))]
macro_rules! with_several_values {
    ($engine:ty) => {
        impl StateEngine for $engine {
            type Values = <<Self as Engine>::Snapshot as MultimapSnapshot>::Values;

            fn iter_values(
                snapshot: &Self::Snapshot,
                space: SpaceId,
                key: &[u8],
            ) -> Result<Self::Values, Error> {
                snapshot.iter_values(space, key)
            }

            fn add_value(
                batch: &mut Batch<Self>,
                space: SpaceId,
                key: Self::Buffer,
                value: Self::Buffer,
            ) -> Result<(), Error> {
                batch.put_multi(space, key, value);
                Ok(())
            }

            fn remove_value(
                batch: &mut Batch<Self>,
                space: SpaceId,
                key: Self::Buffer,
                value: Self::Buffer,
            ) -> Result<(), Error> {
                batch.remove_multi(space, key, value);
                Ok(())
            }
        }
    };
}

#[cfg(feature = "redb")]
with_several_values!(keyplan_store::engine::Redb);

#[cfg(feature = "lmdb")]
with_several_values!(keyplan_store::engine::Lmdb);

use core::num::TryFromIntError;

/// Why a database could not be filled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// Rows could not be written.
    #[error("cannot fill the database")]
    Fill {
        /// What the store said.
        source: keyplan::store::Error,
    },
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] keyplan::store::Error),
    /// A structure could not be changed.
    #[error(transparent)]
    Structure(#[from] keyplan::store::raw::structure::StructureError),
    /// A key or a value has no bytes.
    #[error(transparent)]
    Encode(#[from] keyplan::typed::KeyError),
    /// There are more rows than this machine can count.
    #[error(transparent)]
    Number(#[from] TryFromIntError),
    /// An address is too long for its place.
    #[error("an address has 20 bytes")]
    Address,
}

pub(super) type Result<T> = core::result::Result<T, DemoError>;

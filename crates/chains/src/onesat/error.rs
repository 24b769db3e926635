use keyplan::typed::KeyError;
use keyplan_store::StoreError;
use keyplan_store::structure::StructureError;

use super::{Outpoint, document};
use crate::onesat_v2 as v2;

/// Why a 1Sat store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OneSatError {
    /// The structures below could not do it.
    #[error(transparent)]
    Structure(StructureError),
    /// The key of a family holds something that the family does not: another program has written it.
    #[error("a key of `{family}` holds something else: {source}")]
    WrongKind {
        /// The family that the key belongs to.
        family: &'static str,
        /// What it holds.
        source: StructureError,
    },
    /// The store below could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something cannot be written under the plan.
    #[error(transparent)]
    Unwritable(Box<KeyError>),
    /// A name that is also the name of something else, under the layout of the document.
    #[error("{asked} has the same key as {other}")]
    Collision {
        /// What was asked for.
        asked: String,
        /// What else the key is.
        other: String,
    },
    /// A key, field, member or value that is not what the plan says.
    #[error("{what} is malformed: {source}")]
    Malformed {
        /// What it is.
        what: String,
        /// What is wrong with it, and at which byte.
        source: Box<KeyError>,
    },
    /// A value that is not the JSON that belongs there.
    #[error("{what} is not the JSON that belongs there")]
    Json {
        /// What it is.
        what: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A time that cannot be read.
    #[error("`{text}` is not a number of seconds")]
    Time {
        /// The value found.
        text: String,
    },
    /// The output was spent by another transaction.
    #[error("output {outpoint} is spent by {}", super::output::reversed(by))]
    AlreadySpent {
        /// The output.
        outpoint: Outpoint,
        /// The transaction that has spent it, in the order of the wire.
        by: [u8; 32],
    },
    /// Nothing is known of what the transaction has replaced: it was never applied, or is settled.
    #[error(
        "transaction {} cannot be taken back: it was not applied, or is settled",
        super::output::reversed(txid)
    )]
    NothingToUndo {
        /// The transaction, in the order of the wire.
        txid: [u8; 32],
    },
    /// The layout keeps nothing to roll back with.
    #[error("the layout of the document keeps nothing to roll back with")]
    NoUndo,
}

impl From<StructureError> for OneSatError {
    fn from(source: StructureError) -> Self {
        let StructureError::WrongKind { key, .. } = &source else { return Self::Structure(source) };
        match family_of(key) {
            Some(family) => Self::WrongKind { family, source },
            None => Self::Structure(source),
        }
    }
}

/// The family that a key belongs to, under either layout.
fn family_of(key: &[u8]) -> Option<&'static str> {
    let family = v2::store::Key::decode(key).map(|key| key.family());
    family.or_else(|_| document::store::Key::decode(key).map(|key| key.family())).ok()
}

impl From<KeyError> for OneSatError {
    fn from(error: KeyError) -> Self {
        Self::Unwritable(Box::new(error))
    }
}

/// Makes an error of something that was read and is not what the plan says.
pub(super) fn malformed(what: impl Into<String>) -> impl FnOnce(KeyError) -> OneSatError {
    |source| OneSatError::Malformed { what: what.into(), source: Box::new(source) }
}

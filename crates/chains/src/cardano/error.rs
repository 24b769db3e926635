use std::fmt::Write as _;

use keyplan::typed::KeyError;
use keyplan_store::StoreError;
use keyplan_store::engine;

use super::ChainPoint;

/// Why a state store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The store below could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A row is not one that the plan makes.
    #[error("space `{space}` holds a malformed row 0x{key}")]
    Malformed {
        /// The space.
        space: String,
        /// The row's key, in base 16.
        key: String,
        /// What is wrong, and at which byte.
        source: Box<KeyError>,
    },
    /// Something cannot be written under the plan.
    #[error(transparent)]
    Unwritable(Box<KeyError>),
    /// An entity cannot be encoded by its type.
    #[error("an entity of `{namespace}` cannot be encoded")]
    EntityEncode {
        /// The namespace.
        namespace: &'static str,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An entity cannot be decoded by its type.
    #[error("entity 0x{key} of `{namespace}` cannot be decoded")]
    EntityDecode {
        /// The namespace.
        namespace: &'static str,
        /// The entity's key, in base 16.
        key: String,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The namespace is not in the schema.
    #[error("there is no namespace `{name}` in the schema")]
    NoNamespace {
        /// The name asked for.
        name: String,
    },
    /// The namespace is of another kind.
    #[error("the keys of namespace `{name}` have {found}, not {expected}")]
    NamespaceKind {
        /// The namespace.
        name: String,
        /// How many values its keys were taken to have.
        expected: &'static str,
        /// How many they have.
        found: &'static str,
    },
    /// A name cannot be that of a namespace with a table of its own.
    #[error("`{name}` cannot be a namespace: {why}")]
    NamespaceName {
        /// The name.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// The database belongs to another program, and holds no state.
    #[error("the database has no plan in it and none of the spaces of a state store, but `{found}`")]
    NotAState {
        /// A space that it has.
        found: String,
    },
    /// A snapshot of the state was to be loaded into a store that has one.
    #[error("the store is at {cursor} already: a snapshot is loaded into an empty one")]
    NotEmpty {
        /// Where it is.
        cursor: Box<ChainPoint>,
    },
    /// Another program has changed a row since the block that would be undone, without moving the cursor.
    #[error(
        "cannot roll back: another program has changed row 0x{key} of space `{space}` since; roll back there, or load \
         the state anew"
    )]
    ChangedByAnother {
        /// The space.
        space: String,
        /// The row's key, in base 16.
        key: String,
    },
    /// The point is not among those that can be rolled back to.
    #[error("cannot roll back to {point}: {}", reach(.oldest.as_deref(), *.blocks))]
    OutsideHistory {
        /// The point asked for.
        point: Box<ChainPoint>,
        /// The oldest point that can be reached; none if no cursor was set before the first block kept.
        oldest: Option<Box<ChainPoint>>,
        /// How many blocks are kept.
        blocks: u64,
    },
}

impl From<engine::Error> for StateError {
    fn from(error: engine::Error) -> Self {
        Self::Store(StoreError::Engine(error))
    }
}

impl StateError {
    /// Whether the engine or the layout has no such thing, as several values for one key.
    pub const fn is_unsupported(&self) -> bool {
        let engine = matches!(self, Self::Store(StoreError::Engine(engine::Error::Unsupported { .. })));
        engine || matches!(self, Self::NamespaceKind { .. })
    }

    /// Whether the namespace is not in the schema.
    pub const fn is_no_namespace(&self) -> bool {
        matches!(self, Self::NoNamespace { .. })
    }

    /// A row that cannot be read.
    #[cold]
    pub(super) fn malformed(space: &str, key: &[u8], source: impl Into<Box<KeyError>>) -> Self {
        Self::Malformed { space: space.to_owned(), key: hex(key), source: source.into() }
    }

    /// Something that cannot be written.
    #[cold]
    pub(super) fn unwritable(error: KeyError) -> Self {
        Self::Unwritable(Box::new(error))
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn reach(oldest: Option<&ChainPoint>, blocks: u64) -> String {
    match (blocks, oldest) {
        (0, _) => "no block is kept for it".to_owned(),
        (_, Some(oldest)) => format!("the {blocks} blocks that are kept reach back to {oldest}"),
        (_, None) => {
            format!("the {blocks} blocks that are kept reach back to the first, and it is not one of them")
        }
    }
}

use crate::StoreError;
use crate::structure::StructureError;

use keyplan_typed::KeyError;

/// Why rows could not be read or written by their types.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A migration could not be prepared.
    #[error(transparent)]
    Migration(Box<crate::migrate::MigrationError>),
    /// A function of the program made a row of another family than it is for.
    #[error("a row of `{expected}` is to be made, and `{found}` was")]
    OtherFamily {
        /// The family that rows go to.
        expected: &'static str,
        /// The family of the row.
        found: &'static str,
    },
    /// The structures could not do it.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A key, value or scan that cannot be encoded: an argument is outside of its domain, or would run into a flaw
    /// that the plan accepts.
    #[error(transparent)]
    Refused(Box<KeyError>),
    /// The key of a row is not one of the scan's family.
    #[error("`{family}` is scanned, and 0x{key} is not a key of it")]
    ForeignKey {
        /// The family.
        family: &'static str,
        /// The key, in base 16.
        key: String,
        /// What is wrong with it.
        source: Box<KeyError>,
    },
    /// The value of a row is not what the plan says.
    #[error("a value of `{family}` is malformed")]
    MalformedValue {
        /// The family.
        family: &'static str,
        /// What is wrong with it.
        source: Box<KeyError>,
    },
    /// A member, field or score that was found is not what the plan says: another program has written it.
    #[error("a {part} of `{family}` is not one of the plan: 0x{found}")]
    ForeignPart {
        /// The family.
        family: &'static str,
        /// What it is a part of: `member`, `field`, `value of a field` or `score`.
        part: &'static str,
        /// What was found, in base 16.
        found: String,
        /// What is wrong with it, where bytes tell.
        source: Option<Box<KeyError>>,
    },
    /// A score that no float is equal to, so that members cannot be ranked by it.
    #[error("a score of `{family}` cannot be kept: no float is equal to {score}")]
    Unranked {
        /// The family.
        family: &'static str,
        /// The score.
        score: String,
    },
    /// Structures of one space are asked for a family of another.
    #[error("`{family}` is in the space `{wanted}`, and these are the structures of `{found}`")]
    OtherSpace {
        /// The family.
        family: &'static str,
        /// Its space.
        wanted: &'static str,
        /// The space of the structures.
        found: String,
    },
    /// The text of a plan that was compiled in has another layout than the types that were made from it.
    #[error("the text of plan `{name}` does not make the layout that its types have")]
    PlanText {
        /// The plan.
        name: &'static str,
    },
    /// A key that does not belong to the rows of a collection.
    #[error("0x{key} is not one of the rows of `{scan}` that the collection holds")]
    Outside {
        /// The scan that the collection is made of.
        scan: &'static str,
        /// The key, in base 16.
        key: String,
    },
    /// Another row has the same key in a unique index.
    #[error("another row has 0x{key} in the unique index `{index}`")]
    NotUnique {
        /// The family of the index.
        index: &'static str,
        /// The key of the index row, in base 16.
        key: String,
    },
    /// An index names a row that is not there: it was changed without its collection.
    #[error("`{index}` names 0x{key}, which is not there")]
    Dangling {
        /// The family of the index.
        index: &'static str,
        /// The key of the row that is missing, in base 16.
        key: String,
    },
    /// The numbers of a sequence, a counter or the places of a queue are used up.
    #[error("the numbers of `{family}` are used up")]
    Exhausted {
        /// The family that keeps them.
        family: &'static str,
    },
    /// A place in a queue that holds nothing.
    #[error("there is no element {index}: there are {length}")]
    NoElement {
        /// The place asked for.
        index: u64,
        /// How many elements there are.
        length: u64,
    },
    /// What a batch has read was changed by another before it was committed: start the batch again.
    #[error(
        "something that the batch has read was changed since, and nothing was written: start the batch again"
    )]
    Conflict,
    /// A number of a sender that is not greater than the last one.
    #[error("`{family}` has seen {last}, and {given} is not greater: a replay")]
    Replayed {
        /// The family that keeps the last numbers.
        family: &'static str,
        /// The last number that passed.
        last: u64,
        /// The one that was refused.
        given: u64,
    },
    /// A lock that somebody holds.
    #[error("`{family}` is held by 0x{owner} until {until}")]
    Locked {
        /// The family of the lock.
        family: &'static str,
        /// Who holds it, in base 16.
        owner: String,
        /// Until when.
        until: u64,
    },
    /// A lock that its owner does not hold, or not any more.
    #[error("0x{owner} does not hold `{family}`")]
    NotHeld {
        /// The family of the lock.
        family: &'static str,
        /// Who was to hold it, in base 16.
        owner: String,
    },
    /// A history is written at a height below one that was written before.
    #[error("written at height {height}, below {tip}, which was written before")]
    HeightPassed {
        /// The height asked for.
        height: u64,
        /// The greatest height written.
        tip: u64,
    },
    /// A history is asked for a height that was pruned.
    #[error("height {height} was pruned: heights from {floor} on are kept")]
    Pruned {
        /// The height asked for.
        height: u64,
        /// The least height that can be read.
        floor: u64,
    },
}

impl From<crate::engine::Error> for Error {
    fn from(error: crate::engine::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        Self::Refused(Box::new(error))
    }
}

impl Error {
    #[cold]
    pub(super) fn malformed(family: &'static str, source: KeyError) -> Self {
        Self::MalformedValue { family, source: Box::new(source) }
    }

    #[cold]
    pub(super) fn foreign_part(
        family: &'static str,
        part: &'static str,
        found: &[u8],
        source: Option<KeyError>,
    ) -> Self {
        Self::ForeignPart { family, part, found: hex(found), source: source.map(Box::new) }
    }

    #[cold]
    pub(super) fn foreign(family: &'static str, key: &[u8], source: KeyError) -> Self {
        Self::ForeignKey { family, key: hex(key), source: Box::new(source) }
    }
}

/// Bytes in base 16.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

use std::path::PathBuf;

use crate::engine;
use crate::schema::PlanFingerprint;

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The engine could not do it.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The database was written under another layout of keys.
    #[error(
        "opened with plan {ours}, but written under {theirs}; `keyplan check PLAN --against DIR` shows what differs"
    )]
    PlanMismatch {
        /// The fingerprint of the plan at hand.
        ours: PlanFingerprint,
        /// The one in the database.
        theirs: PlanFingerprint,
    },
    /// The database is in the middle of a migration.
    #[error(
        "the database is in the middle of a migration from plan {from} to {to}; `keyplan db migrate DIR --apply` continues \
         it, `keyplan db migrate DIR --undo` takes it back"
    )]
    Migrating {
        /// The old plan.
        from: PlanFingerprint,
        /// The new plan.
        to: PlanFingerprint,
    },
    /// The database has no metadata of ours: another program may have written it.
    #[error("the database has no plan in it: adopt it to read it, or claim it to write to it")]
    NoPlan,
    /// The database has a plan already.
    #[error("the database has a plan in it already, {theirs}")]
    AlreadyCreated {
        /// Its fingerprint.
        theirs: PlanFingerprint,
    },
    /// The metadata has a format that this version cannot read.
    #[error("the database has format {found}; this version reads up to {known}")]
    Format {
        /// The format of the database.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// The metadata was written by another engine.
    #[error("the database was made by the engine `{found}`, and opened with `{expected}`")]
    Engines {
        /// The engine at hand.
        expected: &'static str,
        /// The one in the metadata.
        found: String,
    },
    /// A setting that is fixed at creation is not what it was.
    #[error(
        "the setting `{name}` was fixed at {recorded} when the database was made, and cannot become {asked}"
    )]
    SettingChanged {
        /// The setting.
        name: String,
        /// Its value in the database.
        recorded: String,
        /// The value asked for.
        asked: String,
    },
    /// The metadata cannot be read.
    #[error("the metadata of the database is damaged: row `{row}`")]
    Metadata {
        /// The row that is missing or malformed.
        row: String,
    },
    /// A space of the plan does not exist in the database, or not in the plan.
    #[error("there is no space `{name}`")]
    NoSpace {
        /// Its name.
        name: String,
    },
    /// A space that the database was made with is gone.
    #[error("the database is damaged: space `{name}` is missing, and it was made with it")]
    LostSpace {
        /// Its name.
        name: String,
    },
    /// A space of the plan has the name of the store's own.
    #[error("a plan cannot have the space `{name}`: the store keeps its metadata there")]
    ReservedSpace {
        /// Its name.
        name: String,
    },
    /// A space of the plan has rows of its own beside structures.
    #[error(
        "space `{name}` holds `key` families beside hashes, sorted sets, sets or queues, and a row of one can have the \
         key of the other: give them spaces of their own"
    )]
    MixedSpace {
        /// Its name.
        name: String,
    },
    /// A backup would be among the files of the store.
    #[error("a backup cannot be inside of the directory of the store, `{}`", directory.display())]
    InsideStore {
        /// The directory of the store.
        directory: PathBuf,
    },
    /// The store was opened for reading only.
    #[error("the store is open for reading only")]
    ReadOnly,
    /// Two names have one digest.
    #[error("`{name}` has the same digest in `{scope}` as `{known}`, which is in use")]
    NameCollision {
        /// What the names are names of.
        scope: String,
        /// The name that was refused.
        name: String,
        /// The name that is known.
        known: String,
    },
    /// A page token cannot be used here.
    #[error("the page token {0}")]
    Token(TokenFault),
    /// A file that the store works with, besides the engine's own.
    #[error("{doing} failed")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A family whose rows cannot be pruned.
    #[error("`{family}` cannot be pruned: {why}")]
    NotPruned {
        /// The family.
        family: String,
        /// Why.
        why: String,
    },
    /// Nothing of that name was given up.
    #[error("the plan has retired nothing that is called `{name}`")]
    NotRetired {
        /// The name.
        name: String,
    },
    /// A callback asked to stop.
    #[error("stopped after {done} rows")]
    Stopped {
        /// How many rows were done by then.
        done: u64,
    },
    /// The same key was given twice to a bulk load, with different values.
    #[error("space `{space}` was given key 0x{key} twice, with different values")]
    DuplicateKey {
        /// The space.
        space: String,
        /// The key, in base 16.
        key: String,
    },
}

impl From<TokenFault> for StoreError {
    fn from(fault: TokenFault) -> Self {
        Self::Token(fault)
    }
}

/// What is wrong with a page token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFault {
    /// It is cut, changed or no token.
    #[error("is damaged")]
    Damaged,
    /// It is of a version that is not known.
    #[error("is of a version that is not known")]
    Version,
    /// It was made under another plan.
    #[error("was made under another plan")]
    Plan,
    /// It belongs to another space.
    #[error("belongs to another space")]
    Space,
    /// It belongs to the other direction.
    #[error("belongs to the other direction")]
    Direction,
    /// It points outside of the range.
    #[error("points outside of the range")]
    Range,
}

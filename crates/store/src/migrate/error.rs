use crate::engine;
use crate::error::StoreError;
use crate::schema::PlanFingerprint;
use crate::structure::{StructureError, hex};

/// Why a migration could not be prepared, begun or carried on. The database holds every row all the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A plan has mistakes.
    #[error("a plan has mistakes, so that nothing can be carried from it or to it")]
    NoMeaning,
    /// The mapping is of other plans.
    #[error("the mapping is not of these two plans")]
    OtherMapping,
    /// Nothing is said of a family.
    #[error("nothing is said of the rows of `{family}`")]
    Unspoken {
        /// Its path.
        family: String,
    },
    /// A function was given for a family whose rows are not moved.
    #[error("rows of `{family}` are not moved, so that there is nothing to map")]
    NotMoved {
        /// Its path.
        family: String,
    },
    /// A function of the program has made one key of two rows.
    #[error("two rows of `{family}` were given the key 0x{}: both are still there", hex(key))]
    Merged {
        /// The old family.
        family: String,
        /// The new key.
        key: Vec<u8>,
    },
    /// A function was given for another family than the rows go to.
    #[error("rows of `{from}` do not become rows of `{to}`")]
    OtherFamily {
        /// The old family.
        from: String,
        /// The new one.
        to: String,
    },
    /// The database has another plan.
    #[error("the database has plan {found}; this migration goes from {from} to {to}")]
    OtherPlan {
        /// The plan in the database.
        found: PlanFingerprint,
        /// The old plan.
        from: PlanFingerprint,
        /// The new plan.
        to: PlanFingerprint,
    },
    /// The database is in the middle of another migration, or the plan has changed since it began.
    #[error(
        "the database is in the middle of another migration, from plan {from} to {to}: go on with the plan that it was \
         begun with, or go back with it"
    )]
    OtherMigration {
        /// Its old plan.
        from: PlanFingerprint,
        /// Its new plan.
        to: PlanFingerprint,
    },
    /// A space in which a key has several values.
    #[error("keys of space `{space}` have several values: carry them into another database")]
    Multimap {
        /// Its name.
        space: String,
    },
    /// Rows have no new key, and are not to be set aside.
    #[error(
        "{} no new key, and may not be set aside",
        if *rows == 1 { "1 row has".to_owned() } else { format!("{rows} rows have") }
    )]
    Unfit {
        /// How many.
        rows: u64,
    },
    /// The engine has no room for keys that must be kept aside.
    #[error(
        "{} that this engine has no room for on the way: make a copy instead, on any engine",
        if *rows == 1 { "1 row has a key".to_owned() } else { format!("{rows} rows have keys") }
    )]
    NoRoom {
        /// How many.
        rows: u64,
    },
    /// A row was not there when the rows were surveyed.
    #[error("space `{space}` has a row that was not there when the migration began: {why}")]
    Unexpected {
        /// The space.
        space: String,
        /// What is wrong with it.
        why: String,
    },
    /// The rows are not those that were surveyed.
    #[error(
        "space `{space}` has {found_rows} rows with checksum {found_sum:016x}, and must have {rows} with {sum:016x}"
    )]
    Checksum {
        /// The space.
        space: String,
        /// How many rows there must be.
        rows: u64,
        /// Their checksum.
        sum: u64,
        /// How many there are.
        found_rows: u64,
        /// Theirs.
        found_sum: u64,
    },
    /// The record of the migration in the database cannot be read.
    #[error("the record of the migration in the database is damaged")]
    Record,
    /// Structures could not be read or written.
    #[error(transparent)]
    Structure(Box<StructureError>),
    /// A family or a field is not known by a name, or several are.
    #[error("{}", not_one(path, *found))]
    NoFamily {
        /// The name.
        path: String,
        /// How many there are.
        found: usize,
    },
    /// A server has the keys of one space, and the plan has no space of structures, or several.
    #[error("a server holds the structures of one space, and the plan has not one such space")]
    ServerSpaces,
    /// A server has no place for rows.
    #[error("space `{space}` has rows, and a server has a place for structures only")]
    ServerRows {
        /// The space.
        space: String,
    },
    /// The database is a copy that was never finished.
    #[error("the database is a copy that was not finished: make it again")]
    Unfinished,
    /// A copy is made where there is nothing.
    #[error("the server has keys, and a copy is made on an empty one")]
    NotEmpty,
    /// A server is in the middle of another copy.
    #[error(
        "the server is in the middle of another copy: continue with the plans that it was begun with, or empty it"
    )]
    OtherCopy,
    /// There is no migration to go on with or to undo.
    #[error("the database is not in the middle of a migration")]
    NotBegun,
}

impl From<engine::Error> for MigrationError {
    fn from(error: engine::Error) -> Self {
        Self::Store(error.into())
    }
}

fn not_one(path: &str, found: usize) -> String {
    if found == 0 {
        return format!("no family and no field of the older plan is called `{path}`");
    }
    format!("{found} families and fields of the older plan are called `{path}`: give the whole path of one")
}

//! Why something could not be done with a database.

use std::io;
use std::num::TryFromIntError;

use keyplan_plan::notation::JsonError;
use keyplan_report::binding::BindingError;
use keyplan_report::key_text::BadText;
use keyplan_store::source::SourceError;
use keyplan_store::structure::StructureError;
use keyplan_store::{StoreError, engine};

/// What a function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done with a database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for makes no sense for this plan, input or database: the text says why, and what to do instead.
    #[error("{0}")]
    Refused(String),
    /// A plan has mistakes, which are in what was made of it.
    #[error("a plan has mistakes, so that nothing can be carried from it or to it")]
    Mistaken(Box<keyplan_plan::Compiled>),
    /// What was being done when it went wrong.
    #[error("{doing}")]
    While {
        /// What was being done.
        doing: String,
        /// What went wrong.
        source: Box<Error>,
    },
    /// A load ended before its input did.
    #[error("{unit} {number}: {}; {}", in_one_line(cause), kept(unit, *written))]
    Load {
        /// What the input is made of: `line` or `block`.
        unit: &'static str,
        /// The number of the unit that it ended at, from 1 on.
        number: u64,
        /// The last unit whose rows are in the database; 0 if there is none.
        written: u64,
        /// What went wrong there.
        cause: Box<Error>,
    },
    /// Whoever watched the progress asked for an end.
    #[error("interrupted")]
    Stopped {
        /// How many rows were dealt with.
        rows: u64,
    },
    /// A scan was asked for an end.
    #[error("interrupted after {rows} rows")]
    ScanStopped {
        /// How many rows were given out.
        rows: u64,
        /// The name of the space of the last one.
        space: String,
        /// The key of the last one.
        last: Vec<u8>,
    },
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An engine could not do it.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// A URL names no database on `PostgreSQL`.
    #[error(transparent)]
    Postgres(#[from] keyplan_postgres::SettingsError),
    /// A URL names no database on object storage.
    #[cfg(feature = "slate")]
    #[error(transparent)]
    Slate(#[from] keyplan_slate::SettingsError),
    /// A structure could not be read.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A database of another program could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A migration could not be prepared or carried on.
    #[error(transparent)]
    Migration(#[from] keyplan_store::migrate::MigrationError),
    /// Spaces of a plan and of a source could not be told apart.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// A key or a value has no bytes.
    #[error(transparent)]
    Encode(#[from] keyplan_plan::dynamic::EncodeError),
    /// A number of a dump has no bytes.
    #[error(transparent)]
    Written(#[from] keyplan_codec::EncodeError),
    /// Bytes of a dump are none of a number.
    #[error(transparent)]
    Read(#[from] keyplan_codec::DecodeError),
    /// Arguments in JSON are none of the layout.
    #[error(transparent)]
    Arguments(#[from] JsonError),
    /// Text stands for no bytes.
    #[error(transparent)]
    Text(#[from] BadText),
    /// JSON could not be read or written.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file or a stream could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A number is too large for this machine.
    #[error(transparent)]
    Number(#[from] TryFromIntError),
}

impl Error {
    /// Whether another process has the database.
    pub fn is_in_use(&self) -> bool {
        match self {
            Self::While { source, .. } => source.is_in_use(),
            Self::Engine(error) | Self::Store(StoreError::Engine(error)) => {
                matches!(error, engine::Error::AlreadyOpen { .. })
            }
            _ => false,
        }
    }

    /// Whether the database has no plan in it.
    pub fn is_without_plan(&self) -> bool {
        match self {
            Self::While { source, .. } => source.is_without_plan(),
            Self::Store(error) => matches!(error, StoreError::NoPlan),
            _ => false,
        }
    }
}

/// An error and what it came from, in one line. A cause that an error says itself is not said again.
///
/// ```
/// let missing = std::io::Error::other("no such file");
/// assert_eq!(keyplan_database::in_one_line(&missing), "no such file");
/// ```
pub fn in_one_line(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        let said = found.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = found.source();
    }
    text
}

fn kept(unit: &str, written: u64) -> String {
    match written {
        0 => "nothing was written".to_owned(),
        _ => format!("everything up to {unit} {written} is written, and --resume continues after it"),
    }
}

/// An error of which the text says everything.
macro_rules! refused {
    ($($text:tt)*) => { $crate::error::Error::Refused(format!($($text)*)) };
}
pub(crate) use refused;

/// Refuses what was asked for.
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::error::refused!($($text)*).into()) };
}
pub(crate) use bail;

/// Says what was being done.
pub(crate) trait Context<T> {
    fn with_context(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for std::result::Result<T, E> {
    fn with_context(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error::While { doing: doing(), source: Box::new(error.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        let error = keyplan_store::source::SourceError::Io { path: "data/LOCK".into(), source };
        assert_eq!(in_one_line(&error), "data/LOCK: no such file");
        let doing = Error::While { doing: "reading".to_owned(), source: Box::new(error.into()) };
        assert_eq!(in_one_line(&doing), "reading: data/LOCK: no such file");
    }
}

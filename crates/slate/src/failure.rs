use std::error::Error as _;

use keyplan_store::engine::Error;
use slatedb::{CloseReason, ErrorKind};

/// An error of SlateDB, as one of something that only reads, or that certainly was not done.
pub(crate) fn translated(error: slatedb::Error, doing: &'static str) -> Error {
    match error.kind() {
        ErrorKind::Transaction => Error::Conflict,
        ErrorKind::Closed(CloseReason::Fenced) => Error::Fenced,
        ErrorKind::Closed(CloseReason::Clean) => Error::Closed,
        ErrorKind::Closed(_) => Error::Poisoned { source: Some(error.into()) },
        ErrorKind::Unavailable => Error::Unavailable { doing, source: error.into() },
        ErrorKind::Data if error.to_string().contains("format version") => {
            Error::Format { what: error.to_string() }
        }
        ErrorKind::Data => Error::Corrupt { what: doing.to_owned(), source: Some(error.into()) },
        _ => Error::Engine { source: error.into() },
    }
}

/// Whether an object that a scan needs is gone: compacted away since the scan was opened.
pub(crate) fn is_gone(error: &slatedb::Error) -> bool {
    let mut cause = error.source();
    while let Some(found) = cause {
        if matches!(
            found.downcast_ref::<slatedb::object_store::Error>(),
            Some(slatedb::object_store::Error::NotFound { .. })
        ) {
            return true;
        }
        cause = found.source();
    }
    error.kind() == ErrorKind::Data && error.to_string().to_lowercase().contains("not found")
}

use std::io;
use std::path::Path;

use keyplan_lmdb::Refused;
use keyplan_lmdb::heed::{self, MdbError};

use super::Lmdb;
use crate::engine::{Engine as _, Error, Space, SpaceKind};

/// What stopped a write.
pub(super) enum Stopped {
    /// The map is full.
    Full,
    /// Anything else.
    Failed(Error),
}

impl From<heed::Error> for Stopped {
    fn from(error: heed::Error) -> Self {
        match error {
            heed::Error::Mdb(MdbError::MapFull) => Self::Full,
            other => Self::Failed(translated(other)),
        }
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What the engine says of a write that the system did only a part of (`EIO`).
const CUT_SHORT: i32 = 5;

#[cold]
pub(super) fn translated(error: heed::Error) -> Error {
    match error {
        heed::Error::Io(source) if source.raw_os_error() == Some(CUT_SHORT) => {
            let source = io::Error::new(
                source.kind(),
                "a write was cut short: the disk has failed, or the disk is full",
            );
            Error::Io { doing: "writing the database", source }
        }
        heed::Error::Io(source) => Error::Io { doing: "reading or writing the database", source },
        heed::Error::Mdb(
            error
            @ (MdbError::Corrupted | MdbError::PageNotFound | MdbError::CursorFull | MdbError::PageFull),
        ) => Error::Corrupt { what: "a page is not what it should be".into(), source: Some(Box::new(error)) },
        heed::Error::Mdb(error @ MdbError::Panic) => Error::Poisoned { source: Some(Box::new(error)) },
        heed::Error::Mdb(MdbError::VersionMismatch | MdbError::Invalid) => {
            Error::Format { what: "it is not an LMDB database of this version".into() }
        }
        heed::Error::Mdb(MdbError::MapFull) => full(),
        heed::Error::Mdb(MdbError::MapResized) => {
            let source = io::Error::new(
                io::ErrorKind::ResourceBusy,
                "it is more than is mapped here, and no more can be mapped while snapshots are open",
            );
            Error::Io { doing: "mapping what another process has written", source }
        }
        heed::Error::Mdb(MdbError::ReadersFull) => {
            let what = "place for more snapshots at a time (`LmdbSettings::snapshots`)";
            Error::Unsupported { engine: Lmdb::NAME, what }
        }
        other => Error::Engine { source: Box::new(other) },
    }
}

/// The map is full and cannot grow.
#[cold]
pub(super) fn full() -> Error {
    let source = io::Error::new(
        io::ErrorKind::StorageFull,
        "the map is full, and cannot grow while snapshots are open or beyond what the process may map",
    );
    Error::Io { doing: "growing the map of the database", source }
}

#[cold]
pub(super) fn opening(refused: Refused, directory: &Path) -> Error {
    match refused {
        Refused::AlreadyOpen => Error::AlreadyOpen { path: directory.to_owned() },
        Refused::Io(source) => Error::Io { doing: "opening the database", source },
        Refused::Damaged(what) => Error::Corrupt { what, source: None },
        Refused::Lmdb(error) => translated(error),
    }
}

#[cold]
pub(super) fn kind(space: &Space, expected: SpaceKind) -> Error {
    Error::SpaceKind { space: space.name.clone(), expected: expected.word(), found: space.kind.word() }
}

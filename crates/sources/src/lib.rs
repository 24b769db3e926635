//! The databases of other programs, read as [`Source`]s without changing a file.
//!
//! [`open`] looks at a path, says by itself what kind of database lies there ([`recognise`]), and gives a source: named
//! spaces of ordered rows, seen at one moment.
//!
//! ```no_run
//! use keyplan_sources::{Options, open};
//!
//! let source = open("node/data/application.db".as_ref(), &Options::default())?;
//! for space in source.spaces() {
//!     println!("{}", space.name);
//! }
//! # Ok::<(), keyplan_store::source::SourceError>(())
//! ```
//!
//! Nothing here writes, takes a lock or leaves a file behind. What a format has that is not understood is refused by
//! name. Files are hostile input: a damaged one is an error with its path and offset, never a wrong row, and what one
//! can make us keep in memory is bounded by named constants.

pub mod badger;
mod chunked;
pub mod dump;
pub mod iavl;
pub mod lists;
pub mod lmdb;
pub mod lsm;
mod number;
mod open;
mod plain_file;
pub mod sqlite;
mod tree;

pub use keyplan_store::source::{RowRef, Source, SourceError, View, Walk};
pub use open::{Kind, Options, fits, open, recognise};

/// Bytes as hex digits, for names and messages.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::from("0x"), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

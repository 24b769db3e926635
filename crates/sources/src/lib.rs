//! The databases of other programs, read as [`Source`](keyplan_store::source::Source)s without changing a file.
//!
//! Nothing here writes, takes a lock or leaves a file behind. What a format has that is not understood is refused by
//! name; a damaged file is an error with its path and offset, never a wrong row.

pub mod badger;
pub mod lmdb;
mod number;
mod plain_file;
pub mod sqlite;
mod tree;

/// Bytes as hex digits, for names and messages.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::from("0x"), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

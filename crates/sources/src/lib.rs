//! The databases of other programs, read as [`Source`](keyplan_store::source::Source)s without changing a file.
//!
//! Nothing here writes, takes a lock or leaves a file behind. What a format has that is not understood is refused by
//! name; a damaged file is an error with its path and offset, never a wrong row.

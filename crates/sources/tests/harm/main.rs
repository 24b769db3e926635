//! Databases that were damaged, or made to do harm: an error that names a file, soon, and no wrong row.
#![cfg(test)]

mod damage;
mod files;
mod iavl;
mod leveldb;
mod text;
mod whole;

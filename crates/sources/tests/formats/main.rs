//! The databases in `testdata/databases`, written by the engines' own code, read row for row; and damaged ones.
#![cfg(test)]

mod badger;
mod damage;
mod expected;
mod lmdb;
mod sqlite;

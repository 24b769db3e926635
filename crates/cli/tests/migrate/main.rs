//! Releases, and databases carried from one plan to the next, by the command.

#![cfg(test)]

mod command;
mod faults;
mod foreign;
#[path = "../../../store/tests/migrate/rows.rs"]
mod rows;
mod support;

//! Databases carried from one plan to the next: the plans of the repository, row by row, and what goes wrong on the way.

#![cfg(test)]

mod faults;
mod plans;
mod structures;
mod support;

//! Databases carried from one plan to the next: the plans of the repository, row by row, and what goes wrong on the way.

#![cfg(test)]

mod faults;
mod onesat;
mod pairs;
mod particular;
mod plans;
mod random;
mod rows;
mod server;
mod structures;
mod support;

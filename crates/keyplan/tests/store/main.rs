//! State under typed keys, on every engine: reads, batches, scans, pages and collections.
#![cfg(test)]

mod access;
mod collections;
mod structures;
mod support;

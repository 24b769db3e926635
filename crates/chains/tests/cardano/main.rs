//! The Cardano state store on every engine.
#![cfg(test)]

mod conformance;
mod crash;
mod disk;
mod load;
mod malformed;
mod model;
mod node;
mod support;
mod tables;
mod vectors;

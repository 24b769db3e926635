//! From text to a tree and back.

pub mod ast;

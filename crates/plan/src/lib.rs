//! From a plan's text to its meaning.

pub mod diag;
pub mod syntax;

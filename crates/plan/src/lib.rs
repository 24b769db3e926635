//! From a plan's text to its meaning.

pub mod diag;
pub mod dynamic;
pub mod model;
pub mod syntax;

//! The guarantees that need no product, one a file.

pub(crate) mod allotted;
pub(crate) mod distinct_names;
pub(crate) mod fits;
pub(crate) mod lossless;
pub(crate) mod trespass;

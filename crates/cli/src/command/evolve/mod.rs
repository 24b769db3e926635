//! `keyplan release` and `keyplan migrate`: a plan through time.

mod migrate;
mod release;

pub(crate) use migrate::{mistaken, run as migrate};
pub(crate) use release::run as release;

//! `keyplan release` and `keyplan migrate`: a plan through time.

mod migrate;
mod release;

pub(crate) use migrate::{run as migrate, sound};
pub(crate) use release::run as release;
